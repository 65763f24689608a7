"""SQL views for Grafana on a real PostgreSQL: what they hold, and what their reader may read."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from biaswatch.integrations.dataset import finding_rows, group_rows
from biaswatch.integrations.dataset_schema import DatasetFinding, DatasetGroup, DatasetRow
from biaswatch.shared.contracts import Estimate, Gap, GroupSummary, Verdict
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.engine import engine_of
from tests.support.records import AT, make_alarm, make_diagnosis, make_response, make_run

ROOT = Path(__file__).parents[3]
VIEWS = (ROOT / "deploy" / "grafana" / "views.sql").read_text()
BOARD = json.loads(
    (ROOT / "deploy" / "helm" / "biaswatch" / "files" / "dashboards" / "findings.json").read_text()
)
RUN = make_run()
GROUPS = tuple(
    GroupSummary(
        group=name, responses=4, missing=missing, units=4, mean=Estimate(value=7, low=6, high=8)
    )
    for name, missing in (("France", 0), ("Peru", 1), ("Chad", 4))
)
SIDES = (("France", "Peru"), ("France", "Chad"), ("Chad", "the rest"), ("Peru", "the rest"))
GAPS = (
    *(
        Gap(a=a, b=b, gap=Estimate(value=1, low=0.5, high=2), verdict=Verdict.DISPARITY)
        for a, b in SIDES
    ),
    Gap(a="Peru", b="France", gap=Estimate(reason="no units"), verdict=Verdict.INCONCLUSIVE),
)
FIRST = make_diagnosis(run_id=RUN.id, groups=GROUPS, gaps=GAPS[:1])
LAST = make_diagnosis(
    run_id=RUN.id, completion_id="c" * 32, at=AT + timedelta(days=1), groups=GROUPS, gaps=GAPS
)
RAISED = [make_alarm(), make_alarm(occasion=1, at=AT + timedelta(days=2), words="Peru is worse.")]
CLEARED = make_alarm(state="cleared", at=AT + timedelta(days=1))
MACROS = {
    r"\$__timeFilter\((\w+)\)": r"\1 BETWEEN '2026-01-01' AND '2027-01-01'",
    r"\$__timeFrom\(\)": "'2026-01-01'::timestamptz",
    r"\$__timeTo\(\)": "'2027-01-01'::timestamptz",
    r"\$\{tenant:sqlstring\}": "'default'",
}
"""Macros of Grafana that its queries use, as it replaces them."""


@pytest.fixture(scope="module")
def url(postgresql_server: Any) -> str:
    """Return the URL of a store with a run that was resumed, alarms, and the views."""
    postgresql_server.psql("CREATE DATABASE viewed")
    url: str = postgresql_server.get_uri().replace("/postgres?", "/viewed?")
    migrate(url)
    with Store.open(url) as store:
        store.records.write([RUN, make_response(1), FIRST, LAST, *RAISED, CLEARED])
        for _ in range(2):
            with store.engine.begin() as connection:
                connection.exec_driver_sql(VIEWS)
    return url


@pytest.fixture
def reader(url: str) -> Iterator[Connection]:
    """Return a connection of the role that may read the views."""
    engine = engine_of(url)
    with engine.connect() as connection:
        connection.execute(text("SET ROLE biaswatch_views"))
        yield connection
    engine.dispose()


def rows(reader: Connection, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in reader.execute(text(query)).mappings()]


@pytest.mark.parametrize(
    ("view", "row", "expected"),
    [
        ("findings", DatasetFinding, list(finding_rows([LAST]))),
        ("groups", DatasetGroup, list(group_rows([LAST]))),
    ],
)
def test_a_view_has_the_rows_of_an_exported_dataset(
    reader: Connection, view: str, row: type[DatasetRow], expected: list[DatasetRow]
) -> None:
    columns = ", ".join(row.model_fields)
    result = rows(reader, f"SELECT {columns} FROM biaswatch_v1.{view}")
    assert result == [entry.model_dump() for entry in expected]


def test_a_run_counts_its_answers(reader: Connection) -> None:
    [run] = rows(reader, "SELECT * FROM biaswatch_v1.runs")
    assert (run["run_id"], run["suite"], run["targets"]) == (
        RUN.id,
        "countries",
        ["replay:answers"],
    )
    assert (run["time"], run["concluded"]) == (AT, None)


def test_an_alarm_lasts_until_it_is_cleared(reader: Connection) -> None:
    first, second = rows(reader, "SELECT * FROM biaswatch_v1.alarms ORDER BY time")
    assert (first["time"], first["cleared"]) == (AT, CLEARED.at)
    assert (second["time"], second["cleared"]) == (RAISED[1].at, None)
    assert second["description"] == "Peru is worse."
    assert (second["gap"], second["kind"]) == (0.5, "disparity")


@pytest.mark.parametrize("table", ["text", "response", "suite", "diagnosis"])
def test_the_reader_reads_nothing_but_views(reader: Connection, table: str) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        reader.execute(text(f"SELECT * FROM public.{table}"))


def test_the_reader_changes_nothing(reader: Connection) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        reader.execute(text("DELETE FROM biaswatch_v1.diagnoses"))


def queries() -> dict[str, str]:
    """Return the queries of the dashboard by their titles."""
    panels = {panel["title"]: panel["targets"][0]["rawSql"] for panel in BOARD["panels"]}
    marks = {mark["name"]: mark["target"]["rawSql"] for mark in BOARD["annotations"]["list"]}
    variables = {
        variable["name"]: variable["query"]
        for variable in BOARD["templating"]["list"]
        if variable["type"] == "query"
    }
    return panels | {f"annotation {name}": query for name, query in marks.items()} | variables


@pytest.mark.parametrize("title", queries())
def test_a_query_of_the_dashboard_has_rows(reader: Connection, title: str) -> None:
    query = queries()[title]
    for macro, replaced in MACROS.items():
        query = re.sub(macro, replaced, query)
    assert "$" not in query
    result = rows(reader, query)
    assert result
    if title.startswith("annotation"):
        assert result[0].keys() == {"time", "timeend", "text", "tags"}
