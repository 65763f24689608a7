"""What models and users wrote, made harmless to a terminal: it colours and moves nothing."""

from rich.markup import escape as without_markup

KEPT = "\n\t\u200c\u200d"
"""Line ends, tabs, and the joiners that Persian, Hindi and emoji are written with."""


def printable(text: str) -> str:
    """Return text in which nothing steers a terminal; what would is shown as a mark."""
    return "".join(c if c.isprintable() or c in KEPT else "�" for c in text)


def escape(text: str) -> str:
    """Return text for rich to print as it stands: printable, and without markup."""
    return without_markup(printable(text))
