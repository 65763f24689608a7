"""What forms of pages do, for whom, and which forms are refused, over real HTTP."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import httpx2
import pytest
from lxml import html

from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.monitors.commands import MonitorCommands
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.generator.domain import scaffolds
from biaswatch.shared.contracts import (
    AuditAction,
    Cancellation,
    ExtractorStatus,
    Label,
    Monitor,
    MonitorState,
    Run,
    Suite,
    SuiteProbe,
)
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.errors import TransientError
from biaswatch.shared.presentation.overview import SCAFFOLDS
from biaswatch.shared.requests.labels import SampleRequest
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.audit import AuditFilter
from tests.support.api import api_on
from tests.support.labelled_run import write_labelled_run
from tests.support.records import AT, make_alarm, make_monitor, make_run
from tests.support.waiting import PATIENCE_S

NASTY = "<script>alert('x')</script>"
MONITOR = make_monitor(name="watched", since=AT)
RUN = make_run()
ALARM = make_alarm(
    monitor="watched",
    monitor_id=MONITOR.monitor_id,
    comparison_key=MONITOR.plan.all_comparisons[0].key,
    twins=(),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.records.write([MONITOR, RUN, ALARM])
        yield store


@asynccontextmanager
async def signed_in(store: Store, tmp_path: Path, role: str) -> AsyncIterator[httpx2.AsyncClient]:
    path = tmp_path / "tokens.yaml"
    entry = {"name": "anna", "role": role, "texts": True, "verifier": verifier_of("t")}
    path.write_text(json.dumps({"tokens": [entry]}))
    settings = GatewaySettings(gateway_tokens_file=path)
    async with (
        web_server(api_on(store, settings), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        assert (await client.post("/login", data={"token": "t"})).status_code == 303
        yield client


async def form_on(client: httpx2.AsyncClient, page: str, action: str) -> dict[str, str]:
    """Return the hidden field of the form that is sent to an address."""
    tree = html.fromstring((await client.get(page)).text)
    [token] = tree.xpath(f"//form[@action='{action}']//input[@name='form_token']/@value")
    return {"form_token": token}


async def test_a_monitor_is_paused_and_resumed_and_both_are_audited(
    store: Store, tmp_path: Path
) -> None:
    async with signed_in(store, tmp_path, "run") as client:
        for verb, state in (("pause", MonitorState.PAUSED), ("resume", MonitorState.ACTIVE)):
            action = f"/monitors/watched/{verb}"
            form = await form_on(client, "/monitors/watched", action)
            assert (await client.post(action, data=form)).status_code == 303
            last = max(store.records.all(Monitor), key=lambda item: item.moment_ms)
            assert last.state is state
    acts = [item.action.value for item in store.audit.latest(9) if item.actor == "anna"]
    assert acts == ["monitor.resume", "monitor.pause"]


async def test_a_run_is_cancelled(store: Store, tmp_path: Path) -> None:
    async with signed_in(store, tmp_path, "run") as client:
        action = f"/runs/{RUN.id}/cancel"
        form = await form_on(client, f"/runs/{RUN.id}", action)
        assert (await client.post(action, data=form)).status_code == 303
    assert [cancellation.run_id for cancellation in store.records.all(Cancellation)] == [RUN.id]


async def test_a_run_has_a_name_that_pages_and_the_api_accept(store: Store, tmp_path: Path) -> None:
    other = make_run(nonce="another")
    store.records.write([other])
    async with signed_in(store, tmp_path, "run") as client:
        action = f"/runs/{RUN.id}/describe"
        form = await form_on(client, f"/runs/{RUN.id}", action)
        form |= {"name": "before release", "tags": "nightly, v2", "note": NASTY}
        assert (await client.post(action, data=form)).status_code == 303
        page = await client.get("/runs/before%20release")
        assert "<h1>before release</h1>" in page.text
        for board in ("board", "board.html"):
            shown = await client.get(f"/runs/before%20release/{board}")
            assert "nothing to compare" in html.fromstring(shown.text).text_content()
            assert "<style>" in shown.text or board == "board"
        assert NASTY not in page.text
        bearer = {"authorization": "Bearer t"}
        for written in ("before release", RUN.id[:8]):
            shown = (await client.get(f"/v1/runs/{written}", headers=bearer)).json()
            assert (shown["run_id"], shown["described"]["tags"]) == (RUN.id, ["nightly", "v2"])
        for text, runs in (("NIGHT", [RUN.id]), ("weekly", [])):
            listed = (await client.get(f"/v1/runs?about={text}", headers=bearer)).json()
            assert [run["run_id"] for run in listed] == runs
        latest = (await client.get("/v1/runs/latest", headers=bearer)).json()["run_id"]
        assert latest == (await client.get("/v1/runs", headers=bearer)).json()[0]["run_id"]
        where = f"/v1/runs/{other.id}/description"
        taken = await client.post(where, json={"name": "before release"}, headers=bearer)
        assert (taken.status_code, "called before release already" in taken.text) == (422, True)
        assert (await client.get("/runs/no%20such", headers=bearer)).status_code == 404


async def test_an_alarm_is_acknowledged_with_a_note_that_is_kept_and_stays_text(
    store: Store, tmp_path: Path
) -> None:
    async with signed_in(store, tmp_path, "run") as client:
        page = "/monitors/watched/alarms"
        action = f"{page}/{ALARM.id}/acknowledge"
        form = await form_on(client, page, action)
        assert (await client.post(action, data={**form, "note": " "})).status_code == 422
        sent = await client.post(action, data={**form, "note": f"known {NASTY}"})
        assert sent.headers["location"] == f"{page}#{ALARM.id}"
        shown = html.fromstring((await client.get(page)).text)
        assert not shown.xpath("//script")
        assert f"known {NASTY}" in shown.text_content()
        assert "anna" in shown.text_content()


async def test_an_alarm_is_assigned_and_resolved_and_its_history_is_kept(
    store: Store, tmp_path: Path
) -> None:
    page = "/monitors/watched/alarms"
    steps: tuple[tuple[str, dict[str, str], int], ...] = (
        ("assign", {"assignee": "ben"}, 303),
        ("note", {"note": "asked the vendor"}, 303),
        ("silence", {"until": "2026-01-01T00:00"}, 422),
        ("silence", {"until": f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}"}, 303),
        ("end-silence", {"note": "the vendor answered"}, 303),
        ("resolve", {"outcome": "perhaps"}, 422),
        ("resolve", {"outcome": "true", "note": NASTY}, 303),
        ("forget", {}, 404),
    )
    async with signed_in(store, tmp_path, "run") as client:
        for step, fields, status in steps:
            action = f"{page}/{ALARM.id}/{step}"
            known = action if status != 404 else f"{page}/{ALARM.id}/note"
            form = await form_on(client, page, known)
            if status == 404:
                assert (await client.post(action, data={**form, **fields})).status_code in {
                    403,
                    404,
                }
                continue
            reply = await client.post(action, data={**form, **fields})
            assert reply.status_code == status, step
        shown = html.fromstring((await client.get(page)).text).text_content()
        overview = html.fromstring((await client.get("/")).text).text_content()
    assert "resolved, true" in shown
    assert "assigned to ben" in shown
    assert "silenced until" in shown
    assert "silence ended: the vendor answered" in shown
    assert f"watched: disparity in {ALARM.called}" in shown
    assert f"resolved as true: {NASTY}" in shown
    assert "Of 1 resolved alarm, 1 (100 %) were real" in shown
    assert "resolved, true" in overview
    acts = [item.action.value for item in store.audit.latest(9) if item.actor == "anna"]
    assert acts == ["alarm.resolve", *2 * ["alarm.silence"], "alarm.note", "alarm.assign"]


async def test_a_note_that_is_too_long_is_refused_by_its_name(store: Store, tmp_path: Path) -> None:
    page = "/monitors/watched/alarms"
    resolve, assign = (f"{page}/{ALARM.id}/{step}" for step in ("resolve", "assign"))
    async with signed_in(store, tmp_path, "run") as client:
        form = await form_on(client, page, resolve)
        reply = await client.post(resolve, data={**form, "outcome": "true", "note": "x" * 600})
        empty = await client.post(assign, data=await form_on(client, page, assign))
    assert (reply.status_code, empty.status_code) == (422, 422)
    assert (
        "The field 'note' has 600 characters, more than the 500 allowed."
        in html.fromstring(reply.text).text_content()
    )
    assert "Fill in the field 'assignee'." in html.fromstring(empty.text).text_content()


async def pressed_twice(
    client: httpx2.AsyncClient, action: str, form: dict[str, str]
) -> list[httpx2.Response]:
    """Send one form twice at once, and a third time later."""
    replies = await asyncio.gather(*(client.post(action, data=form) for _ in range(2)))
    return [*replies, await client.post(action, data=form)]


async def test_a_button_that_is_pressed_twice_does_one_thing(store: Store, tmp_path: Path) -> None:
    alarms = "/monitors/watched/alarms"
    buttons: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("/monitors/watched", "/monitors/watched/pause", {}),
        (alarms, f"{alarms}/{ALARM.id}/acknowledge", {"note": "known"}),
        (f"/runs/{RUN.id}", f"/runs/{RUN.id}/cancel", {}),
    )
    async with signed_in(store, tmp_path, "run") as client:
        for page, action, fields in buttons:
            form = {**await form_on(client, page, action), **fields}
            replies = await pressed_twice(client, action, form)
            assert {reply.status_code for reply in replies} == {303}, action
            assert len({reply.headers["location"] for reply in replies}) == 1, action
    acts = Counter(item.action.value for item in store.audit.latest(99) if item.actor == "anna")
    assert acts == {"monitor.pause": 1, "alarm.acknowledge": 1, "run.cancel": 1}
    assert store.records.count(Monitor) == 2  # as it was applied, and paused
    assert store.records.count(Cancellation) == 1


async def test_another_note_from_the_same_page_is_kept_too(store: Store, tmp_path: Path) -> None:
    page = "/monitors/watched/alarms"
    action = f"{page}/{ALARM.id}/acknowledge"
    async with signed_in(store, tmp_path, "run") as client:
        form = await form_on(client, page, action)
        for note in ("known", "mended"):
            await client.post(action, data={**form, "note": note})
    notes = [item.details["note"] for item in store.audit.latest(9) if item.actor == "anna"]
    assert notes == ["mended", "known"]


async def test_what_a_form_could_not_do_is_done_when_it_is_sent_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = "/monitors/watched/pause"
    async with signed_in(store, tmp_path, "run") as client:
        form = await form_on(client, "/monitors/watched", action)
        with monkeypatch.context() as away:
            refused = TransientError("The store does not answer.")
            away.setattr(MonitorCommands, "store_definition", Mock(side_effect=refused))
            assert (await client.post(action, data=form)).status_code == 503
        assert (await client.post(action, data=form)).status_code == 303
    last = max(store.records.all(Monitor), key=lambda item: item.moment_ms)
    assert last.state is MonitorState.PAUSED


async def test_whoever_may_only_read_sees_no_button_and_can_send_no_form(
    store: Store, tmp_path: Path
) -> None:
    async with signed_in(store, tmp_path, "read") as client:
        for page in ("/monitors/watched", "/monitors/watched/alarms", f"/runs/{RUN.id}"):
            shown = html.fromstring((await client.get(page)).text)
            assert not shown.xpath("//form[@method='post'] | //input[@name='form_token']")
        sent = await client.post("/monitors/watched/pause", data={"form_token": "x"})
        assert sent.status_code == 403
        assert "has the role read" in sent.text


@pytest.mark.parametrize("forged", ["nothing", "another action's", "another browser's"])
async def test_a_form_that_was_on_no_page_of_ours_does_nothing(
    store: Store, tmp_path: Path, forged: str
) -> None:
    async with signed_in(store, tmp_path, "run") as client:
        form = await form_on(client, "/monitors/watched", "/monitors/watched/pause")
        action = "/monitors/watched/pause"
        if forged == "nothing":
            form = {}
        elif forged == "another action's":
            action = f"/runs/{RUN.id}/cancel"
        else:
            session = client.cookies["biaswatch_session"]
            client.cookies.clear()
            client.headers["Cookie"] = f"biaswatch_session={session}; biaswatch_form=another"
        sent = await client.post(action, data=form)
        assert sent.status_code == 403
        assert "was not on a page" in sent.text
    assert [monitor.state for monitor in store.records.all(Monitor)] == [MonitorState.ACTIVE]
    assert not list(store.records.all(Cancellation))


SUITE = Suite(
    name="asked",
    extractors=("words",),
    scaffolds=("cot",),
    probes=tuple(SuiteProbe(key=x, prompt=f"{x}?", groups={"of": x}, set="1") for x in "xy"),
)
FIELDS = {"suite": SUITE.hash, "targets": "simulator:unbiased\nsimulator:biased", "repeats": "3"}


def ready_to_run(store: Store) -> None:
    now = datetime.now(UTC)
    store.suites.keep(SUITE, now)
    store.extractors.announce(ExtractorStatus("words", "1", ("words",), now))


async def test_a_run_is_started_from_a_page_once_and_audited(store: Store, tmp_path: Path) -> None:
    ready_to_run(store)
    async with signed_in(store, tmp_path, "run") as client:
        page = html.fromstring((await client.get("/start", params=FIELDS)).text)
        text_content = page.text_content()
        assert "simulator:unbiased: 6 answers" in text_content
        [form] = [form for form in page.forms if form.method == "POST"]
        fields = dict(form.form_values())
        replies = await pressed_twice(client, "/start", fields)
        assert {reply.status_code for reply in replies} == {303}
        assert len({reply.headers["location"] for reply in replies}) == 1
        overview = await client.get("/")
        assert 'href="/start"' in overview.text
    [run] = [run for run in store.records.all(Run) if run.suite == "asked"]
    assert (run.repeats, len(run.targets), run.suite_hash) == (3, 2, SUITE.hash)
    assert run.scaffolds == SUITE.scaffolds
    started = [item for item in store.audit.latest(10, AuditFilter()) if item.subject == run.id]
    assert [item.action for item in started] == [AuditAction.RUN_START]
    assert started[0].actor == "anna"


async def test_what_cannot_be_run_is_said_on_the_page(store: Store, tmp_path: Path) -> None:
    ready_to_run(store)
    wrong = (
        ({"targets": NASTY}, "target"),
        ({"targets": "openai:gpt@https://evil.example/v1"}, "does not allow"),
        ({"repeats": "many"}, "repeats"),
        ({"most_tokens": "-5"}, "tokens"),
        ({"suite": "0" * 32}, "There is no suite"),
    )
    async with signed_in(store, tmp_path, "run") as client:
        for fields, text in wrong:
            reply = await client.get("/start", params={**FIELDS, **fields})
            assert reply.status_code == 200, fields
            page = html.fromstring(reply.text)
            [alert] = page.xpath("//*[@role='alert']")
            assert text in alert.text_content(), fields
            assert not page.xpath("//form[@method='post'] | //script[not(@src)]")


async def test_whoever_may_only_read_is_shown_no_way_to_start(store: Store, tmp_path: Path) -> None:
    ready_to_run(store)
    async with signed_in(store, tmp_path, "read") as client:
        assert "/start" not in (await client.get("/")).text
        page = html.fromstring((await client.get("/start", params=FIELDS)).text)
        assert not page.forms
        assert (await client.post("/start", data=FIELDS)).status_code == 403
    assert [run.suite for run in store.records.all(Run)] == [RUN.suite]


async def test_a_run_is_started_only_from_a_page_of_ours(store: Store, tmp_path: Path) -> None:
    ready_to_run(store)
    async with signed_in(store, tmp_path, "run") as client:
        await client.get("/start", params=FIELDS)
        assert (await client.post("/start", data=FIELDS)).status_code == 403
    assert [run.suite for run in store.records.all(Run)] == [RUN.suite]


def test_the_page_offers_every_scaffold_there_is() -> None:
    assert set(SCAFFOLDS) == set(scaffolds.SCAFFOLDS)


async def test_a_label_and_its_undoing_pressed_twice_are_taken_once(
    store: Store, tmp_path: Path
) -> None:
    run, _ = write_labelled_run(store)
    runs = RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), lambda: AT)
    sample = commands.sample_for(run.id, SampleRequest(feature="rude", wanted=8))
    commands.store_records([sample])
    page = f"/runs/{run.id}/label/{sample.id}"
    async with signed_in(store, tmp_path, "run") as client:
        for item in sample.drawn[:2]:
            form = await form_on(client, page, page)
            sent = {**form, "response_id": item.response_id, "typed": "1"}
            assert {item.status_code for item in await pressed_twice(client, page, sent)} == {303}
        undoing = {**await form_on(client, page, page), "value": "u"}
        assert f'<a href="/runs/{run.id}">{run.suite}</a>' in (await client.get(page)).text
        assert {item.status_code for item in await pressed_twice(client, page, undoing)} == {303}
        drawn = {item.response_id for item in sample.drawn}
        tree = html.fromstring((await client.get(f"/runs/{run.id}/answers")).text)
        adding = [dict(form.form_values()) for form in tree.forms if "add" in form.fields]
        form = next(fields for fields in adding if fields["response_id"] not in drawn)
        for response_id, location in (("0" * 32, f"{page}?wrong=1"), (form["response_id"], page)):
            reply = await client.post(page, data=form | {"response_id": response_id})
            assert (reply.status_code, reply.headers["location"]) == (303, location)
        assert "of 9</p>" in (await client.get(page)).text
    kept = list(store.records.read(Label, run_id=run.id))
    assert sorted(item.withdrawn for item in kept) == [False, False, True]


@pytest.mark.parametrize(
    ("path", "fields", "cost"),
    [
        (
            "/start/search",
            {"space": "everyday-space", "target": "simulator:biased", "calls": "600"},
            "600 answers, a call each; the cost is unknown without an earlier run at this model.",
        ),
        (
            "/start/monitor",
            {"suite": SUITE.hash, "target": "simulator:biased", "name": "desk",  # cadence: default
             "feature": "words.words", "low": "0", "high": "9", "tolerance": "1",
             "pairs": "of=x=y"},
            "2 answers, a call each; the cost is unknown without an earlier run of asked at",
        ),
    ],
)  # fmt: skip
async def test_monitors_and_searches_show_their_cost_before_they_start(
    store: Store, tmp_path: Path, path: str, fields: dict[str, str], cost: str
) -> None:
    ready_to_run(store)
    async with signed_in(store, tmp_path, "run") as client:
        page = html.fromstring((await client.get(path, params=fields)).text)
    assert not page.xpath("//*[@role='alert']/text()")
    assert cost in " ".join(page.text_content().split())
