"""Foreign text as shown in terminals, reports and pages: visible and isolated."""

import re
from unicodedata import bidirectional, category

JOINERS = "\u200c\u200d"
"""Needed by Persian, Hindi and emoji; they do not affect direction."""
FIRST_STRONG, END = "\u2068", "\u2069"
_LINES = "\n\t"
_SPACES = {"Zs", "Zl", "Zp"}
_UNSEEN = {"Cc", "Cf", "Cs"}
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_NEVER_A_CHARACTER = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_RUN = "{letters}+(?:[ {joiners}]*{letters}+)*"


def shown(text: str) -> str:
    """Return foreign text for use in a sentence: visible and isolated."""
    if text.isascii() and text.isprintable():
        return text
    return isolated(visible(text))


def visible(text: str) -> str:
    """Return text with invisible characters as code points, except line ends and tabs."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible, text))


def elided(text: str, max_chars: int) -> str:
    """Return a text on one line; the middle of a longer one is replaced by an ellipsis.

    Examples
    --------
    >>> elided("openai:a-model-with-a-long-name-11", 16)
    'openai:a…name-11'
    """
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    end = (max_chars - 1) // 2
    return f"{line[: max_chars - 1 - end]}…{line[len(line) - end :]}"


def on_one_line(text: str) -> str:
    """Return visible text with spaces for line ends and tabs."""
    return visible("".join(" " if c in "\n\r\t\v\f" else c for c in text))


def isolated(text: str) -> str:
    """Return text with each run of right-to-left words isolated from its surroundings."""
    if text.isascii() or not any(map(_is_right_to_left, text)):
        return text
    letters = (
        "["
        + "".join(sorted({c for c in text if _is_right_to_left(c) or category(c) == "Mn"}))
        + "]"
    )
    run = _RUN.format(letters=letters, joiners=JOINERS)
    return re.sub(run, lambda match: f"{FIRST_STRONG}{match[0]}{END}", text)


def _visible(c: str) -> str:
    if c.isprintable() or c in _LINES or c in JOINERS:
        return c
    kind = category(c)
    if kind in _SPACES:
        return " "
    is_unseen = kind in _UNSEEN or _NEVER_A_CHARACTER.match(c) or ord(c) & 0xFFFE == 0xFFFE
    return f"⟨U+{ord(c):04X}⟩" if is_unseen else c


def _is_right_to_left(c: str) -> bool:
    return not c.isascii() and bidirectional(c) in _RIGHT_TO_LEFT
