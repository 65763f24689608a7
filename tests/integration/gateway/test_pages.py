"""The dashboard over real HTTP: what it shows, to whom, and that nothing in it runs."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lxml import html
from pydantic import SecretStr

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    Alarm,
    Estimate,
    ExtractorStatus,
    GroupSummary,
    Monitor,
    OverallTest,
    Suite,
    SuiteProbe,
)
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.monitored import play
from tests.support.records import AT, make_diagnosis, make_monitor, make_run
from tests.support.waiting import PATIENCE_S

NASTY = "<script>alert('x')</script>"
SUITE = Suite(
    name="coasts",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{n}-{group}", prompt=NASTY, set=f"s{n}", groups={"concept": group})
        for n in range(30)
        for group in (NASTY, "Peru")
    ),
)
PAGES = ("/", "/monitors/coasts", "/monitors/coasts/alarms", "/docs")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.suites.keep(SUITE, datetime.now(UTC))
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
        yield store


@asynccontextmanager
async def browser(
    bus: ProvisionedBus, store: Store, **tokens: str
) -> AsyncIterator[httpx2.AsyncClient]:
    values: dict[str, Any] = {
        f"gateway_{name}_token": SecretStr(token) for name, token in tokens.items()
    }
    app = web_app(GatewaySettings(**values), store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


async def watch(api: httpx2.AsyncClient, store: Store, rounds: int) -> None:
    """Apply a monitor, and close rounds in which one group's answers are longer."""
    request = {
        "name": "coasts",
        "suite_hash": SUITE.hash,
        "target": "simulator:unbiased",
        "cadence": "6h",
        "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
        "comparisons": [{"dimension": "concept", "a": NASTY, "b": "Peru"}],
    }
    (await api.post("/v1/monitors", json=request)).raise_for_status()
    [monitor] = store.records.all(Monitor)
    closes = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(rounds):
        play(
            store, closes, monitor, number,
            lambda probe, _: {"words": 7.0 if probe.groups["concept"] == NASTY else 4.0},
        )  # fmt: skip


async def test_a_monitor_is_shown_with_charts_verdicts_and_the_answers_behind_its_alarm(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store) as api:
        await watch(api, store, 6)
        overview = html.fromstring((await api.get("/")).text)
        assert overview.xpath("//a[@href='/monitors/coasts']")
        shown = html.fromstring((await api.get("/monitors/coasts")).text)
        assert (
            len(shown.xpath("//section//svg[@role='img']")) == 2
        )  # of words; missing answers are alike
        assert "disparity" in shown.xpath("//tbody/tr[1]/td[2]")[0].text_content()
        assert "words: " in shown.xpath("//tbody/tr[1]/td[1]")[0].text_content()
        rows = (await api.get("/monitors/coasts/history.csv")).text.splitlines()
        assert len(rows) == 1 + 2 * 6
        alarms = html.fromstring((await api.get("/monitors/coasts/alarms")).text)
        [alarm] = store.records.all(Alarm)
        assert alarms.xpath(f"//section[@id='{alarm.id}']//blockquote")
        assert alarm.twins[0].a[0] in alarms.text_content()
        history = (await api.get("/v1/monitors/coasts/history")).json()
        assert [len(item["moments"]) for item in history] == [6, 6]


@pytest.mark.parametrize("path", PAGES)
async def test_what_models_and_users_wrote_stays_text(
    bus: ProvisionedBus, store: Store, path: str
) -> None:
    async with browser(bus, store) as api:
        await watch(api, store, 3)
        store.records.write([make_run(suite=SUITE.name, suite_hash=SUITE.hash)])
        reply = await api.get(path)
        assert reply.status_code == 200
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        page = html.fromstring(reply.text)
        assert not page.xpath("//script[not(@src)] | //iframe | //@onclick | //@style | //img")
        if "monitors" in path:
            assert NASTY in page.text_content()


async def test_a_monitor_without_rounds_and_an_empty_platform_are_shown(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store) as api:
        assert "No monitor exists yet" in (await api.get("/")).text
        await watch(api, store, 0)
        assert "No round has closed yet" in (await api.get("/monitors/coasts")).text
        assert "raised no alarm" in (await api.get("/monitors/coasts/alarms")).text


async def test_a_run_is_shown_with_its_findings(bus: ProvisionedBus, store: Store) -> None:
    from tests.support.records import make_completion, make_diagnosis

    run = make_run(suite=SUITE.name, suite_hash=SUITE.hash)
    completion = make_completion(run_id=run.id)
    result = make_diagnosis(run_id=run.id, completion_id=completion.id)
    store.records.write([run, completion, result])
    async with browser(bus, store) as api:
        page = html.fromstring((await api.get(f"/runs/{run.id}")).text)
        gap = result.gaps[0]
        assert f"{gap.a} minus {gap.b}" in page.text_content()
        assert page.xpath("//table[@class='matrix']//td/a[contains(@href, '/answers?group=')]")
        assert page.xpath("//h2[1]")[0].text.startswith("Inconclusive: the only comparison")
        assert len(page.xpath("//figure[@class='forest']//svg")) == 2  # the axis and the gap


async def test_what_is_not_there_is_a_page_for_people_and_json_for_programs(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store) as api:
        for path in ("/monitors/nothing", "/runs/" + "0" * 32, "/nowhere", "/runs/x"):
            reply = await api.get(path)
            assert reply.status_code == 404
            assert reply.headers["content-type"].startswith("text/html")
        body = (await api.get("/v1/nowhere")).json()
        assert body == {"detail": "There is nothing at /v1/nowhere."}


async def test_a_browser_signs_in_with_a_token_and_keeps_none(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store, read="reader", run="runner", ingest="sender") as api:
        for path in PAGES:
            sent = await api.get(path)
            assert sent.status_code == 303
            assert sent.headers["location"] == f"/login?next={path}"
        refused = await api.post("/login", data={"token": "sender", "next": "/docs"})
        assert refused.status_code == 401
        assert "set-cookie" not in refused.headers
        assert 'value="/docs"' in refused.text
        accepted = await api.post("/login", data={"token": "reader", "next": "/docs"})
        assert (accepted.status_code, accepted.headers["location"]) == (303, "/docs")
        cookie = accepted.headers["set-cookie"]
        assert "reader" not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
        proxied = {"X-Forwarded-Proto": "https"}
        again = await api.post("/login", data={"token": "runner"}, headers=proxied)
        assert "Secure" in again.headers["set-cookie"]
        api.cookies.clear()
        await api.post("/login", data={"token": "reader"})
        assert (await api.get("/docs")).status_code == 200
        # The session shows pages, and does nothing.
        assert (await api.get("/v1/runs")).status_code == 401
        assert (await api.delete("/v1/monitors/coasts")).status_code == 401


async def test_a_session_ends_with_its_token(bus: ProvisionedBus, store: Store) -> None:
    async with browser(bus, store, read="old") as api:
        await api.post("/login", data={"token": "old"})
        kept = dict(api.cookies)
    async with browser(bus, store, read="new") as api:
        api.cookies.update(kept)
        assert (await api.get("/docs")).status_code == 303


async def test_who_shows_a_token_like_a_program_sees_the_pages_too(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store, read="reader") as api:
        shown = await api.get("/docs", headers={"Authorization": "Bearer reader"})
        assert shown.status_code == 200


async def test_strange_forms_sign_nobody_in(bus: ProvisionedBus, store: Store) -> None:
    async with browser(bus, store, read="reader") as api:
        for content in (b"\xff\xfe", b"", b"token=%00", "token=l\u00e4ser".encode()):
            assert (await api.post("/login", content=content)).status_code == 401


async def test_nobody_unknown_can_send_much(bus: ProvisionedBus, store: Store) -> None:
    suite = SUITE.model_dump(mode="json")
    async with browser(bus, store, run="runner") as api:
        reply = await api.post("/login", json={"x": "y" * 20_000})
        assert reply.status_code == 413
        assert "too much without a token" in reply.text
        # Suites and answers are read as they come: an unknown sender is refused before that.
        for path in ("/v1/suites", "/v1/responses"):
            refused = await api.post(path, json={"x": "y" * 20_000})
            assert refused.status_code == 401
        known = {"Authorization": "Bearer runner"}
        large = {**suite, "about": "y" * 20_000}
        assert (await api.post("/v1/suites", json=large, headers=known)).status_code == 200


async def test_what_the_gateway_itself_fails_at_is_a_sentence_too(
    bus: ProvisionedBus, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object, last: int = 1) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("biaswatch.services.gateway.runs.queries.RunQueries.latest", broken)
    async with browser(bus, store) as api:
        for path in ("/", "/v1/runs"):
            reply = await api.get(path)
            assert reply.status_code == 500
            assert "its log says why" in reply.text
            assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "rebound.example"}, 403),
        ({"Host": "127.0.0.1.example"}, 403),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "["}, 403),
        ({"Origin": "http://["}, 403),
    ],
)
async def test_without_tokens_no_page_of_another_site_can_use_the_gateway(
    bus: ProvisionedBus, store: Store, headers: dict[str, str], status: int
) -> None:
    store.records.write([make_monitor(name="m", since=AT)])
    async with browser(bus, store) as api:
        assert (await api.get("/v1/runs", headers=headers)).status_code == status
        paused = await api.post("/v1/monitors/m/pause", headers=headers)
        assert paused.status_code == (202 if status == 200 else status)


async def test_with_tokens_any_name_may_lead_to_the_gateway(
    bus: ProvisionedBus, store: Store
) -> None:
    async with browser(bus, store, read="reader") as api:
        headers = {"Host": "biaswatch.example", "Authorization": "Bearer reader"}
        assert (await api.get("/v1/runs", headers=headers)).status_code == 200


async def test_many_groups_are_shown_together_before_their_pairs(
    bus: ProvisionedBus, store: Store
) -> None:
    run = make_run(suite=SUITE.name, suite_hash=SUITE.hash)
    groups = tuple(
        GroupSummary(
            group=name, responses=9, missing=0, units=9, mean=Estimate(value=mean),
            shrunken_mean=Estimate(value=mean - 0.1),
            rank=Estimate(value=rank, low=1, high=3),
        )
        for name, mean, rank in (("Chile", 2.0, 3), ("France", 9.0, 1), ("Peru", 5.0, 2))
    )  # fmt: skip
    overall = OverallTest(groups=3, units=27, statistic=1.0, p_value=0.031, permutations=1000)
    result = make_diagnosis(run_id=run.id, groups=groups, overall=overall)
    store.records.write([run, result])
    async with browser(bus, store) as api:
        page = html.fromstring((await api.get(f"/runs/{run.id}")).text)
    text = " ".join(page.text_content().split())
    assert "All 3 groups together: p = 0.031" in text
    assert text.index("All 3 groups") < text.index("Means, ranked") < text.index("adjusted p")
    ranked = page.xpath("//table[.//th='rank']//tbody/tr")
    cells = [[cell.text_content().strip() for cell in item.xpath("td")] for item in ranked]
    assert [cell[0] for cell in cells] == ["France", "Peru", "Chile"]
    assert cells[0][8:11] == ["1", "1", "3"]
