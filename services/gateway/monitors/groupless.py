"""Traffic monitors whose last answers have none of the compared groups."""

from collections.abc import Iterable, Iterator

from biaswatch.shared.contracts import MENTIONED, AccountedWindow, Monitor, MonitorState
from biaswatch.shared.formatting import counted
from biaswatch.shared.requests.platform import PlatformTrouble
from biaswatch.shared.store import Store


def groupless_monitors(store: Store, monitors: Iterable[Monitor]) -> Iterator[PlatformTrouble]:
    """Yield the active monitors that could compare no answer of their last read window.

    Monitors of words that users mention are left out: most messages have none of them.
    """
    for monitor in monitors:
        if _compares_declared_groups(monitor):
            window = store.window_answers.last_read(monitor.monitor_id)
            if window and window.accounts.without_group == window.accounts.members:
                yield PlatformTrouble(what="no compared group", said=_in_words(monitor, window))


def _compares_declared_groups(monitor: Monitor) -> bool:
    is_live = monitor.state is MonitorState.ACTIVE and monitor.history is None
    dimensions = (pair.dimension for pair in monitor.plan.comparisons)
    return (
        is_live
        and monitor.plan.traffic is not None
        and not any(dimension.startswith(MENTIONED) for dimension in dimensions)
    )


def _in_words(monitor: Monitor, window: AccountedWindow) -> str:
    groups: dict[str, list[str]] = {}
    for pair in monitor.plan.comparisons:
        names = groups.setdefault(pair.dimension, [])
        names += [name for name in (pair.a, pair.b) if name and name not in names]
    compared = "; ".join(f"{name} ({', '.join(labels)})" for name, labels in groups.items())
    return (
        f"{monitor.name} compared none of the {counted(window.accounts.members, 'answer')} of its"
        f" last window, until {window.of.window.ends:%Y-%m-%d %H:%M} UTC: check that their `groups`"
        f" name dimensions and groups as the monitor's file does: {compared}."
    )
