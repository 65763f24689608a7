"""What is counted of runs when it is written, on both databases."""

import threading

from shared.contracts import Features, Purpose, Response
from shared.store import Store
from tests.support.records import make_features, make_probe, make_response


def test_records_of_a_run_count_once_however_often_they_arrive(store: Store) -> None:
    answers = [make_response(n) for n in range(3)]
    for _ in range(2):
        store.records.write([*answers, make_features()])
    counts = store.counts.of(answers[0].run)
    assert counts.of(Response, Purpose.STUDY) == counts.all(Response) == 3
    assert counts.of(Response, Purpose.STUDY, answers[0].lane) == 3
    assert counts.of(Response, Purpose.STUDY, "nobody") == 0
    assert counts.of(Response, Purpose.JUDGE) == 0
    assert counts.all(Features) == 1


def test_writers_at_once_count_what_they_wrote_together(store: Store) -> None:
    start = threading.Barrier(4)

    def write(first: int) -> None:
        start.wait()
        for n in range(first, first + 40, 4):
            probes = [make_probe(each) for each in range(n, n + 8)]
            store.records.write([make_response(probe=probe) for probe in probes])

    writers = [threading.Thread(target=write, args=(8 * n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    run_id = make_response(0).run
    stored = store.records.count(Response, run_id=run_id)
    assert store.counts.of(run_id).all(Response) == stored == 68
