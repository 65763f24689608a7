"""What an export writes, `diagnose` reads with the same numbers, to the last digit."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pandas as pd
import pytest

from biaswatch.exporting.answers import exported_rows, runs_named, write_rows
from biaswatch.local.client import GatewayClient
from biaswatch.readers.run_observations import RunColumns, run_observations
from biaswatch.readers.run_tables import RunTable
from biaswatch.readers.tables import TableColumns
from biaswatch.render.table_rows import result_rows
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.table_diagnosis import diagnose_table
from biaswatch.shared.contracts import Ending, Response, probes_of
from biaswatch.shared.contracts.access import TokenGrant, TokenRole, TokensFile, verifier_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.store import Store, migrate
from tests.support.api import CheckedPublisher
from tests.support.measured_runs import AT, make_measured_run, make_suite, write_measured_run
from tests.support.tables import observations
from tests.support.waiting import PATIENCE_S

SUITE = make_suite(sets=8)
RUN = make_measured_run(SUITE)
PROBES = list(probes_of(RUN, SUITE, AT))
ANSWERED = 40
ENDINGS = (".parquet", ".csv", ".jsonl")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Make a store with a measured run; the answers to its first questions are there."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        write_measured_run(store, RUN, SUITE)
        store.records.write(
            Response(at=AT, probe=probe, ending=Ending.ANSWERED, text=f'Words, "{n}"\nof it.')
            for n, probe in enumerate(PROBES[:ANSWERED])
        )
        yield store


@pytest.fixture
async def url(store: Store, tmp_path: Path) -> AsyncIterator[str]:
    grants = [
        TokenGrant(name=name, role=TokenRole.READ, texts=texts, verifier=verifier_of(name))
        for name, texts in (("reader", True), ("numbers", False))
    ]
    file = tmp_path / "tokens.yaml"
    file.write_text(TokensFile(tokens=tuple(grants)).model_dump_json(exclude_none=True))
    settings = GatewaySettings(gateway_tokens_file=file)
    app = web_app(settings, store, CheckedPublisher())  # type: ignore[arg-type]
    async with web_server(app, "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"


async def export(url: str, path: Path, name: str = "reader") -> Path:
    client = GatewayClient(url, name)
    try:
        runs = await runs_named(client, RUN.id, None)
        assert await write_rows(exported_rows(client, runs), path) == len(PROBES)
    finally:
        await client.close()
    return path


def compared(seen: Observations) -> list[dict[str, Any]]:
    result = diagnose_table(
        seen, [parse_statistic("mean", {})], ComparisonPlan(), ddof=0,
        rng=np.random.default_rng(0), permutations=0,
    )  # fmt: skip
    parts = result_rows(result, "unit")
    named = {"feature", "dimension"}
    rows = [
        {name: value for name, value in row.items() if name not in named}
        for row in (*parts["comparisons"], *parts["missingness"])
    ]
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.parametrize("ending", ENDINGS)
async def test_diagnose_reads_what_export_wrote_with_the_same_numbers(
    url: str, tmp_path: Path, ending: str
) -> None:
    path = await export(url, tmp_path / f"run{ending}")
    client = GatewayClient(url, "reader")
    table = RunTable(await client.analysis(RUN.id))
    async for answer in client.measurements(RUN.id):
        table.add(answer)
    await client.close()
    of_run = run_observations(table, RunColumns(groups=["race"], features=["sentiment"]))
    columns = TableColumns(
        ["groups.race"], ["vader.sentiment"], "vader.sentiment.baseline", "unit", ["target"], "set"
    )
    of_file, _ = observations(path, columns)
    assert of_run.baseline is not None
    assert of_file.baseline is not None
    np.testing.assert_array_equal(of_file.values, of_run.values)
    np.testing.assert_array_equal(of_file.baseline, of_run.baseline)
    numbers = compared(of_run)
    assert len(numbers) == 2 * (3 + 1)  # by target: pairs of races, and missing answers
    assert compared(of_file) == numbers


async def test_an_export_has_texts_groups_facts_versions_and_why_something_is_missing(
    url: str, tmp_path: Path
) -> None:
    frame = pd.read_parquet(await export(url, tmp_path / "run.parquet"))
    first = frame.iloc[0]
    assert first["text"] == 'Words, "0"\nof it.'
    (asked,) = json.loads(first["messages"])
    assert asked == {"role": "user", "content": "What does the asian female neighbour 0 do?"}
    assert (first["groups.race"], first["facts.source"]) == ("asian", "source-0")
    assert (first["baseline"], first["vader.version"]) == ("Neighbour 0 works.", "1")
    assert set(frame["vader.missing"].dropna()) == {"refused", "did not arrive"}
    assert frame["id"].is_unique


async def test_who_may_read_no_texts_exports_the_numbers_alone(url: str, tmp_path: Path) -> None:
    frame = pd.read_parquet(await export(url, tmp_path / "run.parquet", "numbers"))
    there = set(frame.dropna(axis=1, how="all").columns)
    assert not {"text", "messages", "baseline"} & there
    assert "vader.sentiment" in there


async def test_pages_are_the_whole_and_filters_a_part_of_it(url: str) -> None:
    headers = {"Authorization": "Bearer reader"}
    where = f"/v1/runs/{RUN.id}/responses"
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_S) as api:
        after, ids = "", []
        while after is not None:
            page = (await api.get(f"{where}?limit=37&after={after}")).json()
            ids += [answer["response_id"] for answer in page["answers"]]
            after = page["after"]
        assert len(ids) == len(set(ids)) == len(PROBES)
        some = await api.get(f"{where}?limit=36&group=race%3Dblack&group=gender%3Dmale")
        assert [answer["key"] for answer in some.json()["answers"]] == [
            f"s{number}.black.male" for number in range(6)
        ]
        assert (await api.get(f"/v1/runs/{RUN.id}/features?limit=0")).status_code == 422
        assert (await api.get(f"/v1/runs/{'0' * 32}/features")).status_code == 404
        assert (await api.get("/v1/monitors/nobody/runs")).status_code == 404


async def test_who_names_nothing_that_is_there_is_told_so(url: str, tmp_path: Path) -> None:
    client = GatewayClient(url, "reader")
    with pytest.raises(UsageError, match="not the id or the name of a run, a monitor, or a"):
        await runs_named(client, "nobody", None)
    with pytest.raises(UsageError, match=r"must end in one of \.csv, \.jsonl, \.parquet"):
        await write_rows(exported_rows(client, []), tmp_path / "run.txt")
    await client.close()
