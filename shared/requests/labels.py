"""Samples of answers and labels as they are requested."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from biaswatch.shared.contracts import MOST_DRAWN, LabelDraw
from biaswatch.shared.contracts.identity import Name, RecordId, Token

MOST_LABELS = 1000
"""Of one request."""
MOST_TASKS = 1000
"""Texts of one page."""
MOST_CHARACTERS = 20_000
"""Of instructions."""
MOST_CHOICES = 30
MOST_HIDDEN = 500
PersonName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]


class NumberRequest(BaseModel):
    """Which number of a run people label, and by which grouping; what is missing is looked up."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    feature: Name
    """`extractor.feature`, or the feature alone where only one extractor measures it."""
    group: Name | None = None
    """The grouping whose groups get as many labels each; the only one, where there is one."""


class SampleRequest(NumberRequest):
    """The body of a request to draw answers for labelling."""

    wanted: Annotated[PositiveInt, Field(le=MOST_DRAWN)] = 300
    """How many, over all groups."""
    draw: LabelDraw = LabelDraw.EVEN
    """All answers of a group alike, or more where the instrument is unsure."""
    low: float | None = None
    """The least value that a label can be; by the suite, or by the readings, if it is missing."""
    high: float | None = None
    """The largest."""
    choices: list[float] = Field(default=[], max_length=MOST_CHOICES)
    """The values to choose from."""
    guidance: str = Field(default="", max_length=MOST_CHARACTERS)
    """The instructions for people; their version is made of their words."""
    hidden: list[Name] = Field(default=[], max_length=MOST_HIDDEN)
    """Words that name groups, beside the names of the groups themselves."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high go together")
        if self.low is not None and self.high is not None:
            if not self.low < self.high:
                raise ValueError("low must be below high")
            if any(not self.low <= each <= self.high for each in self.choices):
                raise ValueError("a choice lies outside the scale")
        return self


class TaskFilter(BaseModel):
    """Which part of what a sample drew."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    after: Annotated[NonNegativeInt, Field(le=MOST_DRAWN)] = 0
    """Where the page before ended."""
    limit: Annotated[PositiveInt, Field(le=MOST_TASKS)] = 500


class GivenLabel(BaseModel):
    """What one person said of one answer."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    response_id: RecordId
    """The answer."""
    value: float | None = None
    """On the instrument's scale; null where the person could not tell."""
    person: PersonName | None = None
    """Who; the caller, if it is missing."""
    withdrawn: bool = False
    """Take back what this person said of the answer."""
    note: str = Field(default="", max_length=2000)


class LabelsRequest(BaseModel):
    """The body of a request that brings labels of one number of a run."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    extractor: Token
    """The instrument."""
    feature: Name
    """Which of its numbers."""
    instructions: Name = "unknown"
    """The version that people had; that of the sample, for answers that were drawn."""
    labels: list[GivenLabel] = Field(min_length=1, max_length=MOST_LABELS)
