"""The contract of a drop-in extractor: three endpoints, the same in every language."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.contracts.record import Part

CONTRACT = "1"
ROLE = "extractor"
ROOT = "ext.v1"
ENDPOINTS = ("spec", "check", "extract")
MOST_FEATURES = 64

Version = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]*)?$")]
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[ -~]+$")]


class DropInSpec(Part):
    """The reply of `ext.v1.<name>.spec`."""

    contract: str = CONTRACT
    """The version of the contract: 1."""
    name: Token
    """Its name: the extractor's, and the word in its subjects."""
    version: Version
    """Its version; another formula is another version."""
    features: tuple[Token, ...] = Field(min_length=1, max_length=MOST_FEATURES)
    """The names of its numbers; every result holds exactly these."""
    instrument: Phrase
    """The instrument in a few words."""
    max_batch: int = Field(default=32, ge=1, le=1000)
    """The most texts of one call."""


class Checked(Part):
    """The reply of `ext.v1.<name>.check`."""

    status: str
    """`ok`, or something else while it cannot work."""
    detail: str = ""
    """Why not."""


class TextToRead(Part):
    """One text of a call."""

    id: str
    """Its name in this call; the result carries it."""
    text: str
    """The texts to measure."""
    expected: str | None = None
    """The right answer, where there is one."""
    baseline: str | None = None
    """The text to compare with, where there is one."""


class Call(Part):
    """The request to `ext.v1.<name>.extract`."""

    texts: tuple[TextToRead, ...]
    """The texts; never more than `max_batch`, never more than the bus carries."""


class Result(Part):
    """The numbers of one text."""

    id: str
    """The text's name in the call."""
    values: dict[str, float | None] | None = None
    """Feature by name, null where one is undefined; exactly those of the spec."""
    unscorable: str | None = None
    """Why there are none: a few plain words, never the text."""


class CallAnswer(Part):
    """The reply of `ext.v1.<name>.extract`."""

    version: Version
    """The version that measured: the spec's."""
    results: tuple[Result, ...]
    """One for each text."""


def service_name(extractor: str) -> str:
    """Return the name under which a drop-in registers with NATS."""
    return f"extractor-{extractor}"


def endpoint(extractor: str, what: str) -> str:
    """Return the subject of one of its endpoints."""
    return f"{ROOT}.{extractor}.{what}"


SERVICE_NAME = re.compile(rf"{service_name('')}([A-Za-z0-9_-]{{1,96}})")
MAX_TEXT_CHARACTERS = 96
"""Characters kept of what a service says of itself."""


@dataclass(frozen=True)
class Registration:
    """One process that serves a drop-in extractor, as NATS lists it."""

    name: str
    version: str
    process: str = ""
    """The ID that NATS gave it."""
    code: str = ""
    """The digest of its code: equal in copies of one drop-in, different in any other."""
    serving: bool = True
    """True if it answers calls already."""


def registration_of(data: bytes) -> Registration | None:
    """Return what a service's reply to `$SRV.INFO` registers, or None for other services."""
    try:
        info: Mapping[str, Any] = json.loads(data)
        about = info.get("metadata") or {}
        name, version = str(info["name"]), str(info["version"])
        role, contract, code = (str(about.get(key, "")) for key in ("role", "contract", "code"))
    except (ValueError, RecursionError, KeyError, AttributeError):
        return None
    match = SERVICE_NAME.fullmatch(name)
    if match is None or (role, contract) != (ROLE, CONTRACT):
        return None
    return Registration(
        name=match.group(1),
        version=version[:MAX_TEXT_CHARACTERS],
        process=str(info.get("id", ""))[:MAX_TEXT_CHARACTERS],
        code=code[:MAX_TEXT_CHARACTERS],
        serving=info.get("endpoints") != [],
    )
