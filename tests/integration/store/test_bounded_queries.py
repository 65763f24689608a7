"""The number of queries of lists and lookups does not grow with the number of rows."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from biaswatch.shared.contracts import (
    AuditAction,
    MonitoredWindow,
    Response,
    SentAnswer,
    Window,
    derived_id,
)
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, ChannelStatus, DeliveryState
from biaswatch.shared.store import Store
from biaswatch.shared.store.archived_runs import ArchivableRun
from tests.support.databases import counted_queries
from tests.support.records import (
    make_act,
    make_label,
    make_probe,
    make_response,
    make_round,
    make_run,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MONITOR = "b" * 32


def window(number: int) -> MonitoredWindow:
    begins = NOON + number * HOUR
    times = Window(begins=begins, ends=begins + HOUR)
    return MonitoredWindow(derived_id("run", number), MONITOR, times)


def write_runs(store: Store, count: int) -> None:
    """Write runs with a response, a label and a round each, and an unread window of traffic."""
    for number in range(count):
        run = make_run(suite_hash=f"{number:032x}")
        response = make_response(number, probe=make_probe(number, run_id=run.id))
        label = make_label(run_id=run.id, response_id=response.id)
        round_ = make_round(run_id=run.id, monitor_id=MONITOR, round=number)
        unread = make_response(
            1000 + number, probe=make_probe(1000 + number, run_id=window(number).run_id)
        )
        store.records.write([run, response, label, round_, unread])
        answer = SentAnswer(window(number), unread.id, unread.id, "1")
        store.window_answers.take([answer])
        store.archived_runs.begin(ArchivableRun(run.id, "default", "suite"), "file:///x", NOON)
    store.window_answers.pass_over(MONITOR, NOON + 1000 * HOUR, NOON)


def due_runs(store: Store, count: int) -> int:
    return len(store.archived_runs.due(NOON + 1000 * HOUR)) - count  # without interrupted ones


def labelled_runs(store: Store, count: int) -> int:
    return len(store.labelled_runs.of_monitor(MONITOR))


def responses(store: Store, count: int) -> int:
    ids = [make_response(number).id for number in range(count)]
    ids += [sha256(str(number).encode()).hexdigest()[:32] for number in range(count)]
    list(store.records.get(Response, ids))
    return count


def run_counts(store: Store, count: int) -> int:
    runs = [make_run(suite_hash=f"{number:032x}").id for number in range(count)]
    return len(store.counted_runs.of(runs))


def expected_deliveries(store: Store, count: int) -> int:
    store.alarm_deliveries.expect(
        [
            AlarmDelivery(
                alarm_id=f"{number:032x}", channel="mail", tenant="default", topic="gap", at=NOON,
                over=False, state=DeliveryState.WAITING, attempts=0, next_at=NOON,
            )
            for number in range(count)
        ]
    )  # fmt: skip
    return len(store.alarm_deliveries.of_alarms(f"{number:032x}" for number in range(count)))


def announced_channels(store: Store, count: int) -> int:
    store.channels.announce(
        [ChannelStatus(name=f"c{n}", kind="webhook", seen_at=NOON) for n in range(count)]
    )
    return len(store.channels.known(NOON))


def token_changes(store: Store, count: int) -> int:
    tokens = {f"token-{number}": "read" for number in range(count)}
    act = make_act(action=AuditAction.TOKEN_ADD)
    store.audit.append_token_changes(tokens, act, NOON)
    return count


@pytest.mark.parametrize(
    "lookup",
    [
        due_runs,
        labelled_runs,
        responses,
        run_counts,
        expected_deliveries,
        announced_channels,
        token_changes,
    ],
)
def test_a_lookup_takes_as_many_queries_for_forty_rows_as_for_four(
    store: Store, lookup: Callable[[Store, int], int]
) -> None:
    queries_by_count = {}
    for count in (4, 40):
        write_runs(store, count)
        with counted_queries(store) as queries:
            assert lookup(store, count) == count
        queries_by_count[count] = len(queries)
    assert queries_by_count[4] == queries_by_count[40]
