"""Markdown as one web page without external resources, with pictures inside."""

import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape as escape_html
from html import unescape
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Literal

from markdown_it import MarkdownIt

from biaswatch.render.figures import caption
from biaswatch.render.markdown import FOLD_BEGINS, FOLD_ENDS, anchor
from biaswatch.render.report_markdown import FIGURES_PLACEHOLDER, FORESTS_PLACEHOLDER
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.lookup import first
from biaswatch.shared.presentation.forest_plots import Forest, forest_figure
from biaswatch.shared.presentation.svg import drawing_style, markup

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The page loads nothing and runs nothing."""
PageKind = Literal["report", "board", "letter"]
"""The printed form: pages of A4, one page for a board, or pages of US Letter."""
MAX_WHOLE_CHARS = 10
"""Words of a cell up to this length are not broken."""
MIN_CARD_COLUMNS = 4
"""Narrow screens show wider tables row below row."""
_CELL = re.compile(r"<td>(.*?)</td>")
_HEAD = re.compile(r"<th>(.*?)</th>")
_TABLE = re.compile("<table>.*?</table>", re.DOTALL)
_TAG = re.compile("<[^>]*>")
_BREAK_AFTER = re.compile(r"([:/])(?=\S)")
_FOLDED = re.compile(
    rf"^{FOLD_BEGINS}\n(<summary>[^\n]*</summary>)\n(.*?)^{FOLD_ENDS}$", re.MULTILINE | re.DOTALL
)


def report_page(
    title: str,
    markdown: str,
    pictures: Sequence[Path] = (),
    forests: Sequence[Forest] = (),
    *,
    kind: PageKind = "report",
) -> str:
    """Return the page; markup in the text stays text, and SVG figures are inside."""
    drawn = "".join(markup(forest_figure(forest)) for forest in forests)
    figures = "".join(map(_figure, pictures))
    body = _html(markdown)
    for name, inside in ((FORESTS_PLACEHOLDER, drawn), (FIGURES_PLACEHOLDER, figures)):
        # The first such paragraph is ours: texts of models come later.
        body = body.replace(f"<p>{escape_html(name)}</p>\n", inside, 1) if inside else body
    style = (files(__package__) / "report.css").read_text(encoding="utf-8") + drawing_style()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(shown(title))}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body class="{kind}">\n'
        f"{body}</body>\n</html>\n"
    )


def _figure(picture: Path) -> str:
    """Return a figure as an image, so that no script of an SVG runs."""
    source = f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode()}"
    text = escape_html(caption(picture.stem))
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>\n'


def _html(markdown: str) -> str:
    """Return Markdown as HTML with our folded sections; all other markup stays text."""
    pieces, at = list[str](), 0
    for match in _FOLDED.finditer(markdown):
        inside = _rendered(match[2])
        # A folded table is printed open; folded texts stay folded on paper.
        kind = ' class="table-of"' if "<table" in inside else ""
        pieces += [
            _rendered(markdown[at : match.start()]),
            f"<details{kind}>\n{match[1]}\n{inside}</details>\n",
        ]
        at = match.end()
    return "".join([*pieces, _rendered(markdown[at:])])


def _rendered(markdown: str) -> str:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(markdown)
    for n, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[n + 1].content))
    html: str = reader.renderer.render(tokens, reader.options, {})
    return _TABLE.sub(_labelled_table, html)


def _labelled_table(match: re.Match[str]) -> str:
    """Return a table whose cells name their column, for narrow screens."""
    titles = [unescape(_TAG.sub("", title)) for title in _HEAD.findall(match[0])]
    labels = cycle(titles or [""])

    def labelled(cell: re.Match[str]) -> str:
        return _cell(cell[1], first(labels, "A table has no columns."))

    table = _CELL.sub(labelled, match[0])
    if len(titles) >= MIN_CARD_COLUMNS:
        table = table.replace("<table>", '<table class="cards">')
    return f'<div class="table">{table}</div>'


def _cell(content: str, column: str) -> str:
    """Return a cell that breaks between parts of names, and keeps short words whole."""
    words = _BREAK_AFTER.sub(r"\1 ", unescape(_TAG.sub("", content))).split()
    whole = ' class="whole"' if all(len(word) <= MAX_WHOLE_CHARS for word in words) else ""
    if "<" not in content:
        content = _BREAK_AFTER.sub(r"\1<wbr>", content)
    return f'<td{whole} data-column="{escape_html(column)}"><span>{content}</span></td>'
