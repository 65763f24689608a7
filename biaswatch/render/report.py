"""A run's report in each of its forms; as a web page it needs nothing from elsewhere."""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from enum import StrEnum
from html import escape as escape_html
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt
from pydantic_core import to_jsonable_python

from biaswatch.local.run_results import RunResults
from biaswatch.render import interpretations, studies
from biaswatch.render.documents import as_csv, as_markdown
from biaswatch.render.figures import draw
from biaswatch.render.flagged_pairs import FOLD_BEGINS, FOLD_ENDS, as_jsonl
from biaswatch.render.ll144 import ImpactFormat, run_document
from services.gateway.runs.views import FlaggedPair
from shared.shown_text import shown


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


STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
table { display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #8882; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; }
blockquote { border-left: 3px solid #8886; margin-left: 0; padding-left: 1rem; }
figure { margin: 2rem 0; background: white; }
img { max-width: 100%; height: auto; }
td { overflow-wrap: break-word; max-width: 30rem; }
"""
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The page loads nothing and runs nothing."""


def report_text(form: ReportFormat, results: RunResults, flagged: Sequence[FlaggedPair]) -> str:
    """Return the report in this form."""
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
            return _document(results, flagged)
        case ReportFormat.HTML:
            with TemporaryDirectory() as folder:
                pictures = [p for p in draw(results, Path(folder)) if p.suffix == ".svg"]
                return _page(results.run.suite, _document(results, flagged), pictures)


def _document(results: RunResults, flagged: Sequence[FlaggedPair]) -> str:
    return (
        as_markdown(results)
        + (studies.as_markdown(results.studies, flagged) if results.studies else "")
        + interpretations.as_markdown(results.interpretations)
    )


_FOLDED = re.compile(
    rf"^{FOLD_BEGINS}\n(<summary>[^\n]*</summary>)\n(.*?)^{FOLD_ENDS}$", re.MULTILINE | re.DOTALL
)


def _html(markdown: str) -> str:
    """Return Markdown as HTML; what we fold is folded, and all other markup stays text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    pieces, at = list[str](), 0
    for found in _FOLDED.finditer(markdown):
        pieces.append(reader.render(markdown[at : found.start()]))
        pieces.append(f"<details>\n{found[1]}\n{reader.render(found[2])}</details>\n")
        at = found.end()
    return "".join([*pieces, reader.render(markdown[at:])])


def _page(title: str, markdown: str, pictures: Sequence[Path] = ()) -> str:
    """Return the page; markup in the text stays text, and pictures (SVG) are inside."""
    body = _html(markdown)
    figures = ""
    for picture in pictures:  # as images: what an SVG says is shown, never run
        source = f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode()}"
        name = escape_html(picture.stem.replace("-", " "))
        figures += f'<figure><img alt="{name}" src="{source}"></figure>\n'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(shown(title))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}{figures}</body>\n</html>\n"
    )
