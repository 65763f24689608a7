"""Reports of a run in every format; HTML is one page without external resources."""

import json
from collections.abc import Sequence
from enum import StrEnum
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from pydantic_core import to_jsonable_python

from biaswatch.local.runs import RunResults
from biaswatch.render.board import board_markdown
from biaswatch.render.figures import can_draw, caption, draw
from biaswatch.render.ll144 import ImpactFormat, run_document
from biaswatch.render.office import write_docx, write_xlsx
from biaswatch.render.printed import pdf_printer, write_pdf
from biaswatch.render.report_markdown import (
    FIGURES_PLACEHOLDER,
    FORESTS_PLACEHOLDER,
    as_csv,
    as_markdown,
)
from biaswatch.render.report_pages import report_page
from biaswatch.render.studies import MAX_PAIRS, as_jsonl
from biaswatch.shared.presentation.board import board_page
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.presentation.forests import run_forests
from biaswatch.shared.requests.run_views import FlaggedPair

FOREST = "comparisons"
"""The figure that the page draws by itself, under its headline."""


class ReportFormat(StrEnum):
    """Formats of a report."""

    MD = "md"
    HTML = "html"
    """One page with its figures inside."""
    JSON = "json"
    CSV = "csv"
    JSONL = "jsonl"
    """The flagged pairs, one a line."""
    PDF = "pdf"
    """The page, printed by WeasyPrint or Chromium."""
    DOCX = "docx"
    XLSX = "xlsx"
    LL144 = "ll144"
    """The tables of New York City's Local Law 144."""


def report_text(
    form: ReportFormat,
    results: RunResults,
    flagged: Sequence[FlaggedPair],
    pictures: Sequence[str] = (),
    most_pairs: int | None = MAX_PAIRS,
    *,
    board: bool = False,
) -> str:
    """Return the text of a report; `pictures` are lines of Markdown that show the figures.

    HTML has its figures inside if matplotlib is installed, and PDF is that page printed. A Word
    document is made of the Markdown.
    """
    if board:
        return _board_text(form, results)
    match form:
        case ReportFormat.JSONL:
            return as_jsonl(flagged)
        case ReportFormat.JSON:
            value = {**results.as_json(), "flagged": to_jsonable_python(flagged)}
            return json.dumps(value, indent=2)
        case ReportFormat.CSV:
            return as_csv(results)
        case ReportFormat.LL144:
            return run_document(results.run, results.impact).as_text(ImpactFormat.MD)
        case ReportFormat.HTML | ReportFormat.PDF:
            return _page_text(results, flagged, most_pairs)
        case _:
            forests = [FORESTS_PLACEHOLDER] if form is ReportFormat.DOCX else []
            return as_markdown(
                results, flagged, pictures=pictures, forests=forests, most_pairs=most_pairs
            )


def _page_text(results: RunResults, flagged: Sequence[FlaggedPair], most_pairs: int | None) -> str:
    """Return the web page with its figures inside."""
    with TemporaryDirectory() as folder:
        written = draw(results, Path(folder)) if can_draw() else []
        svg = [path for path in written if path.suffix == ".svg" and path.stem != FOREST]
        text = as_markdown(
            results,
            flagged,
            pictures=[FIGURES_PLACEHOLDER] if svg else [],
            forests=[FORESTS_PLACEHOLDER],
            most_pairs=most_pairs,
        )
        return report_page(
            results.run.suite, text, svg, run_forests(comparisons(results.diagnoses))
        )


def _board_text(form: ReportFormat, results: RunResults) -> str:
    """Return the page for a board: HTML to show or print, Markdown otherwise."""
    behind = results.provenance
    page = board_page(
        results.run,
        results.diagnoses,
        behind.about if behind else "",
        behind.ranges if behind else {},
    )
    text = board_markdown(page)
    if form not in (ReportFormat.HTML, ReportFormat.PDF):
        return text if form is ReportFormat.DOCX else text.replace(f"{FORESTS_PLACEHOLDER}\n\n", "")
    return report_page(page.title, text, forests=page.forests, kind="board")


def written_report(form: ReportFormat, results: RunResults, text: str, output: Path) -> None:
    """Write a binary report: PDF, a Word document, or a workbook."""
    match form:
        case ReportFormat.PDF:
            write_pdf(pdf_printer(), text, output)
        case ReportFormat.DOCX:
            write_docx(results.run.suite, text, output, pictured=results)
        case _:
            write_xlsx(results, output)


def picture_lines(pictures: Sequence[Path], output: Path | None) -> list[str]:
    """Return Markdown that shows figures, with addresses relative to the report."""
    folder = (output.parent if output else Path()).resolve()
    lines: list[str] = []
    for path in pictures:
        address = quote(Path(relpath(path.resolve(), folder)).as_posix())
        lines += [f"![{caption(path.stem)}]({address})", ""]
    return lines
