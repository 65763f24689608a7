"""What judges judged is handed out to label elsewhere, to whoever may read it and nobody else."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    DimensionScore,
    Finding,
    LabelSample,
    Response,
    Run,
    derived_id,
    probes_of,
)
from biaswatch.shared.contracts.access import TokenRole, verifier_of
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bbq_rows import make_bbq_row
from tests.support.bus import ProvisionedBus
from tests.support.records import AT, make_brief, make_evaluation, make_run, make_verdict
from tests.support.waiting import PATIENCE_S

PAIRS = 30
SUITE = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(2 * PAIRS)], name="rows")
SAID = "the spoken secret"
READER, BLIND, OTHER = "reads-texts", "reads-numbers", "another-tenant"


@dataclass
class JudgedTexts:
    client: httpx2.AsyncClient
    store: Store
    run: Run
    truth: dict[str, float]

    async def ask(self, what: str, name: str = READER, body: Any = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {name}"}
        where = f"/v1/runs/{self.run.id}/labels{what}"
        verb = "GET" if body is None else "POST"
        return await self.client.request(verb, where, headers=headers, json=body)

    async def drawn(self, feature: str) -> LabelSample:
        body = {"feature": feature, "wanted": PAIRS, "low": 0, "high": 1}
        reply = await self.ask("/samples", body=body)
        assert reply.status_code == 201, reply.text
        return LabelSample.model_validate(reply.json()["sample"])

    async def tasks(self, sample: LabelSample, query: str = "", name: str = READER) -> Any:
        reply = await self.ask(f"/samples/{sample.id}/tasks{query}", name)
        assert reply.status_code == 200, reply.text
        return reply.json()


def tokens_file(path: Path) -> Path:
    entries = [
        {"name": name, "role": TokenRole.RUN.value, "tenant": tenant, "texts": texts,
         "verifier": verifier_of(name)}
        for name, tenant, texts in (
            (READER, "default", True), (BLIND, "default", False), (OTHER, "other", True)
        )
    ]  # fmt: skip
    path.write_text(yaml.safe_dump({"tokens": entries}))
    return path


def write_judged(store: Store) -> Run:
    """Write a run of pairs that were judged, and reports that were graded in it."""
    run = make_run(suite="rows", suite_hash=SUITE.hash, scaffolds=("reason_and_choose",))
    store.suites.keep(SUITE, AT)
    probes = list(probes_of(run, SUITE, AT))
    result: list[Any] = [run]
    for probe in probes:
        result.append(Response(at=AT, probe=probe, ending="answered", text=f"{SAID}. Answer: A"))
        if probe.facts["side"] == "a":
            result.append(
                make_verdict(
                    run_id=run.id, pair_id=derived_id("pair", probe.set_id),
                    set_id=probe.set_id, target=probe.target.name, facts={"category": "Regions"},
                    corrected={"own_a": Finding(value=True, verdicts=1)}, flags={},
                    chosen=("A", "A"),
                )
            )  # fmt: skip
    for number in range(PAIRS):
        brief = make_brief(run_id=run.id, nonce=str(number))
        score = DimensionScore(dimension="limitations", mean=0.5, scored=1, asked=1)
        fields = {"brief_id": brief.id, "run_id": run.id, "dimensions": (score,)}
        result += [brief, make_evaluation(**fields, report=f"{SAID} in report {number}")]
    store.records.write(result)
    return run


@pytest.fixture
async def judged(bus: ProvisionedBus, store: Store, tmp_path: Path) -> AsyncIterator[JudgedTexts]:
    run = write_judged(store)
    settings = GatewaySettings(gateway_tokens_file=tokens_file(tmp_path / "tokens.yaml"))
    async with (
        web_server(web_app(settings, store, bus.publisher), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield JudgedTexts(client, store, run, {})


@pytest.mark.parametrize("feature", ["oracle.own_a", "evaluator.limitations"])
async def test_what_was_judged_comes_in_the_order_of_the_queue_page_by_page(
    judged: JudgedTexts, feature: str
) -> None:
    sample = await judged.drawn(feature)
    order = [item.response_id for item in sample.drawn]
    whole = await judged.tasks(sample)
    assert ([task["response_id"] for task in whole["tasks"]], whole["after"]) == (order, None)
    assert all(SAID in task["answer"] for task in whole["tasks"])
    first = await judged.tasks(sample, "?limit=20")
    rest = await judged.tasks(sample, f"?limit=20&after={first['after']}")
    assert first["tasks"] + rest["tasks"] == whole["tasks"]
    assert rest["after"] is None


async def test_a_pair_has_the_side_that_is_asked_about_and_nothing_of_group_or_verdict(
    judged: JudgedTexts,
) -> None:
    task = (await judged.tasks(await judged.drawn("oracle.own_a")))["tasks"][0]
    assert task["question"].startswith("In village ")
    assert task["answer"].startswith("Question: Who kept")
    assert task["answer"].count("Reasoning: ") == 1
    assert set(task) == {"response_id", "question", "answer"}
    assert "Regions" not in f"{task}"


@pytest.mark.parametrize("feature", ["oracle.own_a", "evaluator.limitations"])
async def test_texts_are_kept_from_whoever_may_not_read_them_and_from_other_tenants(
    judged: JudgedTexts, feature: str
) -> None:
    sample = await judged.drawn(feature)
    blind = await judged.tasks(sample, name=BLIND)
    assert {(task["question"], task["answer"]) for task in blind["tasks"]} == {("", "")}
    for name, code in ((OTHER, 404), ("nobody", 401)):
        reply = await judged.ask(f"/samples/{sample.id}/tasks", name)
        assert reply.status_code == code
        assert SAID not in reply.text
    assert (await judged.ask(f"/samples/{'f' * 32}/tasks")).status_code == 404


async def test_a_purged_unit_has_no_text_left_to_label(judged: JudgedTexts) -> None:
    sample = await judged.drawn("oracle.own_a")
    unit = next(probe.unit_id for probe in probes_of(judged.run, SUITE, AT))
    judged.store.purges.unit(unit, AT)
    left = (await judged.tasks(sample))["tasks"]
    assert [item["response_id"] for item in left if not item["answer"]] == [
        derived_id("pair", unit)
    ]
    assert [item["question"] for item in left if not item["answer"]] == [""]
