"""The text of a page, without what is around it."""

from html.parser import HTMLParser

SILENT = frozenset(
    ["script", "style", "nav", "header", "footer", "aside", "form", "noscript", "template", "svg"]
)
BLOCKS = frozenset(
    [
        *("p", "div", "section", "article", "main", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "td", "th", "blockquote", "pre"),
        *("figure", "figcaption", "caption", "br", "hr"),
    ]
)
VOID = frozenset(["br", "hr", "img", "input", "meta", "link", "wbr", "source", "area", "col"])


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            self.parts.append("\n\n" if tag in BLOCKS else "")
            return
        reference = tag == "sup" and "reference" in (dict(attrs).get("class") or "")
        if tag in SILENT or reference or (self._silent and tag == self._silent[-1]):
            self._silent.append(tag)
        elif tag in BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if self._silent and tag == self._silent[-1]:
            self._silent.pop()
        elif tag in BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def text_of(html: str) -> str:
    """Give the paragraphs of a page, a blank line between them."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)
