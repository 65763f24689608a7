"""Texts of users and models as they may be shown: nothing in them steers what stands around them.

A character that is not seen but moves, hides or turns others is shown as its number: ⟨U+202E⟩. What
is written from right to left is isolated, so that names, numbers and signs beside it stay in order.
"""

import re
from unicodedata import bidirectional, category

JOINERS = "\u200c\u200d"
"""Persian, Hindi and emoji are written with them; they move nothing."""
FIRST_STRONG, END = "\u2068", "\u2069"
_LINES = "\n\t"
_SPACES = {"Zs", "Zl", "Zp"}
_UNSEEN = {"Cc", "Cf", "Cs"}
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_NEVER_A_CHARACTER = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_RUN = "{letters}+(?:[ {joiners}]*{letters}+)*"


def shown(text: str) -> str:
    """Return text that can stand in a sentence of ours: visible, and isolated."""
    if text.isascii() and text.isprintable():  # as nearly all of a page is
        return text
    return isolated(visible(text))


def visible(text: str) -> str:
    """Return text in which every character is seen; line ends and tabs stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible, text))


def on_one_line(text: str) -> str:
    """Return visible text without line ends and tabs."""
    return visible("".join(" " if c in "\n\r\t\v\f" else c for c in text))


def isolated(text: str) -> str:
    """Return text whose parts that are written from right to left turn nothing around them.

    Each run of such words is isolated by itself: in `A minus B: 0.3` both names may be ones.
    """
    if text.isascii() or not any(map(_turns, text)):
        return text
    letters = "[" + "".join(sorted({c for c in text if _turns(c) or category(c) == "Mn"})) + "]"
    run = _RUN.format(letters=letters, joiners=JOINERS)
    return re.sub(run, lambda found: f"{FIRST_STRONG}{found[0]}{END}", text)


def _visible(c: str) -> str:
    if c.isprintable() or c in _LINES or c in JOINERS:
        return c
    kind = category(c)
    if kind in _SPACES:
        return " "
    is_unseen = kind in _UNSEEN or _NEVER_A_CHARACTER.match(c) or ord(c) & 0xFFFE == 0xFFFE
    return f"⟨U+{ord(c):04X}⟩" if is_unseen else c


def _turns(c: str) -> bool:
    return not c.isascii() and bidirectional(c) in _RIGHT_TO_LEFT
