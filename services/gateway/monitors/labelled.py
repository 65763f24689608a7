"""Evidence of a monitor as labels correct it."""

from collections.abc import Collection

from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Correction,
    Monitor,
    Round,
    comparison_title,
    latest_over_rounds,
    standing_of,
)
from biaswatch.shared.requests.monitor_views import LabelledEvidence
from biaswatch.shared.store import Store


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
