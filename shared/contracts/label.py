"""A person's label of one answer, on the scale of an instrument."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token, derived_id
from biaswatch.shared.contracts.record import TEXT, Part, Record


def person_id_of(person: str) -> str:
    """Return the id of a person, which outlives the name."""
    return derived_id("person", person)


class Label(Record):
    """One person's value for one answer; a correction is a new label, and the last one holds.

    Value, person and note are kept as texts are: hidden without the right to read texts, and
    removed by a purge of the answer's unit.
    """

    kind = "label"
    identity = ("response_id", "extractor", "feature", "person_id", "number")

    run_id: RecordId
    """The run of the answer."""
    response_id: RecordId
    """The answer."""
    unit_id: Name
    """The unit of analysis, so that its purge finds the label."""
    extractor: Token
    """The instrument that the label is held to: an extractor, or who judges."""
    feature: Name
    """Which of its numbers."""
    value: Annotated[float | None, TEXT] = None
    """On the instrument's own scale; null where the person could not tell, or took it back."""
    withdrawn: bool = False
    """True if the person took back an earlier label."""
    person: Annotated[str, TEXT] = ""
    """Who."""
    person_id: RecordId
    """The same person always has the same; made of the name."""
    number: NonNegativeInt = 0
    """How many labels of this answer by this person came before."""
    instructions: Name
    """The version of the instructions that the person had."""
    sample_id: RecordId | None = None
    """The sample that the answer was drawn in; without one nothing is corrected by the label."""
    probability: float | None = None
    """How probable it was that the answer would be drawn."""
    note: Annotated[str, TEXT] = ""
    """The person's note."""

    @property
    def lane(self) -> str:
        """The instrument's own."""
        return self.extractor


def labels_digest(ids: Iterable[str]) -> str:
    """Return the digest of all labels of a run, a key of their corrections."""
    return derived_id("labels", *sorted(ids))


def current_labels(labels: "list[Label]") -> "list[Label]":
    """Return the last label of each person for each answer and number, without withdrawn ones."""
    last = {
        (label.response_id, label.extractor, label.feature, label.person_id): label
        for label in sorted(labels, key=lambda label: label.number)
    }
    return [label for label in last.values() if not label.withdrawn]


MOST_DRAWN = 5000
"""Answers of one sample: it travels in one message."""


class LabelDraw(StrEnum):
    """How answers are drawn within a group."""

    EVEN = "even"
    """All alike."""
    UNCERTAINTY = "uncertainty"
    """More of those about which the instrument is unsure: near the middle of its scale."""


class DrawnAnswer(Part):
    """One answer that is to be labelled."""

    response_id: RecordId
    """The answer."""
    stratum: NonNegativeInt
    """Which stratum it was drawn from, by its place in the sample's list."""
    probability: Annotated[float, Field(gt=0, le=1)]
    """How probable it was to be drawn."""


class LabelStratum(Part):
    """The answers of one group to one target and scaffold."""

    target: Name
    """The target."""
    scaffold: Token
    """How."""
    group: Name
    """The group."""
    answers: PositiveInt
    """Answers with a reading: the population of the sample."""
    drawn: NonNegativeInt
    """How many were."""
    least_probability: Annotated[float, Field(gt=0, le=1)]
    """The probability of each answer in it."""


class LabelSample(Record):
    """Answers that were drawn with known probabilities, in their order of labelling.

    A sample of the same run and number with more labels holds all of the smaller one.
    """

    kind = "label_sample"
    identity = ("run_id", "extractor", "feature", "dimension", "draw", "wanted", "instructions")

    run_id: RecordId
    """The run."""
    extractor: Token
    """The instrument."""
    feature: Name
    """Which of its numbers."""
    dimension: Name
    """The grouping whose groups get as many labels each."""
    draw: LabelDraw = LabelDraw.EVEN
    """How answers are drawn within a group."""
    wanted: PositiveInt
    """Requested size."""
    low: float
    """The least value that a label can be."""
    high: float
    """The largest."""
    choices: tuple[float, ...] = ()
    """The values that people choose from; without any, every number on the scale."""
    instructions: Name
    """The version of the instructions."""
    guidance: str = ""
    """The instructions."""
    hidden: tuple[Name, ...] = ()
    """Words that name the groups: hidden on request."""
    strata: tuple[LabelStratum, ...]
    """The strata of the sample."""
    drawn: tuple[DrawnAnswer, ...]
    """The answers, in their order of labelling."""

    @property
    def lane(self) -> str:
        """The instrument's own."""
        return self.extractor
