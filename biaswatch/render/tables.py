"""Rows as tables in a terminal and in Markdown, in which what models and users wrote is text."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.markup import escape as without_markup

KEPT = "\n\t\u200c\u200d"
"""Line ends, tabs, and the joiners that Persian, Hindi and emoji are written with."""


def printable(text: str) -> str:
    """Return text in which nothing steers a terminal; what would is shown as a mark."""
    return "".join(c if c.isprintable() or c in KEPT else "�" for c in text)


def escape(text: str) -> str:
    """Return text for rich to print as it stands: printable, and without markup."""
    return without_markup(printable(text))


def escape_md(text: str) -> str:
    """Return text that no reader of Markdown takes for markup."""
    one_line = "".join(c if c.isprintable() else " " for c in text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in one_line)


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], verbatim: Collection[str] = ()
) -> Iterator[str]:
    """Return the lines of a table; cells are plain, but for those of our own that are verbatim."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        cells = [cell if cell in verbatim else escape_md(cell) for cell in row]
        yield f"| {' | '.join(cells)} |"
