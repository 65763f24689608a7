"""Hides words that name groups from whoever labels."""

import re
from bisect import bisect_right
from collections.abc import Sequence

HIDDEN = "[...]"


def hidden_words(text: str, words: Sequence[str]) -> str:
    """Return text without these words, whatever their case; parts of longer words stay.

    Of words that begin alike the longest goes. Who draws a sample chooses the words, so a text
    takes about the same time however they are chosen: at each place only the last word that is not
    behind it in the alphabet, and what that word begins with, can stand there.
    """
    known = sorted({low for word in words if (low := _lower(word))})
    if not known:
        return text
    beginnings = _beginnings(known)
    low, kept, end = _lower(text), [], 0
    longest = max(map(len, known))
    firsts = "".join(sorted({re.escape(word[0]) for word in known}))
    for found in re.finditer(rf"(?<!\w)[{firsts}]", low):
        start = found.start()
        if start < end:
            continue
        place = bisect_right(known, low[start : start + longest]) - 1
        word = known[place] if place >= 0 else None
        while word is not None and not _stands_at(low, start, word):
            word = beginnings[word]
        if word is not None:
            kept += [text[end:start], HIDDEN]
            end = start + len(word)
    return "".join([*kept, text[end:]])


def _beginnings(known: Sequence[str]) -> dict[str, str | None]:
    """Return for each word, in order, the longest other one that it begins with."""
    found: dict[str, str | None] = {}
    begun: list[str] = []
    for word in known:
        while begun and not word.startswith(begun[-1]):
            begun.pop()
        found[word] = begun[-1] if begun else None
        begun.append(word)
    return found


def _stands_at(text: str, start: int, word: str) -> bool:
    after = text[start + len(word) : start + len(word) + 1]
    return text.startswith(word, start) and not (after.isalnum() or after == "_")


def _lower(text: str) -> str:
    """Return text in small letters, as long as it was."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := each.lower()) == 1 else each for each in text)
