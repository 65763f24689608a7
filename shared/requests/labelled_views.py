"""What labels of people say of a monitor's comparisons, and in which words."""

from pydantic import AwareDatetime, BaseModel, ConfigDict

from biaswatch.shared.contracts import RunningGap


class LabelledEvidence(BaseModel):
    """What labels say of one comparison, over all labelled rounds of an epoch."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    comparison: str
    title: str
    """What is compared, for people."""
    number: str
    """The extractor and its feature."""
    a: str
    b: str
    gap: RunningGap
    """First group less second, as labels correct what the instrument reads."""
    epoch: int
    round: int
    """The last labelled round."""
    run_id: str
    """The run of that round."""
    labelled_until: AwareDatetime
    """When the last label came that it rests on."""
    alarmed: bool
    """Whether an alarm by labels stands."""


def labelled_sentence_of(found: LabelledEvidence) -> str:
    """Return what labels say of one comparison, beside what alarms."""
    gap = found.gap
    rounds = f"{gap.rounds} labelled round{'' if gap.rounds == 1 else 's'}"
    said = f"{2 * gap.pairs:,} labelled answers of {rounds}"
    needed = "" if gap.bound is None else f" of the {gap.bound:.2f} that alarm"
    told = f"evidence {gap.log_e:.2f}{needed}, {said}"
    if gap.since_round:
        told += f", since round {gap.since_round}, when an alarm by labels was over"
    return f"{told}; no alarm is raised: {gap.no_alarm}" if gap.no_alarm else told


def labelled_promise_in_words(alpha: float) -> str:
    """Return what alarms by labels promise, beside those by readings."""
    return (
        "Alarms by labels are about what the model says, where the labels are right; those by"
        " readings about what the instrument reads. The probability of any false alarm by labels,"
        f" ever, is at most {alpha:g}, beside that of those by readings"
    )
