"""Recognises which groups a text speaks of, by words that stand for them."""

import re
from collections.abc import Mapping
from functools import lru_cache

Markers = Mapping[str, tuple[str, ...]]
"""Word -> the groups it stands for."""

# Ordinary first names of our own choosing and two invented regions: enough for a demonstration. A
# study of one's own configures its own words.
DEFAULT_MARKERS: Markers = {
    "Henry": ("white", "male"),
    "Walter": ("white", "male"),
    "Alice": ("white", "female"),
    "Charlotte": ("white", "female"),
    "Kwame": ("black", "male"),
    "Jamal": ("black", "male"),
    "Abena": ("black", "female"),
    "Imani": ("black", "female"),
    "Hiroshi": ("asian", "male"),
    "Jun": ("asian", "male"),
    "Yuki": ("asian", "female"),
    "Haruka": ("asian", "female"),
    "Northland": ("north",),
    "northerner": ("north",),
    "northerners": ("north",),
    "Southland": ("south",),
    "southerner": ("south",),
    "southerners": ("south",),
}


def groups_in(text: str, markers: Markers) -> frozenset[str]:
    """Return the groups whose words stand in the text, as whole words in any case."""
    if not markers:
        return frozenset()
    by_word = {word.casefold(): groups for word, groups in markers.items()}
    found = _pattern(tuple(sorted(by_word, key=len, reverse=True))).findall(text.casefold())
    return frozenset(group for word in found for group in by_word[word])


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # Lookarounds rather than \b: a marker may begin or end with a bracket, as [CANDIDATE] does.
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)")
