"""The text of a page, without what is around it."""

from collections.abc import Mapping

from lxml import etree

SILENT = frozenset(
    [
        *("script", "style", "nav", "header", "footer", "aside", "form", "noscript", "template"),
        *("svg", "head"),
    ]
)
BLOCKS = frozenset(
    [
        *("p", "div", "section", "article", "main", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "td", "th", "blockquote", "pre"),
        *("figure", "figcaption", "caption", "br", "hr"),
    ]
)


class _Reader:
    """What the parser tells of a page as it goes: no tree is built, so no depth is too deep."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._silent: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        reference = tag == "sup" and "reference" in attributes.get("class", "").split()
        if self._silent or tag in SILENT or reference:
            self._silent.append(tag)
        elif tag in BLOCKS:
            self._parts.append("\n\n")

    def end(self, tag: str) -> None:
        if self._silent:
            self._silent.pop()
        elif tag in BLOCKS:
            self._parts.append("\n\n")

    def data(self, text: str) -> None:
        if not self._silent:
            self._parts.append(text)

    def close(self) -> str:
        return "".join(self._parts)


def text_of(html: str) -> str:
    """Return the paragraphs of a page, a blank line between them; anything can be read."""
    page = html.replace("\0", "").encode("utf-8", "replace")
    if not page.strip():
        return ""
    parser = etree.HTMLParser(target=_Reader(), encoding="utf-8", recover=True)
    return str(etree.fromstring(page, parser))
