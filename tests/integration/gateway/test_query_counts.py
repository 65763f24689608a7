"""Pages and lists take as many queries for much data as for little."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from sqlalchemy import event

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import ExtractorStatus, Monitor, Suite, SuiteProbe
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import api_on
from tests.support.archived import end_run
from tests.support.monitored import play
from tests.support.records import (
    AT,
    make_diagnosis,
    make_features,
    make_probe,
    make_response,
    make_run,
)
from tests.support.waiting import PATIENCE_S

SUITE = Suite(
    name="coasts",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{number}-{group}", prompt="?", set=f"s{number}", groups={"coast": group})
        for number in range(5)
        for group in ("France", "Peru")
    ),
)
FILE = {
    "suite_hash": SUITE.hash,
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "coast", "a": "France", "b": "Peru"}],
}
MONITOR_PATHS = (
    "/v1/monitors",
    "/v1/monitors/first",
    "/v1/monitors/first/history",
    "/v1/monitors/first/windows",
    "/v1/monitors/first/alarms",
    "/v1/status",
    "/monitors/first",
    "/monitors/first/history.csv",
    "/monitors/first/charts.json",
    "/",
)


class Statements:
    """Counts the statements that a store executes."""

    def __init__(self, store: Store) -> None:
        self._count = 0
        event.listen(store.engine, "before_cursor_execute", self._add)

    def _add(self, *_: object) -> None:
        self._count += 1

    def take(self) -> int:
        """Return the number of statements since the last call."""
        count, self._count = self._count, 0
        return count


def store_runs(store: Store, first: int, last: int) -> None:
    """Store runs that have ended, each of a suite of its own."""
    for number in range(first, last):
        run = make_run(at=AT + timedelta(minutes=number), suite_hash=f"{number:032x}")
        probe = make_probe(number, run_id=run.id)
        response = make_response(number, probe=probe)
        ids = {"run_id": run.id, "probe_id": probe.id, "response_id": response.id}
        diagnosis = make_diagnosis(run_id=run.id, target=run.targets[0].name)
        store.records.write([run, response, make_features(number, **ids), diagnosis])
        end_run(store, run.id)


def test_a_list_of_sixty_runs_takes_as_many_queries_as_one_of_six(store: Store) -> None:
    statements, counts = Statements(store), []
    for first, last in ((0, 6), (6, 60)):
        store_runs(store, first, last)
        statements.take()
        listed = RunQueries(store).latest(100)
        counts.append(statements.take())
        assert [run.responses for run in listed] == [1] * last
    assert counts[0] == counts[1]


@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
async def test_pages_of_monitors_take_as_many_queries_for_more_rounds_and_monitors(
    store: Store,
) -> None:
    store.suites.keep(SUITE, AT)
    store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
    statements, watch = Statements(store), CloseRounds(store, now=lambda: datetime.now(UTC))
    async with (
        web_server(api_on(store), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as api,
    ):

        async def grow(names: tuple[str, ...], rounds: range) -> None:
            for name in names:
                reply = await api.post("/v1/monitors", json={**FILE, "name": name})
                assert reply.is_success, reply.text
                monitor = Monitor.model_validate(reply.json()["monitor"])
                for number in rounds:
                    play(store, watch, monitor, number, lambda *_: {"words": 1.0})

        async def counts() -> dict[str, int]:
            result = {}
            for path in MONITOR_PATHS:
                statements.take()
                reply = await api.get(path)
                assert reply.status_code == 200, (path, reply.text)
                result[path] = statements.take()
            return result

        await grow(("first",), range(2))
        few = await counts()
        await grow(("first",), range(2, 9))
        await grow(("second", "third"), range(3))
        assert await counts() == few
