"""Claims that a sentence makes about a subject: their types, and which of them are right."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from biaswatch.services.evaluator.domain.subjects import (
    NEITHER,
    SIZES,
    STRENGTHS,
    agreement_of,
    cases_of,
    contains_null,
    group_keys,
    higher_group,
    measure_of,
    shows_difference,
    size_of,
    strata_of,
)
from biaswatch.services.evaluator.domain.writing.fixed_sentences import (
    CAVEATS,
    TERMS,
    fixed_sentence,
)
from biaswatch.shared.contracts import Subject
from biaswatch.shared.parsing import Unreadable

VERDICTS = ("disparity", "no_disparity", "inconclusive", "unmeasured")


@dataclass(frozen=True)
class Claim:
    """A statement about a measure, a test, a group or the whole comparison."""

    type: str
    topic: str = ""
    """The measure, test, group, caveat or term; empty for the whole comparison."""
    value: str = ""
    """The answer that is claimed; empty for caveats and definitions."""

    @property
    def fields(self) -> dict[str, str]:
        """The claim as a model writes it."""
        names = CLAIM_TYPES[self.type].fields
        parts = zip(names, (self.topic, self.value), strict=True)
        return {"type": self.type} | {name: part for name, part in parts if name}

    @property
    def json(self) -> str:
        """The claim as JSON."""
        return json.dumps(self.fields, separators=(",", ":"))

    def is_right(self, subject: Subject) -> bool:
        """Tell whether the claim is right; a claim with unknown names is not."""
        kind = CLAIM_TYPES[self.type]
        known = self.topic in kind.topics(subject)
        return known and kind.answer(subject, self.topic) == self.value

    def sentence(self, subject: Subject) -> str:
        """Return the fixed sentence of the claim, with slots."""
        return fixed_sentence(self.type, self.topic, self.value, subject)


@dataclass(frozen=True)
class ClaimType:
    """Possible claims of one type, and the right ones."""

    fields: tuple[str, str]
    """Names of topic and value in JSON; empty for a part that claims of this type lack."""
    topics: Callable[[Subject], Sequence[str]]
    answer: Callable[[Subject, str], str | None]
    """The right value for a topic; None where there is none."""
    values: Callable[[Subject], Sequence[str]]


def _measures(subject: Subject) -> list[str]:
    return [measure.name for measure in subject.measures if measure.value is not None]


def _options(*values: str) -> Callable[[Subject], Sequence[str]]:
    return lambda _: values


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _significant(subject: Subject, name: str) -> str | None:
    test = measure_of(subject, name)
    return _yes(test.p_value <= subject.alpha) if test and test.p_value is not None else None


def _of_group(counts: Sequence[int] | None, subject: Subject, key: str) -> int | None:
    return counts[group_keys(subject).index(key)] if counts and len(counts) == 2 else None


def _missing(subject: Subject, key: str) -> str | None:
    count = _of_group(subject.missing, subject, key)
    return None if count is None else "some" if count else "none"


def _enough(subject: Subject, key: str) -> str | None:
    count = _of_group(cases_of(subject), subject, key)
    return None if count is None else _yes(count >= subject.cases_least)


def caveats_of(subject: Subject) -> list[str]:
    """Return the caveats that fit a subject."""
    general = {"causes", "nature", "limits", "experts"}
    if not shows_difference(subject):
        general.add("absence")
    return [name for name in CAVEATS if name in general or name in subject.caveats]


def mandatory_caveats(subject: Subject) -> list[str]:
    """Return the caveats that no report may omit."""
    optional = {"nature", "limits", "experts"}
    return [name for name in caveats_of(subject) if name not in optional]


WHOLE, NOTHING, YES_NO = _options(""), _options(""), _options("yes", "no")
CLAIM_TYPES: Mapping[str, ClaimType] = {
    "direction": ClaimType(
        ("measure", "higher"), _measures, higher_group, lambda s: (*group_keys(s), NEITHER)
    ),
    "interval": ClaimType(
        ("measure", "contains_null"),
        _measures,
        lambda subject, name: _yes(contains_null(measure_of(subject, name))),
        YES_NO,
    ),
    "significance": ClaimType(("test", "significant"), _measures, _significant, YES_NO),
    "size": ClaimType(("", "size"), WHOLE, lambda s, _: size_of(s), _options(*SIZES)),
    "strata": ClaimType(("", "within"), WHOLE, lambda s, _: strata_of(s), _options(*STRENGTHS)),
    "agreement": ClaimType(
        ("", "agreement"),
        WHOLE,
        lambda s, _: agreement_of(s),
        _options("similar", "moderate_difference", "conflicting"),
    ),
    "missing": ClaimType(("group", "missing"), group_keys, _missing, _options("some", "none")),
    "cases": ClaimType(("group", "enough"), group_keys, _enough, YES_NO),
    "conclusion": ClaimType(
        ("", "conclusion"),
        WHOLE,
        lambda s, _: s.conclusion,
        lambda s: tuple(dict.fromkeys([*VERDICTS, s.conclusion or ""])),
    ),
    "caveat": ClaimType(("about", ""), caveats_of, lambda *_: "", NOTHING),
    "definition": ClaimType(("term", ""), lambda _: list(TERMS), lambda *_: "", NOTHING),
}
"""The types of claims, by their name in JSON."""


@lru_cache(maxsize=16)
def claims_about(subject: Subject) -> tuple[Claim, ...]:
    """Return every claim that can be made about a subject, right or wrong, in a fixed order."""
    return tuple(
        Claim(name, topic, value)
        for name, kind in CLAIM_TYPES.items()
        for topic in kind.topics(subject)
        if kind.answer(subject, topic) is not None
        for value in kind.values(subject)
    )


def right_claims(subject: Subject) -> list[Claim]:
    """Return the claims about a subject that are right."""
    return [claim for claim in claims_about(subject) if claim.is_right(subject)]


def turned(claim: Claim, subject: Subject) -> list[Claim]:
    """Return the wrong claims of the same type about the same topic."""
    topic = (claim.type, claim.topic)
    same = [other for other in claims_about(subject) if (other.type, other.topic) == topic]
    return [other for other in same if not other.is_right(subject)]


def claim_in(value: object) -> Claim:
    """Return a claim that a model wrote.

    Raises
    ------
    Unreadable
        The value is no claim of a known type, or has other fields than claims of its type.
    """
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise Unreadable("a claim is not an object with texts")
    kind = CLAIM_TYPES.get(value.get("type", ""))
    if kind is None:
        raise Unreadable(f"the type of a claim is none of {', '.join(CLAIM_TYPES)}")
    topic, answer = (value.get(name, "") for name in kind.fields)
    claim = Claim(value["type"], topic, answer)
    if claim.fields != value:
        raise Unreadable(f"a claim about {claim.type} has other fields than {list(claim.fields)}")
    return claim


def claim_schemas(subject: Subject) -> list[JsonValue]:
    """Return the schema of each type of claim, with the enumerations of a subject."""
    values: dict[str, dict[str, dict[str, None]]] = {}
    for claim in claims_about(subject):
        for name, value in claim.fields.items():
            values.setdefault(claim.type, {}).setdefault(name, {})[value] = None
    return [
        closed_object({name: {"type": "string", "enum": list(known)} for name, known in of.items()})
        for of in values.values()
    ]


def closed_object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
