"""Numbers of pages that change while they are open."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from biaswatch.shared.contracts import derived_id
from biaswatch.shared.formatting import counted
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.run_views import RunProgress


class LiveNumbers(BaseModel):
    """The numbers of a page at one moment."""

    numbers: dict[str, str]
    """Texts by the key of their place on the page."""
    sentence: str
    """The same in a sentence, for screen readers."""
    shape: str
    """Changes when the page is outdated in more than its numbers."""
    news: str
    """The sentence to show then."""
    reload: bool = False
    """True if a page that is outdated loads again by itself: nothing more will come."""


def live_run(run: RunProgress) -> LiveNumbers:
    """Return the numbers of a run's page."""
    counts = f"{run.responses:,} of {run.probes:,} answers"
    state = run.state.value
    return LiveNumbers(
        numbers={"state": state, "answers": f"{run.responses:,}", "of": f"{run.probes:,}"},
        sentence=f"{state}, {counts}",
        shape=_shape(
            [
                state,
                str(run.opening),
                str(run.diagnoses),
                str(len(run.paused)),
                str(len(run.batches)),
            ]
        ),
        news=f"The run is {state}: {counts}.",
        reload=run.ended,
    )


def live_monitor(monitor: MonitorStatus) -> LiveNumbers:
    """Return the numbers of a monitor's page."""
    rounds = f"{monitor.rounds} round{'' if monitor.rounds == 1 else 's'}"
    alarms = counted(monitor.alarms, "alarm")
    return LiveNumbers(
        numbers={"state": monitor.state, "rounds": rounds},
        sentence=f"{rounds}, {alarms}",
        shape=_shape([monitor.state, str(monitor.rounds), str(monitor.alarms)]),
        news=f"The monitor has changed: {rounds}, {alarms}.",
    )


def live_overview(
    runs: Sequence[RunProgress], monitors: Sequence[MonitorStatus], alarms: Iterable[str]
) -> LiveNumbers:
    """Return the numbers of the overview; `alarms` are ids of standing alarms."""
    alarms = sorted(alarms)
    live = {live_key(run.run_id, "state"): state_words(run) for run in runs}
    live |= {live_key(run.run_id, "answers"): f"{run.responses:,}" for run in runs}
    live |= {f"rounds of {row.name}": str(row.rounds) for row in monitors}
    answers = sum(run.responses for run in runs)
    listed = (f"{run.run_id} ended" if run.ended else run.run_id for run in runs)
    return LiveNumbers(
        numbers=live,
        sentence=(
            f"{counted(len(alarms), 'alarm')}, {counted(len(runs), 'run')} with"
            f" {counted(answers, 'answer')}"
        ),
        shape=_shape([*alarms, *listed, *(row.name for row in monitors)]),
        news="An alarm, a run or a monitor has appeared or disappeared, or a run has ended.",
    )


def live_key(run_id: str, what: str) -> str:
    """Return the key of a run's number on a page with many runs."""
    return f"{what} of {run_id}"


def state_words(run: RunProgress) -> str:
    """Return the state of a run for a table."""
    return f"{run.state}, {len(run.paused)} paused" if run.paused else run.state.value


def _shape(parts: Sequence[str]) -> str:
    """Return a short hash of the parts."""
    return derived_id("shape", *parts)[:16]
