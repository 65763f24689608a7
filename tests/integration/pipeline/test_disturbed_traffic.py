"""Services and the bus are paused and killed around the ends of windows: every account is right."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from lxml import html

from biaswatch.shared.contracts import (
    ACCOUNTS,
    AnswerAccounts,
    Response,
    RoundEvidence,
    Window,
    account_label,
    read_at,
    total,
    window_at,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.errors import TransientError
from tests.support.disturbed_traffic import (
    VICTIMS,
    Disturbance,
    DueAnswer,
    Platform,
    Senders,
    TrafficPlan,
    disturb,
    expected_members,
    platform,
    watching,
)
from tests.support.waiting import eventually

SHORT = TrafficPlan(
    windows=7,
    window_s=5,
    answers=200,
    lateness_s=1.0,
    disturbances=tuple(
        Disturbance(window, victim, pause_s=4.0) for window, victim in enumerate(VICTIMS)
    ),
)


def full(victim: str) -> TrafficPlan:
    """Return ten windows: a pause of 40 s around the end of one, deaths at the ends of three."""
    deaths = tuple(Disturbance(window, victim) for window in (5, 6, 8))
    return TrafficPlan(10, 20, 5000, 2.0, (Disturbance(2, victim, pause_s=40.0), *deaths))


PLANNED = [
    pytest.param(SHORT, id="short"),
    *(pytest.param(full(victim), id=victim, marks=pytest.mark.slow) for victim in VICTIMS),
]


@pytest.mark.parametrize("schedule", PLANNED)
async def test_every_answer_with_its_202_in_time_is_counted_and_every_account_is_right(
    schedule: TrafficPlan, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    first = window_at(now + timedelta(seconds=8), schedule.window_s).next.begins
    monitor = watching(schedule, first)
    acks = {"BIASWATCH_ACK_WAIT_S": "5"} if schedule is SHORT else {}
    async with platform(tmp_path, monitor, acks) as here:
        senders = Senders(here.url, schedule)
        await eventually(lambda: _answers_http(here.url))
        await asyncio.sleep(max(0.0, (first - datetime.now(UTC)).total_seconds()))
        await asyncio.gather(senders.send(), disturb(here, schedule, first))
        await eventually(lambda: settled(here, senders.answers))
        print(f"\n{report(here, senders.answers)}")
        check_members(here, senders.answers, schedule)
        check_sums(here, senders.answers)
        await check_shown(here)


async def _answers_http(url: str) -> bool:
    try:
        async with httpx2.AsyncClient(base_url=url) as http:
            return (await http.get("/v1/monitors")).status_code == 200
    except httpx2.HTTPError:
        return False


async def settled(here: Platform, answers: Sequence[DueAnswer]) -> bool:
    """Tell whether nothing waits any more, and every answer is in an account.

    What came twice may be taken in after all that came once: so the queue must be empty, too.
    """
    here.restart_dead()
    await asyncio.sleep(0.3)
    try:
        if not await here.accounted():
            return False
        result = await asyncio.to_thread(
            here.store.window_answers.accounts, here.monitor.monitor_id
        )
    except TransientError:
        return False
    return not result.waiting and result.sent - result.duplicate >= len(answers)


def report(here: Platform, answers: Sequence[DueAnswer]) -> str:
    result = here.store.window_answers.accounts(here.monitor.monitor_id)
    tries = sum(answer.tries for answer in answers)
    return f"{len(answers):,} answers, {tries:,} sendings; accounts: {result.in_words}."


def check_members(here: Platform, answers: Sequence[DueAnswer], schedule: TrafficPlan) -> None:
    """Check the list of every window: all with their 202 in time, nothing twice, all accounted."""
    listed = {item.of.window.begins: item for item in here.store.window_answers.latest(
        here.monitor.monitor_id, 1000
    )}  # fmt: skip
    members = members_of(here)
    in_time = {
        answer.id
        for answer in answers
        if answer.taken_at and answer.taken_at <= read_at(window_of(answer, schedule), here.monitor)
    }
    assert in_time <= members
    expected = expected_members([e for e in answers if e.id in members], schedule.window_s)
    for begins, accounts in expected.items():
        result = listed[begins].accounts.model_dump()
        assert {name: n for name, n in result.items() if n and name in accounts} == dict(accounts)
        assert result["unmeasured"] == result["waiting"] == 0
    late = [answer for answer in answers if answer.id not in members]
    assert sum(item.accounts.late for item in listed.values()) == len(late)
    kept = here.store.records.of_monitor(RoundEvidence, here.monitor.monitor_id)
    words = [item for item in evidence_in(kept) if item.comparison.watched.feature == "words"]
    last = max(words, key=lambda item: item.round)
    users = {
        str(answer.sent()["unit"])
        for answer in answers
        if answer.id in members and {"unit", "groups", "text"} <= answer.sent().keys()
    }
    assert last.units == len(users)


def window_of(answer: DueAnswer, schedule: TrafficPlan) -> Window:
    return window_at(answer.at, schedule.window_s)


def members_of(here: Platform) -> set[str]:
    """Return the senders' names of the answers on the lists of all windows."""
    result: set[str] = set()
    for item in here.store.window_answers.latest(here.monitor.monitor_id, 1000):
        ids = set(here.store.window_answers.members(item.of.run_id) or ())
        responses = list(here.store.records.get(Response, ids))
        assert len(responses) == len(ids)
        names = {response.probe.key for response in responses}
        assert len(names) == len(ids)
        assert not names & result
        result |= names
    return result


def check_sums(here: Platform, answers: Sequence[DueAnswer]) -> None:
    """Check that the accounts add up to what was sent: what has no reply may have been taken."""
    result = here.store.window_answers.accounts(here.monitor.monitor_id)
    assert result.sent - result.duplicate == len(answers)
    replies, tries = (sum(getattr(answer, n) for answer in answers) for n in ("replies", "tries"))
    assert replies <= result.sent <= tries
    assert result.refused == 0


async def check_shown(here: Platform) -> None:
    """Check that the command, the API, the page and the metrics say the same."""
    stored = here.store.window_answers.accounts(here.monitor.monitor_id)
    async with httpx2.AsyncClient(base_url=here.url, timeout=60) as http:
        windows = (await http.get("/v1/monitors/support/windows?last=1000")).json()
        shown = (await http.get("/v1/monitors/support")).json()["accounts"]
        page = (await http.get("/monitors/support", headers={"Accept": "text/html"})).text
    assert total(AnswerAccounts(**window["accounts"]) for window in windows) == stored
    assert sum(window["sent"] for window in windows) == stored.sent
    assert AnswerAccounts(**shown) == stored
    as_json = await asyncio.to_thread(command, here, "--json")
    printed = await asyncio.to_thread(command, here)
    listed = {load["window"]["begins"]: load for load in json.loads(as_json)}
    assert all(listed[window["window"]["begins"]] == window for window in windows if window["sent"])
    assert f"{stored.sent:,} answers were sent in, ever: {stored.in_words}." in printed
    row = html.fromstring(page).xpath("//tr[td[1][normalize-space()='all']]/td")
    numbers = [int(item.text_content().replace(",", "")) for item in row[2:]]
    assert numbers == [stored.sent, *(n for _, n in stored)]
    head = html.fromstring(page).xpath("//tr[th='sent']/th/text()")
    assert head[-len(ACCOUNTS) :] == [account_label(name) for name in ACCOUNTS]
    await eventually(lambda: _metrics_say(here, stored))


def command(here: Platform, *more: str) -> str:
    """Return what `biaswatch monitor show` prints."""
    program = [sys.executable, "-c", "from biaswatch.main import main; main()"]
    words = ["monitor", "show", "support", "--windows", "1000", "--server", here.url, *more]
    environment = {**here.environment, "COLUMNS": "400"}
    return subprocess.run(
        [*program, *words], capture_output=True, text=True, check=True, env=environment
    ).stdout


async def _metrics_say(here: Platform, stored: AnswerAccounts) -> bool:
    async with httpx2.AsyncClient(timeout=10) as http:
        text = (await http.get(f"http://127.0.0.1:{here.metrics_port}/metrics")).text
    result = re.findall(
        r'biaswatch_monitor_answers\{account="(\w+)",monitor="support",tenant="default"\} (\S+)',
        text,
    )
    return {name: int(float(value)) for name, value in result} == stored.model_dump()
