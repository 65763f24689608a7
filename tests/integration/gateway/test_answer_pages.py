"""From a run to its questions and answers, over real HTTP: filters, twins, files, rights."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from lxml import html

from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    Ending,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Record,
    Run,
    Step,
    Suite,
    SuiteProbe,
    probes_of,
)
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.contracts.tools import ToolStep
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.api import api_on
from tests.support.records import make_run
from tests.support.records.pipeline import make_response
from tests.support.waiting import PATIENCE_S

NASTY = "<script>alert('x')</script>"
SETS, DRY = 15, 5
SUITE = Suite(
    name="coasts",
    extractors=("words",),
    strata=("season",),
    probes=tuple(
        SuiteProbe(
            key=f"{n:02}-{group}",
            prompt=f"On {group}?",
            set=f"s{n:02}",
            groups={"c": group},
            facts={"season": "dry" if n < DRY else "wet"},
        )
        for n in range(SETS)
        for group in ("Chile", "Peru")
    ),
)
RUN = make_run(
    suite=SUITE.name, suite_hash=SUITE.hash, extractors=(ExtractorPin(name="words", version="1"),)
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.suites.keep(SUITE, datetime.now(UTC))
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
        store.records.write([RUN, *answers_to(RUN)])
        yield store


def answers_to(run: Run) -> Iterator[Record]:
    """Answer every question; Peru's answers are longer, and the last set's have no number."""
    for probe in probes_of(run, SUITE, run.at):
        words = 9.0 if probe.groups["c"] == "Peru" else 4.0
        step = ToolStep(step=1, name="look_up", result=f"{NASTY} coast")
        response = make_response(
            probe=probe, text=f"{NASTY} {probe.groups['c']} has a coast", tool_steps=(step,)
        )
        yield response
        unscorable = "nothing to read" if probe.set_id == "s14" else None
        yield Features(
            at=run.at, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor="words", extractor_version="1",
            values={} if unscorable else {"words": words}, unscorable=unscorable,
        )  # fmt: skip


@asynccontextmanager
async def browser(
    store: Store, settings: GatewaySettings | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        web_server(api_on(store, settings), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


async def shown(client: httpx2.AsyncClient, query: str) -> list[str]:
    """Return the keys of the answers on a page."""
    page = html.fromstring((await client.get(f"/runs/{RUN.id}/answers?{query}")).text)
    return [item.text_content() for item in page.xpath("//article//h2/small/bdi")]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("set=s03", 2),
        ("group=c%3DPeru&set=s03", 1),
        ("q=PERU+has", SETS),
        ("feature=words.words&low=5", SETS - 1),
        ("feature=words.words&low=&high=5&group=c%3DPeru", 0),
        ("missing=any", 2),
        ("missing=nothing+to+read&group=c%3DChile", 1),
        ("target=nobody", 0),
        ("group=season%3Ddry", 2 * DRY),
        ("group=season%3Ddry&feature=words.words&low=5", DRY),
        ("group=season%3Dnever", 0),
    ],
)
async def test_answers_are_found_by_what_is_known_of_them(
    store: Store, query: str, count: int
) -> None:
    async with browser(store) as client:
        assert len(await shown(client, query)) == count


async def test_pages_go_on_where_the_last_one_ended(store: Store) -> None:
    async with browser(store) as client:
        first = html.fromstring((await client.get(f"/runs/{RUN.id}/answers")).text)
        [further] = first.xpath("//a[@class='next']/@href")
        keys = [*await shown(client, ""), *await shown(client, further.partition("?")[2])]
        assert keys == [probe.key for probe in SUITE.probes]


async def test_texts_stay_text_and_twins_stand_side_by_side(store: Store) -> None:
    async with browser(store) as client:
        reply = await client.get(f"/runs/{RUN.id}/twins?set=s03&higher=Peru&lower=Chile")
        page = html.fromstring(reply.text)
    assert not page.xpath("//script")
    assert NASTY in page.text_content()
    assert {item.text_content().strip() for item in page.xpath("//mark")} == {"Chile", "Peru"}
    numbers = page.xpath("//tbody//td[@class='number']")
    assert [number.text_content().strip() for number in numbers] == ["4", "9"]


@pytest.mark.parametrize("page", ["answers", "twins"])
async def test_calls_of_tools_are_listed_as_text(store: Store, page: str) -> None:
    async with browser(store) as client:
        reply = await client.get(f"/runs/{RUN.id}/{page}?set=s03")
    steps = html.fromstring(reply.text).xpath("//ol[@class='steps']/li")
    assert [step.text_content() for step in steps] == [f"look_up {{}}: {NASTY} coast"] * 2


async def test_a_conversation_that_failed_shows_its_replies_and_the_reason(store: Store) -> None:
    run = make_run(
        suite=SUITE.name, suite_hash=SUITE.hash, extractors=RUN.extractors,
        scaffolds=("conversation",), at=RUN.at + timedelta(days=1),
    )  # fmt: skip
    probe = next(iter(probes_of(run, SUITE, run.at)))
    failed = make_response(
        probe=probe, ending=Ending.FAILED, text=None, reason="timeout",
        steps=(Step(name="turn:1"), Step(name="turn:2", reason="timeout")), said={"turn:1": "Hi."},
    )  # fmt: skip
    store.records.write([run, failed])
    async with browser(store) as client:
        for page in ("answers", "twins"):
            reply = await client.get(f"/runs/{run.id}/{page}?set={probe.set_id}")
            shown = html.fromstring(reply.text).text_content()
            assert "Reply 1: Hi." in shown
            assert "failed: timeout" in shown


async def test_the_file_has_every_answer_that_fits(store: Store) -> None:
    async with browser(store) as client:
        lines = (await client.get(f"/runs/{RUN.id}/answers.csv?group=c%3DPeru")).text.splitlines()
    assert lines[0].startswith("key,set,target")
    assert len(lines) == 1 + SETS


async def test_who_may_not_read_texts_sees_numbers_and_cannot_search(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "tokens.yaml"
    entry = {"name": "anna", "role": "read", "texts": False, "verifier": verifier_of("t")}
    path.write_text(json.dumps({"tokens": [entry]}))
    settings = GatewaySettings(gateway_tokens_file=path)
    async with browser(store, settings) as client:
        client.headers["Authorization"] = "Bearer t"
        assert len(await shown(client, "q=nowhere&set=s03")) == 2
        for what in ("answers?set=s03", "twins?set=s03", "answers.csv?set=s03"):
            text = (await client.get(f"/runs/{RUN.id}/{what}")).text
            assert "coast" not in text.replace("coasts", "")
            assert "On Peru" not in text
            assert "9" in text
