"""A target that refuses every call waits, is tried again, and keeps nothing from the others."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import cast

import pytest

from biaswatch.services.generator.app import build
from biaswatch.services.generator.handlers import target_pauses
from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.target_pauses import MAX_WAIT_S, paused_after
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.retry_policy import Retry, decision_of, exhausted
from biaswatch.shared.contracts import Ending, Probe, Response, Target
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer, ModelCall, key_refused
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import TARGET_PAUSED
from tests.integration.generator.test_ask import Scripted, ask_of, one, probe_of, says
from tests.support.jobs import repeated
from tests.support.records import AT, make_cancellation, make_target
from tests.support.waiting import eventually


class Clock:
    """A clock that a test turns on."""

    def __init__(self) -> None:
        self.at = AT

    def __call__(self) -> datetime:
        return self.at

    def pass_s(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class Gate:
    """A target that accepts its key or does not."""

    def __init__(self, *, status: int | None = 401) -> None:
        self.status = status
        self.model = Scripted(self.reply)

    def reply(self, _: ModelCall) -> ModelAnswer | CallFailed:
        return key_refused(self.status, "THE_KEY") if self.status else says("Long.")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(target_pauses, "LOOK_EVERY_S", 0.01)
    return Clock()


def asking(store: Store, gate: Gate, clock: Callable[[], datetime]) -> Ask:
    return ask_of(store, gate.model, now=clock)


async def waiting(*work: "asyncio.Task[Response]") -> None:
    """Return once nothing more happens by itself."""
    await asyncio.sleep(0.2)
    assert not any(item.done() for item in work)


def begin(ask: Ask, *probes: Probe) -> "list[asyncio.Task[Response]]":
    return [asyncio.create_task(one(ask, probe)) for probe in probes]


async def test_probes_of_a_target_that_refuses_wait_and_one_tries_again_after_a_growing_wait(
    store: Store, clock: Clock
) -> None:
    gate = Gate()
    work = begin(asking(store, gate, clock), *(probe_of(n) for n in range(5)))
    await eventually(lambda: len(store.paused_targets.read()) == 1)
    await waiting(*work)
    asked = len(gate.model.calls)
    assert asked <= 5
    for refusals, wait_s in ((2, 5), (3, 10), (4, 20)):
        clock.pass_s(wait_s)
        await eventually(lambda: refusals in {p.refusals for p in store.paused_targets.read()})  # noqa: B023
        await waiting(*work)
    assert len(gate.model.calls) == asked + 3
    [paused] = store.paused_targets.read()
    assert "The target refused the key (HTTP 401). Correct THE_KEY" in paused.why
    assert (paused.since, paused.next_try_at) == (AT, clock.at + timedelta(seconds=40))
    gate.status = None
    clock.pass_s(40)
    assert {item.text for item in await asyncio.gather(*work)} == {"Long."}
    assert store.paused_targets.read() == []
    assert TARGET_PAUSED.labels("openai:m")._value.get() == 0


async def test_another_target_is_asked_meanwhile(store: Store, clock: Clock) -> None:
    def reply(call: ModelCall) -> ModelAnswer | CallFailed:
        return says("Short.") if call.model == "other" else key_refused(403, "THE_KEY")

    ask = ask_of(store, Scripted(reply), now=clock)
    held = begin(ask, probe_of())
    other = make_target(provider="openai", model="other", name="openai:other")
    assert (await one(ask, probe_of(target=other))).text == "Short."
    await waiting(*held)
    assert TARGET_PAUSED.labels("openai:m")._value.get() == 1
    held[0].cancel()


async def test_a_person_resumes_a_target_at_once(store: Store, clock: Clock) -> None:
    gate = Gate()
    ask = asking(store, gate, clock)
    watching = repeated(ask._pauses.job, cast(Publisher, None))
    work = begin(ask, probe_of())
    await eventually(store.paused_targets.read)
    gate.status = None
    await waiting(*work)
    store.paused_targets.resume([probe_of().lane])
    assert (await work[0]).text == "Long."
    watching.cancel()


async def test_a_generator_that_starts_tries_a_paused_target_at_once_with_its_new_key(
    store: Store, clock: Clock
) -> None:
    target = probe_of().target
    before = paused_after(None, target, "The target refused the key.", AT, 5)
    store.paused_targets.keep(before.model_copy(update={"refusals": 9}))
    gate = Gate()
    work = begin(asking(store, gate, clock), probe_of())
    await eventually(lambda: store.paused_targets.read()[0].refusals == 10)
    work[0].cancel()
    gate.status = None
    assert (await one(asking(store, gate, clock), probe_of())).text == "Long."
    assert store.paused_targets.read() == []


async def test_a_try_reads_the_key_anew(store: Store, clock: Clock) -> None:
    gate, keys = Gate(), iter(["old", "new"])
    ask, made = asking(store, gate, clock), []
    endpoint_of = ask._endpoint_of

    def with_key(target: Target) -> Endpoint:
        made.append(next(keys))
        gate.status = 401 if made[-1] == "old" else None
        return endpoint_of(target)

    ask._endpoint_of = with_key
    work = begin(ask, probe_of())
    await eventually(store.paused_targets.read)
    clock.pass_s(5)
    assert (await work[0]).text == "Long."
    assert made == ["old", "new"]


async def test_a_missing_key_pauses_its_target_and_ends_nothing(store: Store, clock: Clock) -> None:
    ask = asking(store, Gate(status=None), clock)
    endpoint_of = ask._endpoint_of

    def keyless(_: Target) -> Endpoint:
        raise ConfigurationError("There is no key.")

    ask._endpoint_of = keyless
    work = begin(ask, probe_of())
    await eventually(store.paused_targets.read)
    assert store.paused_targets.read()[0].why == "There is no key."
    ask._endpoint_of = endpoint_of
    clock.pass_s(5)
    assert (await work[0]).text == "Long."


async def test_a_cancelled_run_waits_for_no_paused_target(store: Store, clock: Clock) -> None:
    ask = ask_of(store, Gate().model, now=clock, clock=iter(range(10**6)).__next__)
    work = asyncio.create_task(ask(probe_of()))
    await eventually(store.paused_targets.read)
    store.records.write([make_cancellation(moment_ms=int(AT.timestamp() * 1000))])
    assert await work == []


async def test_a_process_that_stops_gives_the_waiting_probes_back(
    store: Store, clock: Clock
) -> None:
    ask = asking(store, Gate(), clock)
    work = begin(ask, probe_of())
    await eventually(store.paused_targets.read)
    ask._pauses.leave()
    with pytest.raises(asyncio.CancelledError):
        await work[0]


async def test_a_question_that_is_refused_while_later_ones_are_answered_has_its_outcome(
    store: Store, clock: Clock
) -> None:
    later = asyncio.Event()

    class Moderated(Scripted):
        async def ask(self, call: ModelCall) -> ModelAnswer:
            if "refused" in call.messages[-1]["content"]:
                await later.wait()
                raise key_refused(403, "THE_KEY")
            return says("Long.")

    ticks = iter(range(10**6))
    ask = ask_of(store, Moderated(lambda _: says("")), now=clock, clock=ticks.__next__)
    refused = probe_of(1).messages[0].model_copy(update={"content": "refused"})
    work = begin(ask, probe_of(1, messages=(refused,)))
    await asyncio.sleep(0.05)
    assert (await one(ask, probe_of(0))).text == "Long."
    later.set()
    response = await work[0]
    assert (response.ending, response.reason) == (Ending.FAILED, Failure.FORBIDDEN)
    assert store.paused_targets.read() == []


async def test_one_question_is_refused_so_often_and_no_more(store: Store, clock: Clock) -> None:
    gate = Gate()
    work = begin(asking(store, gate, clock), probe_of())
    while not work[0].done():
        clock.pass_s(MAX_WAIT_S)
        await asyncio.sleep(0.02)
    assert (await work[0]).reason == Failure.KEY_REFUSED
    assert len(gate.model.calls) == 6


def test_waits_double_up_to_a_quarter_of_an_hour() -> None:
    paused, waits = None, []
    for _ in range(12):
        paused = paused_after(paused, make_target(), "No.", AT, 5)
        waits.append((paused.next_try_at - AT).total_seconds())
    assert waits[:3] == [5, 10, 20]
    assert waits[-1] == MAX_WAIT_S


def test_a_probe_that_waits_outlives_any_usual_number_of_restarts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "open", lambda *_, **__: store)  # which the fixture closes
    service = build(GeneratorSettings())
    assert service.policy is not None
    for restarts in (21, 500):
        assert exhausted(restarts, service.policy) is None
        again = decision_of(TransientError("The store is away."), restarts, service.policy, 0.5)
        assert isinstance(again, Retry)
