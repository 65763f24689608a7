"""Answers that repeat an id: word for word, or with another text, group or unit."""

import hashlib
from collections.abc import Mapping
from typing import Any

COMPARED = ("text", "reason", "groups", "unit")


class RepeatedIds:
    """Remembers the ids of answers and a digest of what each says."""

    def __init__(self) -> None:
        self.differing = 0
        """Answers that repeat the id of an answer with other content."""
        self._ids: set[str] = set()
        self._seen: set[bytes] = set()

    def is_new(self, answer: Mapping[str, Any]) -> bool:
        """Note an answer; return whether it has no id, or was not noted before."""
        if (key := answer.get("id")) is None:
            return True
        content = repr((key, *(answer.get(name) for name in COMPARED))).encode()
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        self.differing += key in self._ids
        self._ids.add(key)
        return True
