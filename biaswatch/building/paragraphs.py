"""Paragraphs of a text: a heading or an entry of a list is one of its own, whatever follows it."""

import re
from collections.abc import Iterator, Sequence

from biaswatch.building.words import CLOSING, FINITE, NOUN_MARKS, OPENERS, OPENING, STOP

BULLET = re.compile(r"\s*(?:[-*+\u2022\u00b7\u2023\u2013]|\(?\d{1,3}[.)])\s+\S")
MARKDOWN = re.compile(r"\s*#{1,6}\s+\S")
UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,})\s*")
EDIT = re.compile(r"\s*\[\s*edit(?:\s+source)?\s*\]\s*$", re.IGNORECASE)
"""What an encyclopaedia's page shows behind its headings."""
ENDED = re.compile(rf"[.!?\u2026:;,][{re.escape(CLOSING)}]*$")
MOST_HEADING_WORDS = 10
SHORT = 0.6
"""A line this much shorter than the one after it was not broken because the page was full."""


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs in their order; lines that were only wrapped are one paragraph."""
    for block in re.split(r"\n\s*\n", text):
        yield from _of_block([line for line in block.split("\n") if line.strip()])


def _of_block(lines: Sequence[str]) -> Iterator[str]:
    together: list[str] = []
    for n, line in enumerate(lines):
        following = lines[n + 1] if n + 1 < len(lines) else ""
        if UNDERLINE.fullmatch(line):
            continue
        own = bool(EDIT.search(line) or MARKDOWN.match(line) or UNDERLINE.fullmatch(following))
        opens = not together or ENDED.search(together[-1].strip()) is not None
        if BULLET.match(line) and (opens or _is_entry(together)):
            yield from _joined(together)
            together = [line]
        elif own or (opens and _is_heading(line.strip(), following.strip())):
            yield from _joined(together)
            yield EDIT.sub("", line)
            together = []
        elif together and _is_entry(together) and _begins_anew(line.strip()):
            yield from _joined(together)
            together = [line]
        else:
            together.append(line)
    yield from _joined(together)


def _joined(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(lines)


def _is_entry(lines: Sequence[str]) -> bool:
    return BULLET.match(lines[0]) is not None and not ENDED.search(lines[-1].strip())


def _begins_anew(line: str) -> bool:
    first = line.lstrip(OPENING).split(maxsplit=1)[0]
    return first[:1].isupper()


def _is_heading(line: str, following: str) -> bool:
    """Tell whether a line that begins a paragraph is a title of what follows it.

    A wrapped line is about as long as its neighbours and may break anywhere; a title has no verb,
    ends in no word that needs another, and what follows begins a sentence.
    """
    words = line.split()
    if not following or ENDED.search(line) or len(words) > MOST_HEADING_WORDS:
        return False
    lower = [word.strip(OPENING + CLOSING).lower() for word in words]
    # What a line begins with is no verb of a statement: "Pay and shortage" is a title.
    if lower[-1] in STOP or lower[-1] in NOUN_MARKS or FINITE & set(lower[1:]):
        return False
    if not _begins_anew(following):
        return False
    opener = following.lstrip(OPENING).split(maxsplit=1)[0].lower() in OPENERS
    return opener or len(line) < SHORT * len(following)
