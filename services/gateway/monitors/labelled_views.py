"""What labels of people say of a monitor: each watched comparison as they correct it."""

from collections.abc import Collection

from pydantic import AwareDatetime, BaseModel, ConfigDict

from services.gateway.monitors.evidence_words import comparison_title
from shared.contracts import (
    Alarm,
    AlarmKind,
    Correction,
    Monitor,
    Round,
    RunningGap,
    latest_over_rounds,
    standing_of,
)
from shared.store import Store


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


def labelled_evidence(
    store: Store, monitor: Monitor, alarms: Collection[Alarm]
) -> list[LabelledEvidence]:
    """Return what labels say of a monitor's comparisons, by their latest state; it blocks.

    Of the latest epoch that people have labelled; of nothing where nobody has.
    """
    runs = store.labelled_runs.of_monitor(monitor.monitor_id)
    if not runs:
        return []
    rounds = list(store.records.of_runs(Round, runs))
    epoch = max((each.epoch for each in rounds), default=0)
    by_run = {each.run_id: each for each in rounds if each.epoch == epoch}
    corrections = store.records.get(Correction, store.labelled_runs.last_corrections(by_run))
    found, standing = latest_over_rounds(corrections), standing_of(alarms)
    last_round = max(by_run.values(), key=lambda each: each.round, default=None)
    return [
        LabelledEvidence(
            comparison=each.key,
            title=comparison_title(each, monitor.plan.numbers),
            number=f"{each.watched.extractor}.{each.watched.feature}",
            a=part.a,
            b=part.b,
            gap=part.running,
            epoch=last_round.epoch,
            round=last_round.round,
            run_id=last_round.run_id,
            labelled_until=correction.labelled_until,
            alarmed=(each.key, AlarmKind.LABELLED) in standing,
        )
        for each in monitor.plan.watched
        if each.key in found and last_round is not None
        for part, correction in [found[each.key]]
    ]


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
