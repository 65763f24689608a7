"""Messages to and from drop-in extractors, and their checks."""

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
"""Reasons are stored and counted, so they must not carry texts."""


class BrokenContract(Exception):  # noqa: N818 - an outcome that the caller decides about
    """The answer violates the contract; the message says how, without quoting it."""


class OtherVersion(BrokenContract):
    """The answer comes from another version than that of the spec."""


def spec_of(data: bytes) -> DropInSpec:
    """Read a spec; raise BrokenContract if it is invalid."""
    try:
        spec = DropInSpec.model_validate_json(data)
    except ValidationError as error:
        mistake = first_mistake(error).in_words("the whole answer")
        raise BrokenContract(f"its spec is wrong: {mistake}") from None
    if spec.contract != CONTRACT:
        raise BrokenContract(f"it keeps another contract than {CONTRACT}")
    if len(set(spec.features)) != len(spec.features):
        raise BrokenContract("its spec names a feature twice")
    return spec


def mismatch(spec: DropInSpec, name: str, version: str) -> str | None:
    """Return how a spec differs from the registration of the service, or None."""
    if service_name(spec.name) != service_name(name):
        return "its spec has another name than it registered with NATS"
    if spec.version != version:
        return "its spec has another version than it registered with NATS"
    return None


def batches_of(
    readings: Sequence[Reading], max_texts: int, max_bytes: int
) -> Iterator[list[Reading]]:
    """Split texts into calls of bounded number and size; an oversized text gets its own call."""
    batch: list[Reading] = []
    size = 0
    for reading in readings:
        more = len(body_of([reading]))
        if batch and (len(batch) == max_texts or size + more > max_bytes):
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
    """Read an answer; an invalid result affects only its text.

    Raise BrokenContract if the whole answer is unusable, OtherVersion if it comes from another
    version, since it must not be published under that of the spec.
    """
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        raise BrokenContract("its answer is not JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise BrokenContract("its answer has no results")
    if answer.get("version") != spec.version:
        raise OtherVersion("it answers under another version than its spec names")
    results: dict[str, list[Mapping[str, Any]]] = {str(number): [] for number in range(texts)}
    for result in answer["results"]:
        if isinstance(result, dict) and (id_ := str(result.get("id"))) in results:
            results[id_].append(result)
    return [checked(spec.features, _outcome(matches)) for matches in results.values()]


def _outcome(results: Sequence[Mapping[str, Any]]) -> Outcome:
    if not results:
        return Unscorable(NO_RESULT)
    if len(results) > 1:
        return Unscorable(TWICE)
    [result] = results
    if (reason := result.get("unscorable")) is not None:
        plain = isinstance(reason, str) and PLAIN.fullmatch(reason)
        return Unscorable(reason if plain else ODD_REASON)
    values = result.get("values")
    return values if isinstance(values, dict) else Unscorable(BROKEN)
