"""The closed rounds of a monitor are found by their number, on both databases."""

import pytest

from biaswatch.shared.contracts import Description, Monitor, Purpose, Round
from biaswatch.shared.store import Store
from tests.support.records import make_description, make_monitor, make_round, make_traffic_monitor


def close(store: Store, monitor: Monitor, rounds: int) -> None:
    purpose = Purpose.MONITOR if monitor.plan.traffic is None else Purpose.PRODUCTION
    named = {"monitor_id": monitor.monitor_id, "monitor": monitor.name, "purpose": purpose}
    store.records.write(make_round(**named, round=number) for number in range(rounds))
    store.records.write(make_description(**named, round=number) for number in range(rounds))


@pytest.mark.parametrize("monitor", [make_monitor(), make_traffic_monitor()])
def test_the_last_rounds_are_found_by_how_many_have_closed(store: Store, monitor: Monitor) -> None:
    assert store.rounds.closed(monitor) == 0
    assert store.rounds.last(monitor) is None
    assert store.rounds.latest(Round, monitor, 3) == []
    close(store, monitor, 12)
    close(store, make_monitor(name="another"), 20)
    last = store.rounds.last(monitor)
    assert last is not None
    assert (last.round, last.monitor_id) == (11, monitor.monitor_id)
    assert [item.round for item in store.rounds.latest(Round, monitor, 3)] == [9, 10, 11]
    assert [item.round for item in store.rounds.latest(Description, monitor, 2)] == [10, 11]
    assert len(store.rounds.latest(Round, monitor, 100)) == 12
    assert store.rounds.get(monitor, 12) is None
