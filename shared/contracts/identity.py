"""Ids derived from inputs: the same plan gives the same ids, wherever and whenever it is made."""

import hashlib
import json
import re
from functools import lru_cache
from typing import Annotated

from pydantic import JsonValue, StringConstraints

ID_HEX_DIGITS = 32  # 128 bits: no collision in any store we will live to see

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

ID_PATTERN = r"^[0-9a-f]{32}$"
RecordId = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
TOKEN_PATTERN = r"^[A-Za-z0-9_-]{1,96}$"  # noqa: S105 - a word, and no secret
Token = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
"""A word that may stand in a subject, a metric label and a file name alike."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f]+$")]
"""A name somebody gave: one line, and nothing a database or a terminal would stumble over."""


def is_id(text: str) -> bool:
    """Tell whether this can be the id of anything."""
    return re.fullmatch(ID_PATTERN, text) is not None


def derived_id(kind: str, *inputs: JsonValue) -> str:
    """Return the id that belongs to these inputs of this kind of record; order matters."""
    return hashlib.sha256(_canonical([kind, *inputs]).encode()).hexdigest()[:ID_HEX_DIGITS]


@lru_cache(maxsize=1024)
def token_of(name: str) -> str:
    """Turn any name into a token people still recognise; different names never meet.

    `openai:llama3.1@http://ollama:11434/v1` becomes `openai_llama3_1_http_ollama_11434_v1-` and
    eight digits of the name's hash.
    """
    readable = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    squeezed = "_".join(word for word in readable.split("_") if word)
    return f"{squeezed[:48]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
