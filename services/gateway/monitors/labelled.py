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
    open_alarms_of,
)
from biaswatch.shared.requests.monitor_views import LabelledEvidence
from biaswatch.shared.store import Store


def labelled_evidence(
    store: Store, monitor: Monitor, alarms: Collection[Alarm]
) -> list[LabelledEvidence]:
    """Return the label-corrected state of a monitor's comparisons; it blocks.

    It covers the latest epoch with labels, and is empty without labels.
    """
    runs = store.labelled_runs.of_monitor(monitor.monitor_id)
    if not runs:
        return []
    rounds = list(store.records.of_runs(Round, runs))
    epoch = max((round_.epoch for round_ in rounds), default=0)
    by_run = {round_.run_id: round_ for round_ in rounds if round_.epoch == epoch}
    corrections = store.records.get(Correction, store.labelled_runs.last_corrections(by_run))
    latest, raised = latest_over_rounds(corrections), open_alarms_of(alarms)
    last = max(by_run.values(), key=lambda round_: round_.round, default=None)
    if last is None:
        return []
    return [
        LabelledEvidence(
            comparison=watch.key,
            title=comparison_title(watch, monitor.plan.numbers),
            number=f"{watch.watched.extractor}.{watch.watched.feature}",
            a=part.a,
            b=part.b,
            gap=part.running,
            epoch=last.epoch,
            round=last.round,
            run_id=last.run_id,
            labelled_until=correction.labelled_until,
            alarmed=(watch.key, AlarmKind.LABELLED) in raised,
        )
        for watch in monitor.plan.all_comparisons
        if watch.key in latest
        for part, correction in [latest[watch.key]]
    ]
