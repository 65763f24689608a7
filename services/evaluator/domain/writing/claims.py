"""Claims that a sentence makes about a subject: their types, and which of them are right."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template

from pydantic import JsonValue

from biaswatch.services.evaluator.domain import subjects
from biaswatch.services.evaluator.domain.writing.fixed_sentences import (
    ANY,
    CAVEATS,
    SENTENCES,
    TERMS,
    measure_words,
)
from biaswatch.shared.contracts import Subject
from biaswatch.shared.contracts.probe import closed_object
from biaswatch.shared.parsing import Unreadable

MEANS = ("gap", "effect_size")
AGREEMENTS = ("similar", "moderate_difference", "conflicting")
VERDICTS = ("disparity", "no_disparity", "inconclusive", "unmeasured")


@dataclass(frozen=True)
class TypedClaim:
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
        sentences, (one, two) = SENTENCES[self.type], subjects.group_keys(subject)
        return Template(sentences.get(self.value or self.topic) or sentences[ANY]).substitute(
            topic=self.topic,
            words=measure_words(self.topic),
            value=self.value,
            other=two if self.value == one else one,
            more="a higher mean" if self.topic in MEANS else "more of the outcome",
        )


@dataclass(frozen=True)
class ClaimType:
    """Possible claims of one type, and the right ones."""

    fields: tuple[str, str]
    """Names of topic and value in JSON; empty for a part that claims of this type lack."""
    topics: Callable[[Subject], Sequence[str]]
    answer: Callable[[Subject, str], str | None]
    """The right value for a topic; None where it is undefined."""
    values: tuple[str, ...]
    """Possible answers; empty for the groups, or neither of them."""


def _measures(subject: Subject) -> list[str]:
    return [measure.name for measure in subject.measures if measure.value is not None]


def _whole(
    field: str, answer: Callable[[Subject], str | None], values: tuple[str, ...]
) -> ClaimType:
    """Return a type of claims about the whole comparison."""
    return ClaimType(("", field), lambda _: ("",), lambda subject, _: answer(subject), values)


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _contains_null(subject: Subject, name: str) -> str | None:
    measure = subjects.measure_of(subject, name)
    if measure is None or measure.low is None or measure.high is None:
        return None
    null = measure.no_difference
    return None if null is None else _yes(measure.low <= null <= measure.high)


def _significant(subject: Subject, name: str) -> str | None:
    test = subjects.measure_of(subject, name)
    return _yes(test.p_value <= subject.alpha) if test and test.p_value is not None else None


def _missing(subject: Subject, key: str) -> str | None:
    counts = dict(zip(subjects.group_keys(subject), subject.missing, strict=False))
    return None if key not in counts else "some" if counts[key] else "none"


def _enough(subject: Subject, key: str) -> str | None:
    counts = dict(
        zip(subjects.group_keys(subject), subjects.case_counts(subject) or (), strict=False)
    )
    return _yes(counts[key] >= subject.cases_least) if key in counts else None


def caveats_of(subject: Subject) -> list[str]:
    """Return the caveats that fit a subject."""
    general = {"causes", "nature", "limits", "experts"}
    if not subjects.shows_difference(subject):
        general.add("absence")
    return [name for name in CAVEATS if name in general or name in subject.caveats]


def mandatory_caveats(subject: Subject) -> list[str]:
    """Return the caveats that no report may omit."""
    optional = {"nature", "limits", "experts"}
    return [name for name in caveats_of(subject) if name not in optional]


YES_NO, NO_VALUE = ("yes", "no"), ("",)
CLAIM_TYPES: Mapping[str, ClaimType] = {
    "direction": ClaimType(("measure", "higher"), _measures, subjects.higher_group, ()),
    "interval": ClaimType(("measure", "contains_null"), _measures, _contains_null, YES_NO),
    "significance": ClaimType(("test", "significant"), _measures, _significant, YES_NO),
    "size": _whole("size", subjects.size_of, subjects.SIZES),
    "strata": _whole("within", subjects.strata_of, subjects.STRENGTHS),
    "agreement": _whole("agreement", subjects.agreement_of, AGREEMENTS),
    "missing": ClaimType(("group", "missing"), subjects.group_keys, _missing, ("some", "none")),
    "cases": ClaimType(("group", "enough"), subjects.group_keys, _enough, YES_NO),
    "conclusion": _whole("conclusion", lambda subject: subject.conclusion, VERDICTS),
    "caveat": ClaimType(("about", ""), caveats_of, lambda *_: "", NO_VALUE),
    "definition": ClaimType(("term", ""), lambda _: list(TERMS), lambda *_: "", NO_VALUE),
}
"""The types of claims, by their name in JSON."""


@lru_cache(maxsize=16)
def claims_about(subject: Subject) -> tuple[TypedClaim, ...]:
    """Return every claim that can be made about a subject, right or wrong, in a fixed order."""
    claims: list[TypedClaim] = []
    groups = (*subjects.group_keys(subject), subjects.NEITHER)
    for name, kind in CLAIM_TYPES.items():
        for topic in kind.topics(subject):
            answer = kind.answer(subject, topic)
            values = [] if answer is None else [*(kind.values or groups), answer]
            claims += [TypedClaim(name, topic, value) for value in dict.fromkeys(values)]
    return tuple(claims)


def right_claims(subject: Subject) -> list[TypedClaim]:
    """Return the claims about a subject that are right."""
    return [claim for claim in claims_about(subject) if claim.is_right(subject)]


def turned(claim: TypedClaim, subject: Subject) -> list[TypedClaim]:
    """Return the wrong claims of the same type about the same topic."""
    topic = (claim.type, claim.topic)
    same = [other for other in claims_about(subject) if (other.type, other.topic) == topic]
    return [other for other in same if not other.is_right(subject)]


def claim_in(value: object) -> TypedClaim:
    """Return a claim that a model wrote.

    Raises
    ------
    Unreadable
        The type of the claim is unknown, or its fields are not those of the type.
    """
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise Unreadable("a claim is not an object with texts")
    kind = CLAIM_TYPES.get(value.get("type", ""))
    if kind is None:
        raise Unreadable(f"the type of a claim has to be one of {', '.join(CLAIM_TYPES)}")
    topic, answer = (value.get(name, "") for name in kind.fields)
    claim = TypedClaim(value["type"], topic, answer)
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
