"""Requests and responses about samples and labels."""

from typing import Annotated, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from biaswatch.shared.contracts import MOST_DRAWN, Correction, LabelDraw, LabelSample
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


class LabelledStratum(BaseModel):
    """How far the answers of one group are labelled."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    target: str
    scaffold: str
    group: str
    answers: int
    """Answers with a reading."""
    drawn: int
    labelled: int
    """Drawn answers that anybody labelled."""


class SampleProgress(BaseModel):
    """A sample, and how far it is labelled."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    sample: LabelSample
    strata: list[LabelledStratum]
    labelled: int
    """Drawn answers that anybody labelled."""
    skipped: int
    """Drawn answers of which everybody who saw them could not tell."""


class LabelTask(BaseModel):
    """What one person labels at a time."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    response_id: str
    """Of the answer, the judged pair, or the judged report."""
    question: str
    """What was asked, the context of a pair, or what a report is about."""
    answer: str
    """What was answered, with its reasoning where that was judged; or the report."""


class LabelTasks(BaseModel):
    """Some of what a sample drew, in the order in which it is labelled."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    tasks: list[LabelTask]
    after: int | None
    """Where the next page begins; null at the end."""


class AcceptedLabels(BaseModel):
    """What became of labels that were sent."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    new: int
    """Labels that were not there before."""
    known: int
    """Labels that say what the same person had said already."""
    undrawn: int
    """Of answers that no sample holds: they count for agreement alone."""


class PlanLine(BaseModel):
    """What so many labels will bring for a gap of two groups."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    labels_of_a_group: int
    correlation: float
    """Of labels and readings, assumed."""
    half_width: float
    """Of the gap's interval, in the number's units."""
    smallest_gap: float
    """Found four times in five."""
    widest_share: float
    """How far the interval of a group's mean can reach on one side, as a share of the scale, where
    labels hardly vary: rare answers, or labels that all agree with the readings."""


class LabelPlan(BaseModel):
    """What labels of a number would bring, before any is made."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    extractor: str
    feature: str
    dimension: str
    groups: dict[str, int]
    """Answers with a reading, by group."""
    spread: float
    """Standard deviation of readings within groups."""
    by_readings: float
    """Half of the gap's interval by readings, which knows nothing of their error."""
    units: int
    """Prompts of the group that has the fewest."""
    repeats: float
    """Answers to each of them."""
    labels_for_a_tenth: int | None
    """Labels of a group from which on an interval reaches no farther than a tenth of the scale,
    also where labels hardly vary; null where no number of labels of so few prompts does."""
    lines: list[PlanLine]


class StoredLabel(BaseModel):
    """One label as it stands; value and person are left out for who may not read texts."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    response_id: str
    extractor: str
    feature: str
    value: float | None
    person: str
    instructions: str
    probability: float | None
    """How probable it was that the answer would be drawn; null for answers of no sample."""
    note: str
    at: AwareDatetime


class RunCorrections(BaseModel):
    """What the labels of a run make of its findings."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    corrections: list[Correction]
    """Of the latest state of the labels that was computed; empty without labels."""
    behind: bool
    """Whether labels have come that these do not hold yet."""


def repeats_in_words(found: LabelPlan) -> str:
    """Return what few labels cannot show where they hardly vary, and how many it takes."""
    prompts = f"{found.units} prompts of the smallest group"
    if found.repeats > 1:
        prompts += f" have {found.repeats:.3g} answers each, which vary together"
    else:
        prompts += " have one answer each"
    few = next((each for each in found.lines), None)
    reach = ""
    if few is not None:
        reach = (
            f": where labels hardly vary (rare answers, or all as read), {few.labels_of_a_group}"
            f" labels leave a group's mean open by {few.widest_share:.2g} of the scale"
        )
    if found.labels_for_a_tenth is None:
        takes = "It takes more prompts to know it within a tenth, however many answers are labelled"
    else:
        takes = f"Within a tenth it is known from {found.labels_for_a_tenth} labels of a group on"
    return f"{prompts}{reach}. {takes}."
