"""Serve an extractor file as a drop-in."""

import re
from collections.abc import Callable
from hashlib import sha256

from pydantic import ValidationError

from biaswatch.services.extractor.domain import Extractor, Reading, measured_all
from biaswatch.shared.contracts.dropin import Call, CallAnswer, Checked, DropInSpec, Result
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import ConfigurationError, PoisonError

Answer = Callable[[bytes], bytes]
DIGEST_CHARACTERS = 32
"""Length of the digest of code, 128 bits."""


def spec_for(extractor: Extractor, name: str | None = None) -> DropInSpec:
    """Return the spec of an extractor, under another name if one is passed.

    Raise ConfigurationError if its name, version, features or instrument are invalid.
    """
    served_as = name or extractor.name
    try:
        return DropInSpec(
            name=served_as,
            version=three_numbers(extractor.version),
            features=tuple(extractor.features),
            instrument=extractor.instrument,
        )
    except ValidationError as error:
        mistake = first_mistake(error).in_words("all of it")
        raise ConfigurationError(
            f"The extractor {served_as} cannot be served: {mistake}."
        ) from None


def three_numbers(version: str) -> str:
    """Return a version in the form of NATS: 1 becomes 1.0.0, 1.2 becomes 1.2.0."""
    if re.fullmatch(r"\d+(\.\d+)?", version):
        return ".".join([*version.split("."), "0", "0"][:3])
    return version


def code_digest(source: bytes, spec: DropInSpec) -> str:
    """Return a digest that differs between drop-ins that must not share a name."""
    return sha256(source + spec.model_dump_json().encode()).hexdigest()[:DIGEST_CHARACTERS]


def answers_of(extractor: Extractor, spec: DropInSpec) -> dict[str, Answer]:
    """Return the function that answers each endpoint."""

    def extract(data: bytes) -> bytes:
        try:
            texts = Call.model_validate_json(data).texts
        except ValidationError:
            raise PoisonError(
                "This is not a call: it needs texts, each with an id and text."
            ) from None
        readings = [Reading(text.text, text.expected, text.baseline) for text in texts]
        results = [
            Result(id=text.id, unscorable=why) if why else Result(id=text.id, values=dict(values))
            for text, (values, why) in zip(texts, measured_all(extractor, readings), strict=True)
        ]
        answer = CallAnswer(version=spec.version, results=tuple(results))
        return answer.model_dump_json().encode()

    return {
        "spec": lambda _: spec.model_dump_json().encode(),
        "check": lambda _: Checked(status="ok").model_dump_json().encode(),
        "extract": extract,
    }
