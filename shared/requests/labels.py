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

from biaswatch.shared.contracts import (
    MOST_DRAWN,
    Correction,
    LabelDraw,
    LabelSample,
    Name,
    RecordId,
    Token,
)

MAX_LABELS = 1000
"""Labels of one request."""
MAX_TASKS = 1000
"""Texts of one page."""
MAX_GUIDANCE_CHARACTERS = 20_000
MAX_CHOICES = 30
MAX_HIDDEN_WORDS = 500
PersonName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]


class NumberRequest(BaseModel):
    """A feature of a run to label, and a grouping of its answers."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    feature: Name
    """`extractor.feature`, or the feature alone where only one extractor measures it."""
    group: Name | None = None
    """The grouping whose groups get equally many labels; default: the only one."""


class SampleRequest(NumberRequest):
    """The body of a request to draw answers for labelling."""

    wanted: Annotated[PositiveInt, Field(le=MOST_DRAWN)] = 300
    """Size of the sample, over all groups."""
    draw: LabelDraw = LabelDraw.EVEN
    """All answers of a group alike, or more of those that the instrument is unsure about."""
    low: float | None = None
    """Minimum of a label; default: that of the suite, or of the measurements."""
    high: float | None = None
    """Maximum of a label."""
    choices: list[float] = Field(default=[], max_length=MAX_CHOICES)
    """The values to choose from."""
    guidance: str = Field(default="", max_length=MAX_GUIDANCE_CHARACTERS)
    """Instructions for labellers; their version is a hash of the text."""
    hidden: list[Name] = Field(default=[], max_length=MAX_HIDDEN_WORDS)
    """Words that reveal groups, in addition to the names of the groups."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high go together")
        if self.low is not None and self.high is not None:
            if not self.low < self.high:
                raise ValueError("low must be below high")
            if any(not self.low <= choice <= self.high for choice in self.choices):
                raise ValueError("a choice lies outside the scale")
        return self


class TaskFilter(BaseModel):
    """A page of a sample."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    after: Annotated[NonNegativeInt, Field(le=MOST_DRAWN)] = 0
    """Where the page before ended."""
    limit: Annotated[PositiveInt, Field(le=MAX_TASKS)] = 500


class GivenLabel(BaseModel):
    """One label of one person."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    response_id: RecordId
    """The answer."""
    value: float | None = None
    """Value on the instrument's scale; null if the person could not tell."""
    person: PersonName | None = None
    """The labeller; default: the caller."""
    withdrawn: bool = False
    """True to withdraw this person's label of the answer."""
    note: str = Field(default="", max_length=2000)


class LabelsRequest(BaseModel):
    """Labels of one feature of a run."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    extractor: Token
    """The instrument."""
    feature: Name
    """The feature of that instrument."""
    instructions: Name = "unknown"
    """The version of the instructions; for sampled answers, that of the sample counts."""
    labels: list[GivenLabel] = Field(min_length=1, max_length=MAX_LABELS)


class _Documented(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class LabelledStratum(_Documented):
    """Progress of the labels of one group."""

    target: str
    scaffold: str
    group: str
    answers: int
    """Measured answers."""
    drawn: int
    labelled: int
    """Sampled answers with a label."""


class SampleProgress(_Documented):
    """A sample and its progress."""

    sample: LabelSample
    strata: list[LabelledStratum]
    labelled: int
    """Sampled answers with a label."""
    skipped: int
    """Sampled answers that every labeller skipped."""


class LabelTask(_Documented):
    """One item to label."""

    response_id: str
    """Id of the answer, the judged pair, or the judged report."""
    question: str
    """The question, the context of a pair, or the subject of a report."""
    answer: str
    """The answer, with its reasoning if that was judged; or the report."""


class LabelTasks(_Documented):
    """Items of a sample, in the order of labelling."""

    tasks: list[LabelTask]
    after: int | None
    """The beginning of the next page; null at the end."""


class AcceptedLabels(_Documented):
    """Numbers of accepted labels."""

    new: int
    """New labels."""
    known: int
    """Labels equal to the last one of the same person."""
    undrawn: int
    """Labels of answers outside of samples, which count for agreement only."""


class PlanLine(_Documented):
    """Precision of a gap of two groups for a number of labels."""

    labels_of_a_group: int
    correlation: float
    """Assumed correlation of labels and measurements."""
    half_width: float
    """Half width of the gap's interval, in units of the feature."""
    smallest_gap: float
    """Smallest gap that is found with a power of 0.8."""
    widest_share: float
    """Largest half width of the interval of a group's mean, as a share of the scale, if labels
    hardly vary: rare answers, or labels that all agree with the measurements."""


class LabelPlan(_Documented):
    """Precision that labels of a feature would give, by their number."""

    extractor: str
    feature: str
    dimension: str
    groups: dict[str, int]
    """Measured answers, by group."""
    spread: float
    """Standard deviation of measurements within groups."""
    by_readings: float
    """Half width of the gap's interval by measurements, which ignores their errors."""
    units: int
    """Prompts of the smallest group."""
    repeats: float
    """Answers per prompt."""
    labels_for_a_tenth: int | None
    """Labels of a group for an interval of at most a tenth of the scale on each side, even if
    labels hardly vary; null if there are too few prompts."""
    lines: list[PlanLine]


class StoredLabel(_Documented):
    """The last label of a person; without value and person for callers who may not read texts."""

    response_id: str
    extractor: str
    feature: str
    value: float | None
    person: str
    instructions: str
    probability: float | None
    """Sampling probability of the answer; null for answers outside of samples."""
    note: str
    at: AwareDatetime


class RunCorrections(_Documented):
    """Findings of a run corrected by labels."""

    corrections: list[Correction]
    """Corrections of the latest state that was computed; empty without labels."""
    behind: bool
    """True if there are newer labels that the corrections do not contain."""


def repeats_in_words(plan: LabelPlan) -> str:
    """Return the limits of few labels that hardly vary, and how many are needed."""
    prompts = f"{plan.units} prompts of the smallest group"
    if plan.repeats > 1:
        prompts += f" have {plan.repeats:.3g} answers each, which vary together"
    else:
        prompts += " have one answer each"
    few = next(iter(plan.lines), None)
    reach = ""
    if few is not None:
        reach = (
            f": where labels hardly vary (rare answers, or all as read), {few.labels_of_a_group}"
            f" labels leave a group's mean open by {few.widest_share:.2g} of the scale"
        )
    if plan.labels_for_a_tenth is None:
        takes = "It takes more prompts to know it within a tenth, however many answers are labelled"
    else:
        takes = f"Within a tenth it is known from {plan.labels_for_a_tenth} labels of a group on"
    return f"{prompts}{reach}. {takes}."
