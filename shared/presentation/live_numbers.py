"""What is brought up to date on a page while somebody looks: its numbers, as it shows them."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from biaswatch.shared.contracts import derived_id
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.run_views import RunProgress


class LiveNumbers(BaseModel):
    """The numbers of a page at one moment."""

    numbers: dict[str, str]
    """What to show, by the place that shows it."""
    said: str
    """The same in a sentence, for who listens to the page."""
    shape: str
    """Changes when there is more than new numbers, such as another alarm: then the page is old."""
    news: str
    """What to say then."""


def live_run(run: RunProgress) -> LiveNumbers:
    """Return the numbers of a run's page."""
    counts = f"{run.responses:,} of {run.probes:,} answers"
    return LiveNumbers(
        numbers={
            "state": run.stand.value,
            "answers": f"{run.responses:,}",
            "of": f"{run.probes:,}",
        },
        said=f"{run.stand.value}, {counts}",
        shape=_shape([run.stand.value, str(run.opening), str(run.diagnoses), str(len(run.paused))]),
        news=f"The run is {run.stand.value}: {counts}.",
    )


def live_monitor(monitor: MonitorStatus) -> LiveNumbers:
    """Return the numbers of a monitor's page."""
    rounds = f"{monitor.rounds} round{'' if monitor.rounds == 1 else 's'}"
    alarms = f"{monitor.alarms} alarm{'' if monitor.alarms == 1 else 's'}"
    return LiveNumbers(
        numbers={"state": monitor.state, "rounds": rounds},
        said=f"{rounds}, {alarms}",
        shape=_shape([monitor.state, str(monitor.rounds), str(monitor.alarms)]),
        news=f"Something has changed: {rounds}, {alarms}.",
    )


def live_overview(
    runs: Sequence[RunProgress], monitors: Sequence[MonitorStatus], alarms: Iterable[str]
) -> LiveNumbers:
    """Return the numbers of the overview; `alarms` are the ids of those that stand."""
    standing = sorted(alarms)
    numbers = {run_key(each.run_id, "state"): state_words(each) for each in runs}
    numbers |= {run_key(each.run_id, "answers"): f"{each.responses:,}" for each in runs}
    numbers |= {f"rounds of {each.name}": str(each.rounds) for each in monitors}
    answers = sum(each.responses for each in runs)
    return LiveNumbers(
        numbers=numbers,
        said=f"{len(standing)} alarms, {len(runs)} runs with {answers:,} answers",
        shape=_shape([*standing, *map(_listed, runs), *(m.name for m in monitors)]),
        news="There is more than these numbers: another alarm, run or monitor, one less, or a run"
        " that has ended.",
    )


def _listed(run: RunProgress) -> str:
    """Return what changes in a list with a run: that it is there, and that it has ended."""
    return f"{run.run_id} ended" if run.ended else run.run_id


def run_key(run_id: str, what: str) -> str:
    """Return the place of a run's number among those of many."""
    return f"{what} of {run_id}"


def state_words(run: RunProgress) -> str:
    """Return the state of a run in a table."""
    return f"{run.stand}, {len(run.paused)} paused" if run.paused else run.stand.value


def _shape(parts: Sequence[str]) -> str:
    return derived_id("shape", *parts)[:16]
