"""A run's report in each of its forms."""

import json
from collections.abc import Sequence
from enum import StrEnum
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from pydantic_core import to_jsonable_python

from biaswatch.local.run_results import RunResults
from biaswatch.render.documents import FIGURES_HERE, as_csv, as_markdown
from biaswatch.render.figures import can_draw, caption, draw
from biaswatch.render.flagged_pairs import as_jsonl
from biaswatch.render.ll144 import ImpactFormat, run_document
from biaswatch.render.report_page import report_page
from biaswatch.shared.requests.run_views import FlaggedPair


class ReportFormat(StrEnum):
    """What a report can be."""

    MD = "md"
    HTML = "html"
    """One page with its pictures inside."""
    JSON = "json"
    CSV = "csv"
    JSONL = "jsonl"
    """The flagged pairs, one a line."""
    LL144 = "ll144"
    """The tables of New York City's Local Law 144."""


def report_text(
    form: ReportFormat,
    results: RunResults,
    flagged: Sequence[FlaggedPair],
    pictures: Sequence[str] = (),
) -> str:
    """Return the report in this form; Markdown has `pictures`, lines that show them.

    A page has pictures inside where the library that draws them is installed.
    """
    match form:
        case ReportFormat.JSONL:
            return as_jsonl(flagged)
        case ReportFormat.JSON:
            return json.dumps(
                {**results.as_json(), "flagged": to_jsonable_python(flagged)}, indent=2
            )
        case ReportFormat.CSV:
            return as_csv(results)
        case ReportFormat.LL144:
            return run_document(results.run, results.impact).as_text(ImpactFormat.MD)
        case ReportFormat.MD:
            return as_markdown(results, flagged, pictures=pictures)
        case ReportFormat.HTML:
            with TemporaryDirectory() as folder:
                written = draw(results, Path(folder)) if can_draw() else []
                drawn = [each for each in written if each.suffix == ".svg"]
                text = as_markdown(results, flagged, pictures=[FIGURES_HERE] if drawn else [])
                return report_page(results.run.suite, text, drawn)


def picture_lines(pictures: Sequence[Path], output: Path | None) -> list[str]:
    """Return Markdown that shows pictures, with their addresses as seen from the report."""
    folder = (output.parent if output else Path()).resolve()
    lines: list[str] = []
    for each in pictures:
        address = quote(Path(relpath(each.resolve(), folder)).as_posix())
        lines += [f"![{caption(each.stem)}]({address})", ""]
    return lines
