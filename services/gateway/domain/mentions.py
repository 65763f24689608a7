"""Which groups a user's message mentions, by the words a monitor's file names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from shared.contracts import MENTIONED, Message, Role, Traffic


def mentioned(traffic: Traffic, asked: Sequence[Message]) -> dict[str, str]:
    """Return the groups that are mentioned, in dimensions that say so by their names.

    A message that mentions two groups of a dimension has none of them.
    """
    said = "\n".join(each.content for each in asked if each.role is Role.USER)
    found = {name: _groups(groups, said) for name, groups in traffic.mentions.items()}
    return {MENTIONED + name: groups[0] for name, groups in found.items() if len(groups) == 1}


def _groups(groups: Mapping[str, Iterable[str]], said: str) -> list[str]:
    return [name for name, words in groups.items() if _pattern(tuple(words)).search(said)]


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return whole words, in any case; `she` is not in `shell`."""
    either = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
