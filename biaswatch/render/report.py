"""A run's report in each of its forms."""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from enum import StrEnum
from html import escape as escape_html
from html import unescape
from itertools import cycle
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from markdown_it import MarkdownIt
from pydantic_core import to_jsonable_python

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import can_draw, caption, draw
from biaswatch.render.ll144 import ImpactFormat, run_document
from biaswatch.render.report_markdown import FIGURES_HERE, anchor, as_csv, as_markdown
from biaswatch.render.studies import FOLD_BEGINS, FOLD_ENDS, as_jsonl
from biaswatch.shared.formatting import shown
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.run_views import FlaggedPair

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; margin-bottom: .3rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.2rem; padding-bottom: .2rem; border-bottom: 1px solid #8886; font-size: 1.3rem; }
h2#what-was-found { margin-top: 1.2rem; }
li { margin: .25rem 0; overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .8rem .3rem 0; text-align: left; }
th, td { vertical-align: top; overflow-wrap: break-word; max-width: 24rem; }
td:not(.whole) { overflow-wrap: anywhere; }
th { border-bottom-width: 2px; font-weight: 600; }
code { overflow-wrap: anywhere; }
details { border: 1px solid #8884; border-radius: 4px; padding: .4rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
blockquote { border-left: 3px solid #8886; margin-left: 0; padding-left: 1rem; }
figure { margin: 1.5rem 0; background: white; color: #222; padding: .5rem; }
figcaption { font-size: .85rem; padding: 0 .4rem .3rem; }
img { max-width: 100%; height: auto; }
@media screen and (max-width: 40rem) {
  .cards, .cards tbody, .cards tr { display: block; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; }
  .cards thead { clip-path: inset(50%); }
  .cards tr { padding: .5rem 0; border-bottom: 1px solid #8884; }
  .cards td { display: grid; grid-template-columns: 8rem minmax(0, 1fr); border: 0; }
  .cards td { padding: .1rem 0; max-width: none; }
  .cards td::before { content: attr(data-column); opacity: .75; }
  .cards td:first-child { display: block; font-weight: 600; }
  .cards td:first-child::before { content: none; }
  .cards td:has(> span:empty) { display: none; }
}
@page { size: A4; margin: 16mm 14mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 10.5pt; margin: 0; max-width: none; padding: 0; }
  h2 { margin-top: 1.2rem; break-after: avoid; }
  p:has(+ .table) { break-after: avoid; }
  tr, li, figure, summary { break-inside: avoid; }
  thead { display: table-header-group; }
  .table { overflow: visible; }
  table { font-size: 7.5pt; width: 100%; }
  th, td { max-width: none; padding-right: .4rem; }
  th:first-child, td:first-child { min-width: 6em; }
  details { border: 0; padding: 0; }
  details.table-of::details-content { content-visibility: visible; display: block; }
  details.table-of > summary { list-style: none; margin-top: .8rem; }
  img { max-height: 245mm; object-fit: contain; object-position: left; }
}
"""
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The page loads nothing and runs nothing."""
LONGEST_WHOLE = 10
"""Letters: words as short as these are kept whole in a cell, of which a page has room for all."""
_CELL = re.compile(r"<td>(.*?)</td>")
_HEAD = re.compile(r"<th>(.*?)</th>")
_TABLE = re.compile("<table>.*?</table>", re.DOTALL)
CARDS_FROM = 4
"""A table of so many columns is shown row below row on a narrow screen."""
_TAG = re.compile("<[^>]*>")
_BREAK_AFTER = re.compile(r"([:/])(?=\S)")
_FOLDED = re.compile(
    rf"^{FOLD_BEGINS}\n(<summary>[^\n]*</summary>)\n(.*?)^{FOLD_ENDS}$", re.MULTILINE | re.DOTALL
)


def report_page(title: str, markdown: str, pictures: Sequence[Path] = ()) -> str:
    """Return the page; markup in the text stays text, and pictures (SVG) are inside."""
    body = _html(markdown)
    if pictures:  # the first such paragraph is ours: texts of models come later
        body = body.replace(f"<p>{escape_html(FIGURES_HERE)}</p>\n", _figures(pictures), 1)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(shown(title))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}</body>\n</html>\n"
    )


def _html(markdown: str) -> str:
    """Return Markdown as HTML; what we fold is folded, and all other markup stays text."""
    pieces, at = list[str](), 0
    for found in _FOLDED.finditer(markdown):
        inside = _rendered(found[2])
        # A folded table is printed open; folded texts stay folded on paper.
        kind = ' class="table-of"' if "<table" in inside else ""
        pieces += [
            _rendered(markdown[at : found.start()]),
            f"<details{kind}>\n{found[1]}\n{inside}</details>\n",
        ]
        at = found.end()
    return "".join([*pieces, _rendered(markdown[at:])])


def _rendered(markdown: str) -> str:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(markdown)
    for n, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[n + 1].content))
    found: str = reader.renderer.render(tokens, reader.options, {})
    return _TABLE.sub(_labelled, found)


def _labelled(found: re.Match[str]) -> str:
    """Return a table whose cells know their column, for screens too narrow for all of them."""
    heads = [unescape(_TAG.sub("", each)) for each in _HEAD.findall(found[0])]
    labels = cycle(heads or [""])
    table = _CELL.sub(
        lambda cell: _cell(cell[1], first(labels, "A table has no columns.")), found[0]
    )
    if len(heads) >= CARDS_FROM:
        table = table.replace("<table>", '<table class="cards">')
    return f'<div class="table">{table}</div>'


def _cell(inside: str, column: str) -> str:
    """Return a cell that breaks where its parts meet, and whose short words stay whole."""
    plain = unescape(_TAG.sub("", inside))
    words = _BREAK_AFTER.sub(r"\1 ", plain).split()
    whole = ' class="whole"' if all(len(word) <= LONGEST_WHOLE for word in words) else ""
    if "<" not in inside:
        inside = _BREAK_AFTER.sub(r"\1<wbr>", inside)
    return f'<td{whole} data-column="{escape_html(column)}"><span>{inside}</span></td>'


def _figures(pictures: Sequence[Path]) -> str:
    figures = ""
    for picture in pictures:  # as images: what an SVG says is shown, never run
        source = f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode()}"
        said = escape_html(caption(picture.stem))
        figures += (
            f'<figure><img alt="{said}" src="{source}"><figcaption>{said}</figcaption></figure>\n'
        )
    return figures


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
