"""Which answers of a run people are asked to label, and how probable each was."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record

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
    """Who was asked."""
    scaffold: Token
    """How."""
    group: Name
    """The group."""
    answers: PositiveInt
    """Answers with a reading, of which was drawn."""
    drawn: NonNegativeInt
    """How many were."""
    least_probability: Annotated[float, Field(gt=0, le=1)]
    """Of any answer in it."""


class LabelSample(Record):
    """Answers that were drawn with known probabilities, in the order in which they are labelled.

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
    """How many were asked for."""
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
    """Words that name the groups: hidden from whoever asks for it."""
    strata: tuple[LabelStratum, ...]
    """What was drawn from."""
    drawn: tuple[DrawnAnswer, ...]
    """The answers, in the order in which they are to be labelled."""

    @property
    def lane(self) -> str:
        """The instrument's own."""
        return self.extractor
