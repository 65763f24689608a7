"""Labels as the API shows them."""

from pydantic import AwareDatetime, BaseModel, ConfigDict

from biaswatch.shared.contracts import Correction, LabelSample


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
