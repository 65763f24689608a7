"""What is counted of runs when it is written, on both databases."""

import threading
from typing import Any

from biaswatch.shared.contracts import RUN_GATHER, Features, Purpose, Response
from biaswatch.shared.store import CountedRun, Store
from tests.support.records import AT, make_features, make_probe, make_response


def counted(store: Store, run_id: str) -> CountedRun:
    waiting: Any = {"deadline": AT, "now": AT, "context": {}, "cursors": ()}
    store.gathers(RUN_GATHER).begin(run_id, 9, **waiting)
    return store.counted_runs.of([run_id])[run_id]


def test_records_of_a_run_count_once_however_often_they_arrive(store: Store) -> None:
    answers = [make_response(n) for n in range(3)]
    for _ in range(2):
        store.records.write([*answers, make_features()])
    result = counted(store, answers[0].run)
    assert result.count(Response, Purpose.STUDY) == result.count(Response) == 3
    assert result.count(Response, Purpose.STUDY, answers[0].lane) == 3
    assert result.count(Response, Purpose.STUDY, "nobody") == 0
    assert result.count(Response, Purpose.JUDGE) == 0
    assert result.count(Features) == 1
    assert result.gather is not None
    assert (result.gather.expected, result.gather.closed_by) == (9, None)


def test_a_run_that_nobody_has_planned_has_counts_and_waits_for_nothing(store: Store) -> None:
    store.records.write([make_response(0)])
    run_id = make_response(0).run
    counted = store.counted_runs.of([run_id, "another"])
    assert counted.keys() == {run_id}
    assert counted[run_id].gather is None
    assert counted[run_id].count(Response) == 1


def test_writers_at_once_count_what_they_wrote_together(store: Store) -> None:
    start = threading.Barrier(4)

    def write(first: int) -> None:
        start.wait()
        for n in range(first, first + 40, 4):
            probes = [make_probe(item) for item in range(n, n + 8)]
            store.records.write([make_response(probe=probe) for probe in probes])

    writers = [threading.Thread(target=write, args=(8 * n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    run_id = make_response(0).run
    stored = store.records.count(Response, run_id=run_id)
    assert counted(store, run_id).count(Response) == stored == 68
