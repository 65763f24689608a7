"""Tables of generated pages."""

from collections.abc import Iterable, Iterator


def table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(titles)} |"
    yield "|" + "---|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(one_line(value) for value in row)} |"


def one_line(text: str) -> str:
    """Return a text in one line, without the borders of cells."""
    return " ".join(text.split()).replace("|", "\\|")


def first_line(doc: str | None) -> str:
    """Return the first line of a docstring."""
    return (doc or "").strip().partition("\n")[0]
