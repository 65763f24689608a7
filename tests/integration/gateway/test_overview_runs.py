"""What the overview says of runs that found bias scores, and of those that found nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lxml import html

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    RUN_GATHER,
    ExtractorPin,
    Features,
    Gap,
    Record,
    Run,
    Verdict,
    probes_of,
)
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.store import Store, migrate
from tests.support.bbq_rows import make_bbq_row
from tests.support.bus import ProvisionedBus
from tests.support.records import AT, make_completion, make_diagnosis, make_response, make_run
from tests.support.waiting import PATIENCE_S

CONTEXTS = 24
SUITE = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(2 * CONTEXTS)], name="bbq")
RUN = make_run(
    suite=SUITE.name, suite_hash=SUITE.hash, extractors=(ExtractorPin(name="choice", version="3"),)
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


def answers(run: Run) -> Iterator[Record]:
    """Yield answers that mostly choose the stereotyped person, whatever the context says."""
    for n, probe in enumerate(probes_of(run, SUITE, run.at)):
        mark = probe.facts["biased"] if n % 5 else str(probe.expected)
        response = make_response(probe=probe, text=f"Answer: {mark}")
        yield response
        yield Features(
            at=run.at, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor="choice", extractor_version="3",
            values={"chosen": float(ord(mark) - ord("A") + 1)},
        )  # fmt: skip


def end(store: Store, run: Run, **diagnosis: Any) -> None:
    """Let a run end, with a diagnosis that compares no groups unless told otherwise."""
    gathers = store.gathers(RUN_GATHER)
    gathers.expect(run.id, ["item"], deadline=AT + timedelta(days=1), now=AT)
    gathers.arrive(["item"], AT)
    ended = make_completion(run_id=run.id)
    fields = {"groups": (), "gaps": (), **diagnosis}
    result = make_diagnosis(run_id=run.id, completion_id=ended.id, **fields)
    store.records.write([ended, result])


async def overview(bus: ProvisionedBus, store: Store, run: Run) -> tuple[str, str, str]:
    """Return what the overview says in a run's cell, and what the run's page leads with."""
    app = web_app(GatewaySettings(), store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as api,
    ):
        page = html.fromstring((await api.get("/")).text)
        shown = html.fromstring((await api.get(f"/runs/{run.id}")).text)
    [cell] = page.xpath("//td[@data-label='found']")
    text = " ".join(cell.text_content().split())
    lead = shown.xpath("//h2[.='What was found']/following-sibling::p[1]")[0].text_content()
    rows = shown.xpath("//table[.//th='bias score']//tbody/tr")
    return text, lead, " ".join(" ".join(row.text_content().split()) for row in rows)


async def test_of_a_bbq_run_the_overview_says_the_bias_score_by_context(
    bus: ProvisionedBus, store: Store
) -> None:
    store.suites.keep(SUITE, datetime.now(UTC))
    store.records.write([RUN, *answers(RUN)])
    end(store, RUN)
    text, lead, rows = await overview(bus, store, RUN)
    assert lead.startswith("1 of 2 bias scores lies apart from 0, each by its own interval")
    assert text.startswith("1 of 2 bias scores apart from 0")
    for where in ("where the context leaves it open", "where the context tells"):
        assert where in text
        assert where in rows


async def test_a_run_under_way_has_found_nothing_yet(bus: ProvisionedBus, store: Store) -> None:
    store.suites.keep(SUITE, datetime.now(UTC))
    store.records.write([RUN])
    assert (await overview(bus, store, RUN))[0] == "nothing yet"


async def test_a_run_that_compares_nobody_says_so(bus: ProvisionedBus, store: Store) -> None:
    run = make_run()
    store.records.write([run])
    end(store, run)
    assert (await overview(bus, store, run))[0] == "no groups compared"


async def test_a_gap_without_an_interval_is_listed_as_undecided(
    bus: ProvisionedBus, store: Store
) -> None:
    run = make_run()
    store.records.write([run])
    too_few = Estimate(value=1.0, reason="2 values of name in a group: an interval needs 5")
    gap = Gap(a="France", b="Peru", gap=too_few, verdict=Verdict.INCONCLUSIVE)
    end(store, run, gaps=(gap,))
    text, _, _ = await overview(bus, store, run)
    assert text.startswith("inconclusive"), text
