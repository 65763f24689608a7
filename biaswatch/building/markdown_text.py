"""Prose of Markdown and plain text: paragraphs, and passages left out with the reason."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from biaswatch.building.build_data import Passage
from biaswatch.building.html_text import passages_of_html
from biaswatch.building.words import CAPTION

MAX_BLOCK_CHARS = 20_000
"""Longer paragraphs are left out: the time of an inline parser may grow with their square."""
MAX_NESTING = 20
FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.{0,10000}?\n(?:---|\.\.\.)|\+{3}\n.{0,10000}?\n\+{3})[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
FOOTNOTE = re.compile(r"\[\^[^\]\n]{1,60}\]:")
DEFINED = re.compile(r"^[ \t]*:[ \t]", re.MULTILINE)
"""The second line of a definition list, which CommonMark does not know."""
BREAKS = {"softbreak": "\n", "hardbreak": "\n"}
LABEL_DASH = re.compile(r"\s*[\u2013\u2014-]\s+(?=[A-Z])")
"""A dash after a label: `**Trade** - It exports ...`."""
REMARK = re.compile(
    r"\W*(?:(?:certainly|sure|of course|absolutely|great|okay)(?:!|, here)"
    r"|(?:here(?:['\u2019]s| is)|below is|i(?:['\u2019]ve| have) written) (?:a|an|the|your)\b"
    r"[^.\n]{0,80}\b(?:article|essay|text|overview|summary|version|piece|draft|guide)\b"
    r"|(?:please )?let me know (?:if|whether|what)\b|would you like me to\b"
    r"|feel free to (?:ask|let|request|reach|adjust|modify)\b"
    r"|if you(?:['\u2019]d| would) like (?:me|any|more|another)\b|i hope this\b"
    r"|(?:word|sentence) count\b)",
    re.IGNORECASE,
)
"""What models write before and after an article."""
REASONS = {
    "list_item_open": "list entry", "table_open": "table", "heading_open": "heading",
}  # fmt: skip
CODE = {"fence", "code_block"}
ARTICLE_FENCES = {"markdown", "md"}
"""Languages of a fence that models put around a whole article."""


@lru_cache(maxsize=2)
def _parser(indented_code: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table"])
    # Inline text is parsed block by block, after the length of each block has been checked.
    parser.disable(["inline"] if indented_code else ["inline", "code"])
    return parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["strikethrough"])


def passages_of_text(text: str) -> Iterator[Passage]:
    """Return the passages of a text file, whose indented paragraphs are prose."""
    return _passages(text, indented_code=False)


def passages_of_markdown(text: str) -> Iterator[Passage]:
    """Return the passages of a Markdown document in their order."""
    return _passages(FRONT_MATTER.sub("", text), indented_code=True)


def _passages(text: str, *, indented_code: bool, fenced: bool = False) -> Iterator[Passage]:
    enclosing: list[str] = []
    for token in _parser(indented_code).parse(text):
        if token.nesting == 1:
            enclosing.append(token.type)
        elif token.nesting == -1:
            enclosing.pop()
        elif token.type in CODE and token.info.strip().lower() in ARTICLE_FENCES and not fenced:
            yield from _passages(token.content, indented_code=indented_code, fenced=True)
        elif token.type in CODE:
            yield Passage(token.content, "code")
        elif token.type == "html_block":
            yield from passages_of_html(token.content)
        elif token.type == "inline":
            yield _passage(token.content, enclosing)


def _passage(content: str, enclosing: Sequence[str]) -> Passage:
    reason = next((REASONS[kind] for kind in enclosing if kind in REASONS), None)
    if reason is None and len(content) > MAX_BLOCK_CHARS:
        reason = f"paragraph of more than {MAX_BLOCK_CHARS:,} characters"
    if reason is None and FOOTNOTE.match(content):
        reason = "footnote"
    if reason is None and DEFINED.search(content):
        reason = "list entry"
    if reason is not None:
        return Passage(content, reason)
    [inline] = _inline_parser().parseInline(content)
    children = inline.children or []
    text = "".join(_texts(children))
    if REMARK.match(text):
        return Passage(text, "remark of a model")
    text = _without_label(text, children)
    return Passage(text, _reason_of(text, children))


def _texts(children: Sequence[Token]) -> Iterator[str]:
    """Return the text of a paragraph; code keeps its mark, so that its sentence is left out."""
    if any(child.type == "html_inline" for child in children):
        html = _inline_parser().renderer.render(children, _inline_parser().options, {})
        yield from (p.text for p in passages_of_html(html) if p.left_out in {None, "caption"})
        return
    struck = 0
    for child in children:
        struck += child.nesting if child.type in {"s_open", "s_close"} else 0
        if child.type == "text" and not struck:
            yield child.content
        elif child.type == "code_inline":
            yield f"`{child.content}`"
        else:
            yield BREAKS.get(child.type, "")


def _reason_of(text: str, children: Sequence[Token]) -> str | None:
    kinds = {child.type for child in children if child.content.strip() or child.type == "image"}
    if not text.strip():
        return "caption" if "image" in kinds else "no text"
    if CAPTION.match(text):
        return "caption"
    outside = [child for child in _outside_emphasis(children) if child.content.strip()]
    if outside:
        return None
    return "heading" if any(child.type == "strong_open" for child in children) else "caption"


def _outside_emphasis(children: Sequence[Token]) -> Iterator[Token]:
    depth = 0
    for child in children:
        if child.type in {"strong_open", "em_open", "strong_close", "em_close"}:
            depth += child.nesting
        elif depth == 0:
            yield child


def _without_label(text: str, children: Sequence[Token]) -> str:
    """Drop a label in bold at the beginning of a paragraph: `**Trade**: It exports ...`."""
    marks = (child.type for child in children if child.content or child.nesting)
    if next((kind for kind in marks if kind != "em_open"), None) != "strong_open":
        return text
    closes = [child.type for child in children].index("strong_close")
    label = "".join(_texts(children[:closes]))
    rest = text[len(label) :]
    labelled = label.rstrip().endswith((":", ".")) or rest.lstrip().startswith(":")
    if not text.startswith(label) or not rest.strip() or not (labelled or LABEL_DASH.match(rest)):
        return text
    return rest.lstrip(" :\n\u2013\u2014-")
