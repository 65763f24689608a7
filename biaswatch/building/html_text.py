"""Prose of HTML pages: paragraphs, and passages left out with the reason."""

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from biaswatch.building.build_data import Passage
from biaswatch.building.words import CAPTION

HIDDEN = ""
REFERENCE = "reference"
UNREPORTED = {HIDDEN, REFERENCE}
REASONS = {
    **dict.fromkeys(["script", "style", "noscript", "template", "svg", "head"], HIDDEN),
    **dict.fromkeys(["select", "button", "textarea", "iframe", "object", "math"], HIDDEN),
    **dict.fromkeys(
        ["audio", "video", "canvas", "dialog", "rt", "rp", "s", "strike", "del"], HIDDEN
    ),
    **dict.fromkeys(["nav", "header", "footer", "aside", "form", "menu"], "navigation"),
    **dict.fromkeys(["h1", "h2", "h3", "h4", "h5", "h6", "legend"], "heading"),
    **dict.fromkeys(["li", "dt", "dd"], "list entry"),
    **dict.fromkeys(["figcaption", "caption"], "caption"),
    **dict.fromkeys(["pre", "listing", "xmp"], "code"),
    "table": "table",
}
"""Elements left out of prose, and the reason; hidden text is not reported."""
ROLES = {
    **dict.fromkeys(["dialog", "alertdialog"], HIDDEN),
    **dict.fromkeys(["navigation", "banner", "contentinfo", "search", "menu"], "navigation"),
    **dict.fromkeys(["note", "complementary", "alert", "toolbar"], "navigation"),
    **dict.fromkeys(["table", "grid"], "table"),
    **dict.fromkeys(["listitem", "option"], "list entry"),
    "heading": "heading",
}
"""Reasons by the attribute `role`."""
CLASSES = {
    **dict.fromkeys(["sr-only", "visually-hidden", "screen-reader-text", "noprint"], HIDDEN),
    **dict.fromkeys(["hatnote", "navbox", "toc", "catlinks", "printfooter"], "navigation"),
    **dict.fromkeys(["breadcrumb", "breadcrumbs", "sidebar", "related-posts"], "navigation"),
    **dict.fromkeys(["share-buttons", "newsletter", "comment", "comments"], "navigation"),
    **dict.fromkeys(["cookie-banner", "cookie-consent", "cookie-notice"], "navigation"),
    **dict.fromkeys(["ad", "ads", "advertisement", "byline", "copyright"], "navigation"),
    **dict.fromkeys(["thumbcaption", "wp-caption-text", "gallerytext"], "caption"),
    "mw-editsection": HIDDEN,
}
"""Reasons by class or id, as MediaWiki, WordPress and Bootstrap name them."""
INLINE_CODE = {"code", "kbd", "samp", "var", "tt"}
BLOCKS = {
    *("p", "div", "section", "article", "main", "ul", "ol", "dl", "blockquote", "figure", "hr"),
    *("body", "address", "details", "summary", "center", "fieldset", "dialog", "head"),
}
ROOTS = {"html", "body", "main", "article"}
"""Elements that hold a whole page, whatever their classes say."""
MARKS = {**dict.fromkeys(INLINE_CODE, "`"), "q": '"', "br": "\0"}
"""Characters in place of an inline tag; a line break stays one."""
RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
RAISED_BEFORE = re.compile(r"(?<![^\W\d_])(?:(?:k|c|d|m)?m|ft|mi|yd|s|x|r)$|\d$", re.IGNORECASE)
"""A unit or a number, whose exponent is raised."""
YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d$")
NOTE_SIGNS = re.compile(r"[\d\s,*†‡§\[\]+-]+|\s*[a-z]\s*")
PARTS_BEFORE, LONGEST_BEFORE = 8, 20
"""Parts, and characters, that are searched for what an exponent belongs to."""


class _Reader:
    """Collects the text while parsing, without a tree, so that no nesting is too deep."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._parts: list[str] = []
        self._reasons: list[str] = []
        self._is_block = False
        self._raised: int | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "math":
            self._parts.append("`")  # A sentence without its formula is not whole.
        if self._reasons:
            self._reasons.append(self._reasons[0])
            self._parts.append("" if self._reasons[0] in UNREPORTED else " ")
            return
        reason = _reason_of(tag, attributes)
        self._is_block = tag in BLOCKS or (reason or HIDDEN) not in UNREPORTED
        if self._is_block:
            self._flush()
        if reason is not None:
            self._reasons.append(reason)
        elif tag == "sup":
            self._raised = len(self._parts)
        else:
            self._parts.append(MARKS.get(tag, ""))

    def end(self, tag: str) -> None:
        if self._reasons:
            if len(self._reasons) == 1 and self._is_block:
                self._flush()
            self._reasons.pop()
        elif tag in BLOCKS:
            self._flush()
        elif tag == "sup" and self._raised is not None:
            before = self._parts[max(0, self._raised - PARTS_BEFORE) : self._raised]
            text = _raised("".join(self._parts[self._raised :]), "".join(before)[-LONGEST_BEFORE:])
            self._parts[self._raised :] = [text]
            self._raised = None
        elif tag != "br":
            self._parts.append(MARKS.get(tag, ""))

    def data(self, text: str) -> None:
        if not self._reasons or self._reasons[0] not in UNREPORTED:
            self._parts.append(text)

    def close(self) -> list[Passage]:
        self._flush()
        return self._passages

    def _flush(self) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\0"))
        text = "\n".join(lines).strip()
        self._parts.clear()
        self._raised = None
        if text:
            reason = self._reasons[0] if self._reasons else None
            reason = reason or ("caption" if CAPTION.match(text) else None)
            self._passages.append(Passage(text, reason))


def _reason_of(tag: str, attributes: Mapping[str, str]) -> str | None:
    if tag in ROOTS:
        return None
    classes = [*attributes.get("class", "").split(), attributes.get("id", "")]
    if _is_hidden(attributes):
        return HIDDEN
    if tag == "sup" and "reference" in classes:
        return REFERENCE
    reasons = [CLASSES[name] for name in classes if name in CLASSES]
    reasons += [
        reasons_by_name[name]
        for reasons_by_name, name in ((ROLES, attributes.get("role", "")), (REASONS, tag))
        if name in reasons_by_name
    ]
    return reasons[0] if reasons else None


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    style = attributes.get("style", "").replace(" ", "")
    shown = "hidden" not in attributes and attributes.get("aria-hidden") != "true"
    return not shown or "display:none" in style or "visibility:hidden" in style


def _raised(text: str, before: str) -> str:
    """Return raised text: an exponent stays raised, the number of a note is dropped."""
    if not NOTE_SIGNS.fullmatch(text) or before[-1:].isupper():
        return text
    number = text.strip()
    is_exponent = RAISED_BEFORE.search(before) and not YEAR.search(before)
    return number.translate(RAISED) if is_exponent and number.strip("+-").isdigit() else ""


def passages_of_html(html: str) -> Iterator[Passage]:
    """Return the passages of a page in their order; anything can be read."""
    page = html.replace("\0", "").encode("utf-8", "replace")
    if page.strip():
        parser = etree.HTMLParser(target=_Reader(), encoding="utf-8", recover=True)
        yield from etree.fromstring(page, parser)
