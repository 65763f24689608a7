"""What a drop-in extractor is asked, and how its answer is checked."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from biaswatch.services.extractor.domain.extractor import (
    Measured,
    Outcome,
    Reading,
    Unscorable,
    checked,
)
from biaswatch.shared.contracts.dropin import CONTRACT, Call, DropInSpec, TextToRead, service_name
from biaswatch.shared.contracts.mistakes import first_mistake

NO_RESULT = "the extractor gave no result"
TWICE = "the extractor gave two results"
BROKEN = "the extractor broke its contract"
ODD_REASON = "the extractor gave a reason that is no short phrase"
PLAIN = re.compile(r"[A-Za-z0-9 ,:'_-]{1,60}")
"""A reason is stored and counted for ever, so it must not be able to carry a text."""


class BrokenContract(Exception):  # noqa: N818 - what an answer is, decided about by the caller
    """The answer is not what the contract says; the message says how, without quoting it."""


class OtherVersion(BrokenContract):
    """The answer was measured with another version than the spec names."""


def spec_of(data: bytes) -> DropInSpec:
    """Read a spec; raise BrokenContract where it is none."""
    try:
        spec = DropInSpec.model_validate_json(data)
    except ValidationError as error:
        said = first_mistake(error).in_words("the whole answer")
        raise BrokenContract(f"its spec is wrong: {said}") from None
    if spec.contract != CONTRACT:
        raise BrokenContract(f"it keeps another contract than {CONTRACT}")
    if len(set(spec.features)) != len(spec.features):
        raise BrokenContract("its spec names a feature twice")
    return spec


def mismatch(spec: DropInSpec, name: str, version: str) -> str | None:
    """Say how a spec differs from what the service registered as, or None."""
    if service_name(spec.name) != service_name(name):
        return "its spec has another name than it registered with NATS"
    if spec.version != version:
        return "its spec has another version than it registered with NATS"
    return None


def batches_of(readings: Sequence[Reading], most: int, most_bytes: int) -> Iterator[list[Reading]]:
    """Cut texts into calls: at most so many, at most so large; one too large is asked alone."""
    batch: list[Reading] = []
    size = 0
    for reading in readings:
        more = len(body_of([reading]))
        if batch and (len(batch) == most or size + more > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(reading)
        size += more
    if batch:
        yield batch


def body_of(readings: Sequence[Reading]) -> bytes:
    """Return the call for these texts."""
    texts = tuple(
        TextToRead(id=str(n), text=r.text, expected=r.expected, baseline=r.baseline)
        for n, r in enumerate(readings)
    )
    return Call(texts=texts).model_dump_json(exclude_none=True).encode()


def outcomes_of(data: bytes, spec: DropInSpec, texts: int) -> list[Measured]:
    """Read an answer; what is wrong with one result costs one text.

    Raise BrokenContract where nothing in it can be used, OtherVersion where it was measured with
    another version: it must not be published under the spec's.
    """
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        raise BrokenContract("its answer is no JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise BrokenContract("its answer has no results")
    if answer.get("version") != spec.version:
        raise OtherVersion("it answers under another version than its spec names")
    results: dict[str, list[Mapping[str, Any]]] = {str(number): [] for number in range(texts)}
    for each in answer["results"]:
        if isinstance(each, dict) and (named := str(each.get("id"))) in results:
            results[named].append(each)
    return [checked(spec.features, _outcome(given)) for given in results.values()]


def _outcome(given: Sequence[Mapping[str, Any]]) -> Outcome:
    if not given:
        return Unscorable(NO_RESULT)
    if len(given) > 1:
        return Unscorable(TWICE)
    [result] = given
    if (reason := result.get("unscorable")) is not None:
        plain = isinstance(reason, str) and PLAIN.fullmatch(reason)
        return Unscorable(reason if plain else ODD_REASON)
    values = result.get("values")
    return values if isinstance(values, dict) else Unscorable(BROKEN)
