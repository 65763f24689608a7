"""Markdown in which what models and users wrote is text, never markup."""

from collections.abc import Collection, Iterable, Iterator, Sequence


def plain(text: str) -> str:
    """Return text that no reader of Markdown takes for markup."""
    one_line = "".join(c if c.isprintable() else " " for c in text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in one_line)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], verbatim: Collection[str] = ()
) -> Iterator[str]:
    """Return the lines of a table; cells are plain, but for those of our own that are verbatim."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        cells = [cell if cell in verbatim else plain(cell) for cell in row]
        yield f"| {' | '.join(cells)} |"
