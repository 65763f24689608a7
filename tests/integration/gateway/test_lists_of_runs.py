"""Lists of runs ask the store as often for many runs as for one."""

from datetime import timedelta

from sqlalchemy import event

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.store import Store
from tests.support.archived import end_run
from tests.support.records import (
    AT,
    make_diagnosis,
    make_features,
    make_probe,
    make_response,
    make_run,
)


def keep_runs(store: Store, first: int, last: int) -> None:
    """Store runs that have ended, each of a suite of its own."""
    for number in range(first, last):
        run = make_run(at=AT + timedelta(minutes=number), suite_hash=f"{number:032x}")
        probe = make_probe(number, run_id=run.id)
        response = make_response(number, probe=probe)
        of = {"run_id": run.id, "probe_id": probe.id, "response_id": response.id}
        found = make_diagnosis(run_id=run.id, target=run.targets[0].name)
        store.records.write([run, response, make_features(number, **of), found])
        end_run(store, run.id)


def test_a_list_asks_the_store_as_often_for_sixty_runs_as_for_six(store: Store) -> None:
    asked: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    took = []
    for first, last in ((0, 6), (6, 60)):
        keep_runs(store, first, last)
        asked.clear()
        listed = RunQueries(store).latest(100)
        assert [each.responses for each in listed] == [1] * last
        took.append(len(asked))
    assert took[0] == took[1]
