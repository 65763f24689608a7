"""Ids derived from inputs: the same plan has the same ids, on every machine, at any time."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

ID_HEX_DIGITS = 32  # 128 bits: collisions are practically impossible
BEGINNING_HEX_DIGITS = ID_HEX_DIGITS // 4
"""Digits of a run's id, and of a position in a suite, that begin an ordered id; the other half
distinguishes ids with both in common."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring_ascii

ID_PATTERN = r"^[0-9a-f]{32}$"
RecordId = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
TOKEN_PATTERN = r"^[A-Za-z0-9_-]{1,96}$"  # noqa: S105 - not a secret
Token = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
"""A word that is valid in a subject, a metric label and a file name."""

DEFAULT_TENANT: Final = "default"
"""The tenant of records without a named tenant."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f]+$")]
"""A name that a user gave: one line without control characters."""


Moment = Annotated[
    AwareDatetime, Field(ge=datetime(1990, 1, 1, tzinfo=UTC), le=datetime(2200, 1, 1, tzinfo=UTC))
]
"""A moment in a request; one beyond is a mistake, and near the calendar's ends an error."""


def is_id(text: str) -> bool:
    """Tell whether this has the form of an id."""
    return re.fullmatch(ID_PATTERN, text) is not None


def derived_id(kind: str, *inputs: JsonValue) -> str:
    """Return the id of this kind of record with these inputs; their order matters."""
    # Most inputs are texts, and every record has an id: the encoder of JSON itself takes longer.
    texts = [_quoted(value) if isinstance(value, str) else _in_json(value) for value in inputs]
    whole = ",".join([_quoted(kind), *texts])
    return hashlib.sha256(f"[{whole}]".encode()).hexdigest()[:ID_HEX_DIGITS]


def _in_json(value: JsonValue) -> str:
    return str(value) if type(value) is int else _canonical(value)  # a bool is written otherwise


def id_beginning_with(beginning: str, id_: str) -> str:
    """Return an id with its first digits replaced, so that what belongs together sorts together."""
    return beginning + id_[len(beginning) :]


def derived_id_of_list(
    kind: str, header: Mapping[str, JsonValue], name: str, items: Iterable[JsonValue]
) -> str:
    """Return the id of a kind with one input, an object; one item of its list is in memory at once.

    It is what `derived_id` returns for the header with the list under this name.
    """
    digest = hashlib.sha256(f"[{_canonical(kind)},{{".encode())
    for number, field in enumerate(sorted({*header, name})):
        digest.update(f"{',' if number else ''}{_canonical(field)}:".encode())
        if field != name:
            digest.update(_canonical(header[field]).encode())
            continue
        digest.update(b"[")
        for place, item in enumerate(items):
            digest.update(f"{',' if place else ''}{_canonical(item)}".encode())
        digest.update(b"]")
    digest.update(b"}]")
    return digest.hexdigest()[:ID_HEX_DIGITS]


def pseudonym_of(name: str) -> str:
    """Return a pseudonym for a name that must not be stored: the same for the same name.

    It is a digest without a key: it hides a name from readers, not from who can guess it.
    """
    return f"redacted-{derived_id('unit', name)[:16]}"


@lru_cache(maxsize=1024)
def token_of(name: str) -> str:
    """Turn a name into a readable token; different names have different tokens.

    `openai:llama3.1@http://ollama:11434/v1` becomes `openai_llama3_1_http_ollama_11434_v1-` and
    eight digits of the name's hash.
    """
    readable = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    squeezed = "_".join(word for word in readable.split("_") if word)
    return f"{squeezed[:48]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
