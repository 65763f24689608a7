"""Prose of HTML: its paragraphs, and passages left out with the reason."""

from collections.abc import Iterator, Mapping

from lxml import etree

from biaswatch.building.build_data import Passage
from biaswatch.building.words import CAPTION

HIDDEN = ""
REASONS = {
    **dict.fromkeys(["script", "style", "noscript", "template", "svg", "head"], HIDDEN),
    **dict.fromkeys(["select", "button", "textarea", "iframe", "object", "math"], HIDDEN),
    **dict.fromkeys(["nav", "header", "footer", "aside", "form", "menu"], "navigation"),
    **dict.fromkeys(["h1", "h2", "h3", "h4", "h5", "h6", "legend"], "heading"),
    **dict.fromkeys(["li", "dt", "dd"], "list entry"),
    **dict.fromkeys(["figcaption", "caption"], "caption"),
    **dict.fromkeys(["pre", "listing", "xmp"], "code"),
    "table": "table",
}
"""Elements left out of prose, and the reason; hidden text is not reported."""
INLINE_CODE = {"code", "kbd", "samp", "var", "tt"}
BLOCKS = {
    *("p", "div", "section", "article", "main", "ul", "ol", "dl", "blockquote", "figure", "hr"),
    *("br", "body", "address", "details", "summary"),
}


class _Reader:
    """Collects the text while the parser goes: no tree is built, so no nesting is too deep."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._parts: list[str] = []
        self._reasons: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        reference = tag == "sup" and "reference" in attributes.get("class", "").split()
        if self._reasons:
            self._reasons.append(self._reasons[0])
            self._parts.append(" ")
        elif _is_hidden(attributes):
            self._flush()
            self._reasons.append(HIDDEN)
        elif reference:
            self._reasons.append("reference")
        elif tag in REASONS:
            self._flush()
            self._reasons.append(REASONS[tag])
        elif tag in BLOCKS:
            self._flush()
        elif tag in INLINE_CODE:
            self._parts.append("`")

    def end(self, tag: str) -> None:
        if self._reasons:
            reason = self._reasons[0]
            if len(self._reasons) == 1 and reason != "reference":
                self._flush()
            self._reasons.pop()
        elif tag in BLOCKS:
            self._flush()
        elif tag in INLINE_CODE:
            self._parts.append("`")

    def data(self, text: str) -> None:
        if not self._reasons or self._reasons[0] not in {HIDDEN, "reference"}:
            self._parts.append(text)

    def close(self) -> list[Passage]:
        self._flush()
        return self._passages

    def _flush(self) -> None:
        text = " ".join("".join(self._parts).split())
        self._parts.clear()
        if text:
            reason = self._reasons[0] if self._reasons else None
            reason = reason or ("caption" if CAPTION.match(text) else None)
            self._passages.append(Passage(text, reason))


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    style = attributes.get("style", "").replace(" ", "")
    dialog = attributes.get("role") in {"dialog", "alertdialog"}
    shown = "hidden" not in attributes and attributes.get("aria-hidden") != "true"
    return dialog or not shown or "display:none" in style


def passages_of_html(html: str) -> Iterator[Passage]:
    """Return the passages of a page in their order; anything can be read."""
    page = html.replace("\0", "").encode("utf-8", "replace")
    if page.strip():
        parser = etree.HTMLParser(target=_Reader(), encoding="utf-8", recover=True)
        yield from etree.fromstring(page, parser)
