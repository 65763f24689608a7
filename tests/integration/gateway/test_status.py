"""The morning's question over HTTP: what alarms, what changed, what is overdue, what waits."""

import os
import signal
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from biaswatch.cli.status import exit_code_of, status_lines
from biaswatch.services.gateway.app import build
from biaswatch.services.gateway.channels import ChannelQueries
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.status import StatusQueries, service_troubles
from biaswatch.shared.bus.jetstream import Connection, connection
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import AlarmState, AuditAction, AuditedAct, MemberAccounts, Traffic
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, ChannelStatus, DeliveryState
from biaswatch.shared.errors import TransientError
from biaswatch.shared.requests.platform import PlatformStatus
from biaswatch.shared.requests.traffic import sent_answer
from biaswatch.shared.runtime import health
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store
from tests.integration.gateway.test_monitors import READER, api, store
from tests.integration.runtime.test_service import running, settings_for, until_ready
from tests.support.bus import ProvisionedBus
from tests.support.records import (
    make_alarm,
    make_exchange,
    make_monitor,
    make_run,
    make_traffic_monitor,
)
from tests.support.waiting import PATIENCE_S, eventually

__all__ = ["api", "store"]
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
YESTERDAY, LAST_WEEK = NOW - timedelta(hours=10), NOW - timedelta(days=7)


def status_of(store: Store) -> PlatformStatus:
    """Return what somebody is told who looks at this moment."""

    def now() -> datetime:
        return NOW

    runs, monitors = RunQueries(store), MonitorQueries(store)
    return StatusQueries(store, runs, monitors, ChannelQueries(store, now=now), now).status()


async def test_a_platform_without_anything_needs_nobody(api: httpx2.AsyncClient) -> None:
    record = PlatformStatus.model_validate((await api.get("/v1/status", headers=READER)).json())
    assert exit_code_of(record) == 0
    assert next(status_lines(record)) == "Alarms: none"


@pytest.mark.parametrize(("raised", "changes"), [(YESTERDAY, 1), (LAST_WEEK, 0)])
def test_an_alarm_that_stands_is_told_however_old_it_is(
    store: Store, raised: datetime, changes: int
) -> None:
    monitor = make_monitor()
    alarm = make_alarm(at=raised, monitor_id=monitor.monitor_id, words="women fare worse")
    store.records.write([monitor, alarm])
    result = status_of(store)
    assert [alarm.alarm_id for alarm in result.alarms] == [alarm.id]
    assert len(result.changes) == changes
    assert exit_code_of(result) == 1
    lines = list(status_lines(result))
    assert sum(line.endswith("raised: women fare worse") for line in lines) == 1
    assert f"  Its answers: biaswatch monitor show {alarm.monitor} --alarms" in lines


def test_an_alarm_that_people_handled_is_marked(store: Store) -> None:
    monitor = make_monitor()
    alarm = make_alarm(at=YESTERDAY, monitor_id=monitor.monitor_id, words="women fare worse")
    store.records.write([monitor, alarm])
    until = NOW + timedelta(hours=2)
    steps: dict[AuditAction, dict[str, str]] = {
        AuditAction.ALARM_ACKNOWLEDGE: {},
        AuditAction.ALARM_SILENCE: {"until": until.isoformat()},
    }
    acts = [
        AuditedAct(
            actor="ann",
            role="runner",
            source="here",
            action=action,
            subject=alarm.id,
            details=details,
        )
        for action, details in steps.items()
    ]
    store.audit.append(acts, YESTERDAY)
    [line] = [line for line in status_lines(status_of(store)) if "women" in line]
    assert "raised (acknowledged, silenced until 2026-03-02 10:00 UTC): women" in line


def test_an_alarm_that_is_over_has_changed_and_stands_no_more(store: Store) -> None:
    monitor = make_monitor()
    raised = make_alarm(at=LAST_WEEK, monitor_id=monitor.monitor_id)
    over = make_alarm(at=YESTERDAY, monitor_id=monitor.monitor_id, state=AlarmState.CLEARED)
    store.records.write([monitor, raised, over])
    result = status_of(store)
    assert (result.alarms, [change.state for change in result.changes]) == (
        [],
        [AlarmState.CLEARED],
    )
    assert exit_code_of(result) == 0


def test_a_round_that_is_due_for_an_hour_waits_for_a_person(store: Store) -> None:
    monitor = make_monitor(at=LAST_WEEK)
    store.records.write([monitor])
    store.schedule.put(monitor)
    result = status_of(store)
    assert [item.name for item in result.overdue] == [monitor.name]
    assert exit_code_of(result) == 3
    assert any("monitor overdue" in line for line in status_lines(result))


@pytest.mark.parametrize(("grouped", "waits"), [(0, True), (1, False)])
def test_a_traffic_monitor_whose_answers_have_no_compared_group_is_named(
    store: Store, grouped: int, waits: bool
) -> None:
    monitor = make_traffic_monitor(since=LAST_WEEK)
    store.records.write([monitor])
    for hours_ago, number in ((3, 400 - grouped), (1, 2)):  # the second is not read yet
        exchanges = [
            make_exchange(number=n, at=NOW, said_at=NOW - timedelta(hours=hours_ago))
            for n in range(number + grouped)
        ]
        traffic = Traffic(window_s=3600)
        answers = [sent_answer(e, monitor, traffic, e.id) for e in exchanges]
        store.window_answers.take([replace(answer, late=False) for answer in answers])
        if hours_ago == 3:
            store.window_answers.fix(answers[0].of, NOW)
            accounts = MemberAccounts(evidence=grouped, without_group=number)
            store.window_answers.settle(answers[0].of.run_id, accounts)
    result = status_of(store)
    assert exit_code_of(result) == (3 if waits else 0)
    sentence = (
        "support compared none of the 400 answers of its last window, until 2026-03-02 06:00 UTC:"
        " check that their `groups` name dimensions and groups as the monitor's file does: gender"
        " (female, male)."
    )
    assert [trouble.said for trouble in result.troubles] == waits * [sentence]


def test_a_channel_in_trouble_waits_for_a_person_in_its_own_words(store: Store) -> None:
    trouble = "Slack answered 403."
    store.channels.announce(
        [ChannelStatus(name="chat", kind="apprise", seen_at=NOW, trouble=trouble)]
    )
    result = status_of(store)
    assert [(trouble.what, trouble.said) for trouble in result.troubles] == [
        ("channel", f"chat: {trouble}")
    ]
    assert exit_code_of(result) == 3


def test_alarms_that_no_channel_got_wait_for_a_person(store: Store) -> None:
    alarm = make_alarm(at=YESTERDAY)
    delivery = AlarmDelivery(
        alarm_id=alarm.id, channel="webhook/hiring", topic="hiring", at=NOW, over=False,
        state=DeliveryState.REFUSED, next_at=NOW, why="It answered 403.",
    )  # fmt: skip
    store.alarm_deliveries.expect([delivery])
    result = status_of(store)
    assert [trouble.what for trouble in result.troubles] == ["alarms not delivered"]
    assert "biaswatch channels retry webhook/hiring" in result.troubles[0].said
    assert exit_code_of(result) == 3


def test_runs_of_the_last_day_are_listed_and_older_ones_that_go_on(store: Store) -> None:
    runs = [make_run(at=YESTERDAY, nonce="new"), make_run(at=LAST_WEEK, nonce="old")]
    store.records.write(runs)
    result = status_of(store)
    assert {item.run_id for item in result.under_way} == {run.id for run in runs}
    assert (result.ended, result.spending.runs) == ([], 1)


async def test_a_bus_that_hangs_needs_attention(
    bus: ProvisionedBus, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECK_S", 0.2)
    monkeypatch.setattr(health, "BUS_CHECK", Job(Connection.check_available, every_s=0.05))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    service = build(
        GatewaySettings(
            nats_url=bus.server.url, state_dir=tmp_path, health_port=0, gateway_port=port
        )
    )

    async def troubles(client: httpx2.AsyncClient) -> list[str]:
        reply = await client.get("/v1/status")
        return [trouble.what for trouble in PlatformStatus.model_validate(reply.json()).troubles]

    async def is_named(client: httpx2.AsyncClient) -> bool:
        return await troubles(client) == ["bus"]

    async with (
        running(service),
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        await until_ready(service)
        await eventually(lambda: listens(port))
        assert await troubles(client) == []
        os.kill(bus.server.pid, signal.SIGSTOP)
        try:
            await eventually(lambda: is_named(client))
        finally:
            os.kill(bus.server.pid, signal.SIGCONT)


async def test_what_a_job_of_the_gateway_waits_for_needs_attention(bus: ProvisionedBus) -> None:
    async def away(_: Publisher) -> None:
        raise TransientError("s3://lake does not answer.")

    service = Service("gateway", settings_for(bus), jobs=[Job(away, "files of answers")])

    def troubles() -> list[tuple[str, str]]:
        return [(trouble.what, trouble.said) for trouble in service_troubles(service)]

    async with running(service):
        await eventually(lambda: troubles() == [("files of answers", "s3://lake does not answer.")])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
