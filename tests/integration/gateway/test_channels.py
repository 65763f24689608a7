"""Channels over HTTP and by the command: listed, tried, sent again; a monitor names known ones."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.shared.contracts import AlarmState
from biaswatch.shared.contracts.alarm_delivery import ChannelStatus, DeliveryState, deliveries_of
from biaswatch.shared.store import Store
from tests.integration.gateway.test_monitors import ASKED, READER, api, store
from tests.support.bus import ProvisionedBus
from tests.support.records import make_alarm

__all__ = ["api", "store"]


def announce(store: Store, *names: str) -> None:
    now = datetime.now(UTC)
    store.channels.announce([ChannelStatus(name=n, kind="apprise", seen_at=now) for n in names])


def refused(store: Store, channel: str) -> str:
    """Make an alarm that a channel has refused; return its id."""
    alarm = make_alarm(at=datetime.now(UTC), channels=(channel,))
    [delivery] = deliveries_of(alarm, alarm.at)
    store.alarm_deliveries.expect([delivery])
    ended = {"state": DeliveryState.REFUSED, "why": "Slack answered 403."}
    store.alarm_deliveries.settle(delivery.model_copy(update=ended))
    return alarm.id


async def test_a_monitor_may_name_the_operators_channels_and_no_others(
    api: httpx2.AsyncClient, store: Store
) -> None:
    announce(store, "chat")
    refusal = await api.post("/v1/monitors", json={**ASKED, "channels": ["oncall"]})
    assert refusal.status_code == 422
    assert "There is no channel oncall; the operator has declared chat" in refusal.text
    named = {**ASKED, "channels": ["chat"]}
    applied = (await api.post("/v1/monitors", json=named)).json()
    assert applied["monitor"]["upkeep"]["channels"] == ["chat"]


async def test_changing_a_channel_keeps_the_evidence(api: httpx2.AsyncClient, store: Store) -> None:
    announce(store, "chat")
    await api.post("/v1/monitors", json=ASKED)
    again = (await api.post("/v1/monitors", json={**ASKED, "channels": ["chat"]})).json()
    assert (again["changed"], again["anew"]) == (True, False)


async def test_a_channel_is_listed_with_what_became_of_alarms_and_why(
    api: httpx2.AsyncClient, store: Store
) -> None:
    announce(store, "chat", "mail")
    refused(store, "chat")
    listed: list[dict[str, Any]] = (await api.get("/v1/channels", headers=READER)).json()
    assert [(item["name"], item["alarms"]) for item in listed] == [
        ("chat", {"refused": 1}), ("mail", {}),
    ]  # fmt: skip
    assert listed[0]["last_failure"] == "Slack answered 403."


async def test_what_was_refused_is_sent_again_by_who_may_run_things_alone(
    api: httpx2.AsyncClient, store: Store
) -> None:
    announce(store, "chat")
    alarm_id = refused(store, "chat")
    assert (await api.post("/v1/channels/chat/retry", headers=READER)).status_code == 403
    assert (await api.post("/v1/channels/chat/retry")).json() == {"alarms": 1}
    [result] = (await api.get(f"/v1/alarms/{alarm_id}/deliveries")).json()
    assert result["state"] == "waiting"


async def test_a_trial_is_left_for_the_diagnoser_and_an_unknown_channel_is_refused(
    api: httpx2.AsyncClient, store: Store
) -> None:
    announce(store, "chat")
    trial = (await api.post("/v1/channels/chat/test")).json()
    assert store.alarm_deliveries.due_channels(datetime.now(UTC)) == ["chat"]
    [result] = (await api.get(f"/v1/alarms/{trial['alarm_id']}/deliveries")).json()
    assert (result["state"], result["attempts"]) == ("waiting", 0)
    assert (await api.post("/v1/channels/nothere/test")).status_code == 404


async def test_a_monitors_alarms_say_who_was_told(
    api: httpx2.AsyncClient, store: Store, bus: ProvisionedBus
) -> None:
    announce(store, "chat")
    await api.post("/v1/monitors", json={**ASKED, "channels": ["chat"]})
    [status] = (await api.get("/v1/monitors")).json()
    alarm = make_alarm(monitor_id=status["monitor_id"], channels=("chat",), state=AlarmState.RAISED)
    store.records.write([alarm])
    store.alarm_deliveries.expect(deliveries_of(alarm, alarm.at))
    [shown] = (await api.get("/v1/monitors/coasts/alarms")).json()
    assert [delivery["channel"] for delivery in shown["deliveries"]] == ["chat"]
    page = (await api.get("/monitors/coasts/alarms")).text
    assert "chat: waiting" in page


@pytest.mark.parametrize(("variable", "code"), [("URL", 0), ("OTHER", 3)])
def test_a_file_is_checked_before_the_diagnoser_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, code: int
) -> None:
    file = tmp_path / "channels.yaml"
    file.write_text("channels: {tickets: {kind: webhook, url: {env: URL}}}")
    monkeypatch.setenv(variable, "https://tickets.example/secret")
    result = CliRunner().invoke(app, ["channels", "list", "--file", str(file)])
    assert result.exit_code == code
    assert result.output.startswith("tickets  webhook  ")
    assert "secret" not in result.output
