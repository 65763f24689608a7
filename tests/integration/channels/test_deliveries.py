"""Deliveries on both databases: each channel for itself, in order, again until it ends one way."""

import json
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from biaswatch.services.notifier.channels.alertmanager import AlertmanagerChannel
from biaswatch.services.notifier.domain.attempts import Attempt, Delivered, Refused, Unavailable
from biaswatch.services.notifier.handlers.deliveries import (
    LEASE_S,
    SILENCE_CHECK,
    DeliverAlarms,
    ResendAlerts,
)
from biaswatch.services.notifier.handlers.operator_channels import (
    AnnounceChannels,
    OperatorChannels,
)
from biaswatch.services.notifier.secrets import Secrets
from biaswatch.shared.contracts import (
    Alarm,
    AlarmState,
    AuditAction,
    AuditedAct,
    MonitorState,
    Upkeep,
)
from biaswatch.shared.contracts.alarm_delivery import (
    AlarmDelivery,
    DeliveryState,
    deliveries_of,
    trial_of,
)
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_ATTEMPTS, ALARM_DELIVERY_STATES
from tests.support.alarm_receivers import HttpReceiver, http_receiver
from tests.support.records import AT, make_alarm, make_monitor

NO_VARIABLE = dict[str, str]().get
MINUTE = timedelta(minutes=1)


class Channels(OperatorChannels):
    """Channels that end as the test says; what they are sent is kept."""

    def __init__(self) -> None:
        super().__init__(Secrets(Path(), NO_VARIABLE))
        object.__setattr__(self, "ends", {})
        object.__setattr__(self, "delivered", [])

    ends: dict[str, Attempt | Exception]
    delivered: list[tuple[str, str]]

    async def send(
        self, alarm: Alarm, name: str, history: Collection[Alarm], now: datetime
    ) -> Attempt:
        self.delivered.append((name, alarm.state.value))
        end = self.ends.get(name, Delivered())
        if isinstance(end, Exception):
            raise end
        return end


class Clock:
    now = AT

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def channels() -> Channels:
    return Channels()


@pytest.fixture
def job(store: Store, channels: Channels, clock: Clock) -> DeliverAlarms:
    return DeliverAlarms(store, channels, now=clock)


def note(store: Store, *alarms: Alarm) -> None:
    store.records.write(alarms)
    store.alarm_deliveries.expect([d for alarm in alarms for d in deliveries_of(alarm, alarm.at)])


async def run_once(job: DeliverAlarms) -> None:
    await job.run_once()
    await job.idle()


def states(store: Store, *alarms: Alarm) -> dict[str, DeliveryState]:
    return {d.channel: d.state for d in store.alarm_deliveries.of_alarms(a.id for a in alarms)}


async def test_one_channels_trouble_is_no_others(
    store: Store, job: DeliverAlarms, channels: Channels
) -> None:
    channels.ends |= {
        "down": Unavailable("it is down"), "wrong": Refused("no"), "broken": RuntimeError("secret"),
    }  # fmt: skip
    alarm = make_alarm(channels=("broken", "down", "fine", "wrong"))
    note(store, alarm)
    await run_once(job)
    assert states(store, alarm) == {
        "broken": DeliveryState.WAITING, "down": DeliveryState.WAITING,
        "fine": DeliveryState.DELIVERED, "wrong": DeliveryState.REFUSED,
    }  # fmt: skip
    whys = {d.channel: d.why for d in store.alarm_deliveries.of_alarms([alarm.id])}
    assert whys["wrong"] == "no"
    assert whys["broken"] == "It could not be sent (RuntimeError)."


async def test_a_silenced_comparison_is_sent_once_its_silence_ends(
    store: Store, job: DeliverAlarms, channels: Channels, clock: Clock
) -> None:
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    silence = AuditedAct(
        actor="anna", role="run", source="here", action=AuditAction.ALARM_SILENCE,
        subject=alarm.id, details={"until": (AT + 5 * MINUTE).isoformat()},
    )  # fmt: skip
    store.audit.append([silence], AT)
    await run_once(job)
    [held] = store.alarm_deliveries.of_alarms([alarm.id])
    assert (channels.delivered, held.state, "silenced until" in (held.why or "")) == (
        [], DeliveryState.WAITING, True,
    )  # fmt: skip
    clock.now += 5 * MINUTE
    await run_once(job)
    assert channels.delivered == [("chat", "raised")]


async def test_a_silence_that_ends_early_holds_its_messages_a_few_minutes_longer(
    store: Store, job: DeliverAlarms, channels: Channels, clock: Clock
) -> None:
    first, second = make_alarm(channels=("chat",)), make_alarm(channels=(), round=2)
    note(store, first)
    note(store, second)
    for alarm, end in ((first, AT + 60 * MINUTE), (second, AT)):
        act = AuditedAct(
            actor="anna", role="run", source="here", action=AuditAction.ALARM_SILENCE,
            subject=alarm.id, details={"until": end.isoformat()},
        )  # fmt: skip
        store.audit.append([act], AT)
        await run_once(job)
        assert channels.delivered == []
    clock.now += SILENCE_CHECK
    await run_once(job)
    assert channels.delivered == [("chat", "raised")]
    [sent] = store.alarm_deliveries.of_alarms([first.id])
    assert sent.attempts == 1


@pytest.mark.parametrize("broken", ["claim", "settle", "get"])
async def test_a_fault_of_our_own_is_logged_counted_and_the_alarm_is_sent_once_it_is_gone(
    store: Store, channels: Channels, clock: Clock, broken: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    part = store.records if broken == "get" else store.alarm_deliveries
    before = ALARM_ATTEMPTS.labels("chat", "failed")._value.get()

    def fault(*_: object) -> None:
        raise RuntimeError("a secret")

    with monkeypatch.context() as patched:
        patched.setattr(type(part), broken, fault)
        await run_once(DeliverAlarms(store, channels, now=clock))
    assert ALARM_ATTEMPTS.labels("chat", "failed")._value.get() == before + 1
    logged = capsys.readouterr()
    assert "RuntimeError" in logged.out + logged.err
    assert "secret" not in logged.out + logged.err
    clock.now += 10 * MINUTE
    await run_once(DeliverAlarms(store, channels, now=clock))
    assert states(store, alarm) == {"chat": DeliveryState.DELIVERED}


async def test_what_failed_is_sent_again_until_it_is_taken_and_then_never(
    store: Store, channels: Channels, clock: Clock
) -> None:
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    channels.ends["chat"] = Unavailable("it is down")
    for _ in range(3):
        await run_once(
            DeliverAlarms(store, channels, now=clock)
        )  # another replica, which knows nothing
        clock.now += 10 * MINUTE
    channels.ends.clear()
    for _ in range(3):
        await run_once(DeliverAlarms(store, channels, now=clock))
        clock.now += 10 * MINUTE
    assert channels.delivered == [("chat", "raised")] * 4
    assert states(store, alarm) == {"chat": DeliveryState.DELIVERED}


async def test_a_channel_that_fails_rests_whatever_else_waits_for_it(
    store: Store, job: DeliverAlarms, channels: Channels
) -> None:
    channels.ends["chat"] = Unavailable("it is down")
    note(store, *(make_alarm(comparison_key=f"n.n:g:a-{n}", channels=("chat",)) for n in range(50)))
    for _ in range(5):
        await run_once(job)
    assert len(channels.delivered) == 1


async def test_nobody_hears_that_an_alarm_is_over_before_hearing_of_it(
    store: Store, channels: Channels, clock: Clock
) -> None:
    raised = make_alarm(channels=("chat",))
    over = make_alarm(channels=("chat",), state=AlarmState.CLEARED, at=AT + MINUTE)
    note(store, raised)
    channels.ends["chat"] = Unavailable("it is down")
    await run_once(DeliverAlarms(store, channels, now=clock))
    note(store, over)
    channels.ends.clear()
    clock.now = AT + MINUTE
    store.alarm_deliveries.settle(
        store.alarm_deliveries.of_alarms([raised.id])[0].model_copy(
            update={"next_at": AT + 5 * MINUTE}
        )
    )
    await run_once(DeliverAlarms(store, channels, now=clock))
    assert channels.delivered == [("chat", "raised")]
    clock.now = AT + 6 * MINUTE
    await run_once(DeliverAlarms(store, channels, now=clock))
    assert channels.delivered[1:] == [("chat", "raised"), ("chat", "cleared")]


def test_two_processes_never_hold_one_delivery_and_a_dead_one_lets_it_go(store: Store) -> None:
    note(store, make_alarm(channels=("chat",)))
    first = store.alarm_deliveries.claim("chat", AT, LEASE_S)
    assert first is not None
    assert store.alarm_deliveries.claim("chat", AT, LEASE_S) is None
    later = store.alarm_deliveries.claim("chat", AT + timedelta(seconds=LEASE_S), LEASE_S)
    assert later is not None
    assert later.attempts == 2


async def test_what_was_refused_is_sent_again_when_the_operator_says_so(
    store: Store, job: DeliverAlarms, channels: Channels
) -> None:
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    channels.ends["chat"] = Refused("403")
    await run_once(job)
    await run_once(job)
    assert len(channels.delivered) == 1
    channels.ends.clear()
    assert store.alarm_deliveries.retry("chat", AT) == 1
    await run_once(job)
    assert states(store, alarm) == {"chat": DeliveryState.DELIVERED}
    assert store.alarm_deliveries.retry("chat", AT) == 0


async def test_what_is_a_week_old_wakes_nobody(
    store: Store, job: DeliverAlarms, channels: Channels, clock: Clock
) -> None:
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    clock.now = AT + timedelta(days=8)
    await run_once(job)
    assert channels.delivered == []
    assert states(store, alarm) == {"chat": DeliveryState.EXPIRED}


async def test_an_alarm_noted_twice_is_sent_once(
    store: Store, job: DeliverAlarms, channels: Channels
) -> None:
    alarm = make_alarm(channels=("chat",))
    note(store, alarm)
    await run_once(job)
    note(store, alarm)
    await run_once(job)
    assert channels.delivered == [("chat", "raised")]


async def test_a_trial_ends_at_once_and_counts_as_no_alarm(
    store: Store, job: DeliverAlarms, channels: Channels
) -> None:
    channels.ends["chat"] = Unavailable("it is down")
    trial = trial_of("chat", AT, "default")
    store.alarm_deliveries.expect([trial])
    await run_once(job)
    [result] = store.alarm_deliveries.of_alarms([trial.alarm_id])
    assert (result.state, result.why) == (DeliveryState.REFUSED, "it is down")
    assert store.alarm_deliveries.counts(AT - MINUTE) == {}


def test_metrics_and_the_store_say_which_channels_there_are_and_what_waits(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    note(store, make_alarm(channels=("oncall",)))
    alertmanager = AlertmanagerChannel(kind="alertmanager", url="http://127.0.0.1:9")
    channels = OperatorChannels(Secrets(tmp_path, NO_VARIABLE), {"oncall": alertmanager})
    AnnounceChannels(store, channels, now=clock).run_once()
    [known] = store.channels.known(AT)
    assert (known.name, known.kind, known.trouble) == ("oncall", "alertmanager", None)
    assert ALARM_DELIVERY_STATES.labels("oncall", "waiting")._value.get() == 1


@pytest.fixture
def alertmanager() -> Iterator[HttpReceiver]:
    with http_receiver() as result:
        yield result


def alerts_of(receiver: HttpReceiver) -> list[list[str]]:
    return [
        [load["labels"]["comparison"] for load in json.loads(body)]
        for _, _, body in receiver.posted
    ]


async def test_alertmanager_is_told_what_stands_again_and_again_while_the_monitor_names_it(
    store: Store, clock: Clock, alertmanager: HttpReceiver, tmp_path: Path
) -> None:
    declared = AlertmanagerChannel(kind="alertmanager", url=alertmanager.url)
    channels = OperatorChannels(Secrets(tmp_path, NO_VARIABLE), {"oncall": declared})
    resend = ResendAlerts(store, channels, now=clock)
    upkeep = Upkeep(cadence_s=3600, channels=("oncall",))
    monitor = make_monitor(upkeep=upkeep)
    store.schedule.put(monitor)
    store.records.write([make_alarm(monitor_id=monitor.monitor_id)])
    await resend.run_once()
    await resend.run_once()
    assert alerts_of(alertmanager) == [["concept:France-Peru"]] * 2
    deleted = make_monitor(
        upkeep=upkeep, state=MonitorState.DELETED, moment_ms=monitor.moment_ms + 1
    )
    store.schedule.put(deleted)
    await resend.run_once()
    assert len(alertmanager.posted) == 2


async def test_a_new_alarm_sends_no_silenced_alarm_of_its_monitor(
    store: Store, clock: Clock, alertmanager: HttpReceiver, tmp_path: Path
) -> None:
    declared = AlertmanagerChannel(kind="alertmanager", url=alertmanager.url)
    channels = OperatorChannels(Secrets(tmp_path, NO_VARIABLE), {"oncall": declared})
    silenced, new = make_alarm(), make_alarm(comparison_key="x.y:race:a-b", channels=("oncall",))
    note(store, silenced, new)
    until = {"until": (AT + 5 * MINUTE).isoformat()}
    silence = AuditedAct(
        actor="anna", role="run", source="here", action=AuditAction.ALARM_SILENCE,
        subject=silenced.id, details=until,
    )  # fmt: skip
    store.audit.append([silence], AT)
    await run_once(DeliverAlarms(store, channels, now=clock))
    assert alerts_of(alertmanager) == [["race:a-b"]]


def test_deliveries_of_one_alarm_are_found_by_its_id(store: Store) -> None:
    alarm = make_alarm(channels=("chat", "mail"))
    note(store, alarm)
    result = store.alarm_deliveries.of_alarms([alarm.id])
    assert [type(item) for item in result] == [AlarmDelivery] * 2
