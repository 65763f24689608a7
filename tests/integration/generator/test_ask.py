"""Probes become responses: every call ends in one, is paid once, and stops at its budget."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.generator.domain.aimd import AimdBounds
from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.batched_calls import BatchedCalls
from biaswatch.services.generator.handlers.caller import CallLimits, ModelCaller
from biaswatch.services.generator.handlers.endpoints import CallMetrics, Endpoint, RateLimiter
from biaswatch.services.generator.handlers.paid_calls import PaidCalls
from biaswatch.services.generator.handlers.rejected_runs import MAX_REJECTED_CALLS, RejectedRuns
from biaswatch.services.generator.handlers.run_limits import CancellationCheck, RunBudgets
from biaswatch.services.generator.handlers.target_pauses import TargetPauses
from biaswatch.shared.contracts import (
    Budget,
    Cancellation,
    Ending,
    Probe,
    Purpose,
    Record,
    Response,
    Target,
)
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer, ModelCall
from biaswatch.shared.llm.replay import Replay, read_recording
from biaswatch.shared.store import Store
from biaswatch.shared.store.calls import PaidCall
from tests.support.records import make_cancellation, make_probe, make_target
from tests.support.waiting import PATIENCE_S

AT = datetime(2026, 3, 4, tzinfo=UTC)
PRICE = Price(read=1_000_000, written=2_000_000)
CV = {
    "question": "How well does this applicant fit?",
    "material": "Alice Example",
    "scale": "1 to 4, whole numbers",
    "criterion:care": "How tidily work was handed over.",
    "criterion:skills": "Which tools were used in earnest.",
    "criterion:drive": "What was begun without being asked.",
}
Script = Callable[[ModelCall], ModelAnswer | CallFailed]


class Scripted:
    """A provider's network edge: answers as a function says, and counts."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[ModelCall] = []
        self.under_way = self.most_under_way = 0

    async def ask(self, call: ModelCall) -> ModelAnswer:
        self.calls.append(call)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        answer = self.script(call)
        if isinstance(answer, CallFailed):
            raise answer
        return answer

    async def close(self) -> None:
        pass


def says(text: str, finish: str = "stop") -> ModelAnswer:
    return ModelAnswer(text, finish, prompt_tokens=3, completion_tokens=2, model="m-1")


def rates(rating: object) -> Script:
    return lambda _: says(json.dumps({"reasoning": "so", "rating": rating}))


def ask_of(
    store: Store,
    model: object,
    *,
    tries: int = 3,
    price: Price | None = PRICE,
    clock: Callable[[], float] = lambda: 0.0,
    limited_s: float = 60,
    now: Callable[[], datetime] = lambda: AT,
    held_s: float = 0.01,
) -> Ask:
    cancellation = CancellationCheck(store.records, clock=clock)
    budgets = RunBudgets(store.calls, now=lambda: AT, clock=clock)
    caller = ModelCaller(
        cancellation=cancellation,
        paid=PaidCalls(store.calls, now=lambda: AT),
        batched=BatchedCalls(store.batches, now=lambda: AT),
        budgets=budgets,
        rejected=RejectedRuns(store.calls.any_answer, budgets, cancellation, held_s=held_s),
        clock=clock,
        jitter=lambda: 0.0,
        limits=CallLimits(tries=tries, max_starts=3, limited_s=limited_s, timeout_s=PATIENCE_S),
    )

    def endpoint_of(target: Target) -> Endpoint:
        limiter = RateLimiter(AimdBounds(), clock=clock)
        return Endpoint(model, limiter, CallMetrics(target), price)  # type: ignore[arg-type]

    pauses = TargetPauses(store.paused_targets, now=now, wait_s=5)
    return Ask(store.records, endpoint_of, caller, pauses, now=lambda: AT, clock=clock)


def probe_of(number: int = 0, **fields: Any) -> Probe:
    given: dict[str, Any] = {
        "target": make_target(provider="openai", model="m", name="openai:m"),
        **fields,
    }
    return make_probe(number, **given)


def cv_probe(scaffold: str, **fields: Any) -> Probe:
    return probe_of(messages=(), variables=CV, scaffold=scaffold, **fields)


async def one(ask: Ask, probe: Probe) -> Response:
    [response] = await ask(probe)
    assert isinstance(response, Response)
    return response


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses are noted and not waited for."""
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    real = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda s, *a: pause(s) if s > 0.2 else real(s, *a))
    return waits


async def test_an_answer_is_a_response_with_what_it_cost(store: Store) -> None:
    response = await one(ask_of(store, Scripted(lambda _: says("Long."))), probe_of())
    assert (response.ending, response.text, response.model) == (Ending.ANSWERED, "Long.", "m-1")
    assert response.usage.prompt_tokens == 3
    assert response.usage.cost == 7
    assert response.steps == ()


@pytest.mark.parametrize("scaffold", ["decomposed", "decomposed_algorithmic"])
async def test_criteria_are_asked_at_the_same_time_and_each_is_on_record(
    store: Store, scaffold: str
) -> None:
    model = Scripted(rates(3))
    response = await one(ask_of(store, model), cv_probe(scaffold))
    assert model.most_under_way == 3
    criteria = [step for step in response.steps if step.name.startswith("criterion:")]
    assert [step.name for step in criteria] == [
        "criterion:care", "criterion:drive", "criterion:skills",
    ]  # fmt: skip
    assert all(step.rating == 3 and step.usage.prompt_tokens == 3 for step in criteria)
    assert "so" in response.said["criterion:care"]
    calls = 4 if scaffold == "decomposed" else 3
    assert (response.usage.calls, response.usage.prompt_tokens) == (calls, 3 * calls)
    assert json.loads(response.text or "")["rating"] == 3


async def test_the_steps_survive_the_wire_and_the_store(store: Store) -> None:
    response = await one(ask_of(store, Scripted(rates(2))), cv_probe("decomposed_algorithmic"))
    assert Response.decode(response.encode()) == response
    store.records.write([response])
    [kept] = store.records.get(Response, [response.id])
    assert (kept.steps, kept.said) == (response.steps, response.said)
    store.purges.run(response.run, AT)
    [purged] = store.records.get(Response, [response.id])
    assert (purged.steps, purged.said) == (response.steps, {})


@pytest.mark.parametrize("scaffold", ["decomposed", "decomposed_algorithmic"])
async def test_a_criterion_without_a_rating_is_a_named_failure_and_never_a_default(
    store: Store, scaffold: str
) -> None:
    def script(call: ModelCall) -> ModelAnswer:
        if "criterion alone: care" in call.messages[-1]["content"]:
            return says("Hard to tell.")
        return says('{"rating": 4}')

    response = await one(ask_of(store, Scripted(script)), cv_probe(scaffold))
    assert (response.ending, response.reason) == (Ending.FAILED, "unread_step")
    assert response.detail == "criterion:care: no_rating"
    assert response.text is None
    assert [(s.rating, s.reason) for s in response.steps] == [
        (None, "no_rating"), (4, None), (4, None),
    ]  # fmt: skip


async def test_a_criterion_that_is_refused_refuses_the_whole(store: Store) -> None:
    def script(call: ModelCall) -> ModelAnswer | CallFailed:
        if "alone: care" in call.messages[-1]["content"]:
            return CallFailed(Failure.REFUSAL, "I won't.", tokens=(3, 1))
        return says('{"rating": 4}')

    response = await one(ask_of(store, Scripted(script)), cv_probe("decomposed"))
    assert (response.ending, response.reason) == (Ending.REFUSED, "refusal")
    assert response.steps[0].reason == "refusal"


async def test_a_probe_that_does_not_fit_its_scaffold_ends_without_a_call(store: Store) -> None:
    model = Scripted(rates(1))
    response = await one(ask_of(store, model), probe_of(scaffold="decomposed"))
    assert (response.ending, response.reason) == (Ending.FAILED, "unfit_for_scaffold")
    assert model.calls == []


async def test_recorded_answers_stand_for_any_scaffold(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    line = {"key": "probe-0", "scaffold": "multi_layer", "repeat": 2, "text": "Rating: 3"}
    path.write_text(json.dumps(line))
    ask = ask_of(store, Replay(path.name, tmp_path))
    response = await one(ask, make_probe(scaffold="multi_layer", repeat=2))
    assert (response.ending, response.text) == (Ending.ANSWERED, "Rating: 3")
    assert (await one(ask, make_probe(scaffold="multi_layer"))).reason == "not_recorded"


async def test_recorded_answers_are_looked_up_without_a_limit_and_nothing_is_spent(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps({"key": f"probe-{n}", "text": "3"}) for n in range(300)))
    ask = ask_of(store, Replay(path.name, tmp_path))
    probes = [make_probe(n) for n in range(300)]
    store.calls.allow(probes[0].run_id, Budget(tokens=1))
    responses = await asyncio.gather(*(one(ask, probe) for probe in probes))
    assert {response.ending for response in responses} == {Ending.ANSWERED}
    assert {
        (response.usage.calls, response.usage.retries, response.usage.cost)
        for response in responses
    } == {(1, 0, None)}
    run_id = probes[0].run_id
    assert store.calls.spending([run_id])[run_id].tokens == 0


async def test_recorded_answers_of_a_cancelled_run_are_not_looked_up(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"key": "probe-0", "text": "3"}))
    probe = make_probe()
    store.records.write([make_cancellation(run_id=probe.run_id)])
    assert list(await ask_of(store, Replay(path.name, tmp_path))(probe)) == []


STEPS: list[dict[str, Any]] = [
    {"name": "criterion:skills", "rating": 3, "text": "Two tools, used in earnest."},
    {"name": "criterion:care", "text": "Tidy.\n\nRating: 4"},
    {"name": "criterion:drive", "text": "Nothing is said of it."},
    {"name": "criterion:luck", "rating": 9},
    {"name": "synthesis", "text": "All in all good."},
]


async def test_recorded_steps_come_with_the_answer_and_what_cannot_be_read_has_a_reason(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    line = {"key": "probe-0", "scaffold": "multi_layer", "text": "Rating: 3", "steps": STEPS}
    path.write_text(json.dumps(line))
    ask = ask_of(store, Replay(path.name, tmp_path))
    response = await one(ask, make_probe(messages=(), variables=CV, scaffold="multi_layer"))
    assert (response.ending, response.text) == (Ending.ANSWERED, "Rating: 3")
    assert [(step.name, step.rating, step.reason) for step in response.steps] == [
        ("criterion:skills", 3, None),
        ("criterion:care", 4, None),
        ("criterion:drive", None, "no_rating"),
        ("criterion:luck", None, "outside_scale"),
        ("synthesis", None, None),
    ]
    assert response.said == {step["name"]: step["text"] for step in STEPS if "text" in step}
    free = await one(ask, make_probe(scaffold="multi_layer"))  # names no scale
    assert [step.rating for step in free.steps] == [3, 4, None, 9, None]


def test_a_recording_with_two_steps_of_one_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"key": "a", "text": "3", "steps": [STEPS[0], STEPS[0]]}))
    with pytest.raises(UsageError, match="two steps have the same name"):
        read_recording(path)


async def test_a_recording_that_cannot_be_read_leaves_its_probes_unanswered_until_it_can(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    ask = ask_of(store, Replay(path.name, tmp_path))
    response = await one(ask, make_probe())
    assert (response.ending, response.reason) == (Ending.FAILED, "not_recorded")
    assert response.detail is not None
    assert response.detail.startswith("The target names no file of recorded answers")
    path.write_text(json.dumps({"key": "probe-0", "text": "Rating: 3"}))
    assert (await one(ask, make_probe(repeat=0, scaffold="direct"))).text == "Rating: 3"


async def test_what_may_pass_is_tried_again_and_then_recorded(
    store: Store, no_waiting: list[float]
) -> None:
    model = Scripted(lambda _: CallFailed(Failure.SERVER_ERROR, "HTTP 500."))
    response = await one(ask_of(store, model), probe_of())
    assert (response.ending, response.reason) == (Ending.FAILED, "server_error")
    assert [call.attempt for call in model.calls] == [0, 1, 2]
    assert (response.usage.calls, response.usage.retries) == (3, 2)
    assert len(no_waiting) == 2


async def test_what_cannot_pass_is_not_tried_again(store: Store) -> None:
    model = Scripted(lambda _: CallFailed(Failure.BAD_REQUEST, "HTTP 400."))
    assert (await one(ask_of(store, model), probe_of())).reason == "bad_request"
    assert len(model.calls) == 1


async def test_a_429_waits_what_was_asked_for_and_uses_up_no_try(
    store: Store, no_waiting: list[float]
) -> None:
    def script(call: ModelCall) -> ModelAnswer | CallFailed:
        if call.attempt < 9:
            return CallFailed(Failure.RATE_LIMITED, "429", retry_after_s=4)
        return says("At last.")

    response = await one(ask_of(store, Scripted(script)), probe_of())
    assert response.text == "At last."
    assert response.usage.retries == 9
    assert no_waiting == [4.0] * 9


async def test_a_429_that_asks_for_too_much_patience_is_recorded(store: Store) -> None:
    model = Scripted(lambda _: CallFailed(Failure.RATE_LIMITED, "429", retry_after_s=3600))
    assert (await one(ask_of(store, model), probe_of())).reason == "rate_limited"


async def test_a_redelivered_probe_is_not_paid_again_even_before_its_response_is_kept(
    store: Store,
) -> None:
    model = Scripted(lambda _: says("Long."))
    first = await one(ask_of(store, model), probe_of())
    again = await one(ask_of(store, model), probe_of())  # another process: it has died meanwhile
    assert len(model.calls) == 1
    assert again.text == first.text
    assert again.usage.cost == first.usage.cost
    assert store.calls.spending([first.run])[first.run].tokens == 5


async def test_two_copies_of_a_probe_at_once_are_paid_once(store: Store) -> None:
    model = Scripted(lambda _: says("It is long."))
    ask = ask_of(store, model)
    first, second = await asyncio.gather(one(ask, probe_of()), one(ask, probe_of()))
    assert len(model.calls) == 1
    assert first.text == second.text == "It is long."


async def test_a_scaffold_that_was_broken_off_pays_only_for_what_it_lacks(store: Store) -> None:
    left = {"skills", "care"}

    def script(call: ModelCall) -> ModelAnswer | CallFailed:
        if any(f"alone: {name}" in call.messages[-1]["content"] for name in left):
            return says('{"rating": 4}')
        return CallFailed(Failure.BAD_REQUEST, "400")

    model = Scripted(script)
    probe = cv_probe("decomposed_algorithmic")
    assert (await one(ask_of(store, model), probe)).reason == "bad_request"
    model.script = rates(4)
    assert (await one(ask_of(store, model), probe)).ending is Ending.ANSWERED
    assert len(model.calls) == 4


@pytest.mark.parametrize(
    "bad",
    [CallFailed(Failure.REFUSAL, "No.", tokens=(3, 1)), says("Half an ans", "length")],
    ids=["refusal", "truncation"],
)
async def test_refusals_and_cut_answers_are_counted_and_not_kept(
    store: Store, bad: ModelAnswer | CallFailed
) -> None:
    model = Scripted(lambda _: bad)
    response = await one(ask_of(store, model), probe_of())
    assert store.calls.spending([response.run])[response.run].tokens >= 4
    model.script = lambda _: says("Long.")
    assert (await one(ask_of(store, model), probe_of())).text == "Long."


async def test_another_repeat_or_run_asks_anew(store: Store) -> None:
    model = Scripted(lambda _: says("Long."))
    for probe in (probe_of(), probe_of(repeat=1), probe_of(run_id="1" * 32)):
        await ask_of(store, model)(probe)
    assert len(model.calls) == 3


async def test_a_judge_can_ask_for_a_fresh_call(store: Store) -> None:
    model = Scripted(lambda _: says("Long."))
    for _ in range(2):
        await ask_of(store, model)(probe_of(fresh=True))
    assert len(model.calls) == 2


async def test_a_response_says_that_a_cache_gave_the_answer(store: Store) -> None:
    model = Scripted(lambda _: replace(says("Long."), from_cache=True))
    assert (await one(ask_of(store, model), probe_of())).from_cache


async def test_a_purged_run_leaves_no_answer_behind(store: Store) -> None:
    model = Scripted(lambda _: says("Long."))
    first = await one(ask_of(store, model), probe_of())
    store.purges.run(first.run, AT)
    await ask_of(store, model)(probe_of())
    assert len(model.calls) == 2


@pytest.mark.parametrize("budget", [Budget(tokens=10), Budget(cost=14)])
async def test_a_run_stops_at_its_budget_and_goes_on_with_more(
    store: Store, budget: Budget
) -> None:
    model = Scripted(lambda _: says("Long."))
    run_id = probe_of().run_id
    store.calls.allow(run_id, budget)
    ask = ask_of(store, model)
    records: list[Record] = []
    for number in range(5):
        records += await ask(probe_of(number))
    assert [type(item) for item in records] == [Response, Response, Cancellation]
    stop = records[-1]
    assert isinstance(stop, Cancellation)
    assert (stop.reason, stop.run_id, stop.ends(probe_of(4))) == ("budget_spent", run_id, True)
    store.records.write([stop])
    store.calls.allow(run_id, Budget(tokens=1000))
    later = AT + timedelta(seconds=5)
    assert (await one(ask, probe_of(4, at=later))).ending is Ending.ANSWERED
    assert len(model.calls) == 3


async def test_taken_up_again_without_more_it_stops_again(store: Store) -> None:
    run_id = probe_of().run_id
    store.calls.allow(run_id, Budget(tokens=1))
    ask = ask_of(store, Scripted(lambda _: says("Long.")))
    await ask(probe_of(0))
    [first] = await ask(probe_of(1))
    later = AT + timedelta(seconds=5)
    [second] = await ask(probe_of(1, at=later))
    assert isinstance(first, Cancellation)
    assert isinstance(second, Cancellation)
    assert first.id != second.id
    assert second.ends(probe_of(1, at=later))


@pytest.mark.parametrize(
    ("answer", "price", "budget", "reason"),
    [
        (says("x"), None, Budget(cost=100), "no_price"),
        (ModelAnswer("x", "stop"), PRICE, Budget(tokens=100), "usage_unknown"),
    ],
)
async def test_a_budget_that_cannot_be_watched_stops_the_run(
    store: Store, answer: ModelAnswer, price: Price | None, budget: Budget, reason: str
) -> None:
    store.calls.allow(probe_of().run_id, budget)
    ask = ask_of(store, Scripted(lambda _: answer), price=price)
    ns = [record for n in range(3) for record in await ask(probe_of(n))]
    [stop] = [record for record in ns if isinstance(record, Cancellation)]
    assert stop.reason == reason


async def test_a_cancelled_run_is_not_asked(store: Store) -> None:
    store.records.write([make_cancellation(moment_ms=int(AT.timestamp() * 1000))])
    model = Scripted(lambda _: says("Long."))
    assert await ask_of(store, model)(probe_of()) == []
    assert model.calls == []


async def test_what_was_paid_while_the_store_blinks_is_counted_once_it_is_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, away = store.calls.keep, 3

    def blinking(paid: Sequence[PaidCall]) -> None:
        nonlocal away
        away -= 1
        if away >= 0:
            raise TransientError("The store is not available.")
        keep(paid)

    monkeypatch.setattr(store.calls, "keep", blinking)
    ask = ask_of(store, Scripted(lambda _: says("Long.")))
    responses = await asyncio.gather(*(one(ask, probe_of(number)) for number in range(15)))
    assert [response.text for response in responses] == ["Long."] * 15
    assert store.calls.spending([responses[0].run])[responses[0].run].tokens == 15 * 5


async def test_no_call_is_made_that_the_store_cannot_count(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> dict[str, int]:
        raise TransientError("The store is not available.")

    monkeypatch.setattr(store.calls, "begin", away)
    model = Scripted(lambda _: says("Long."))
    with pytest.raises(TransientError):
        await ask_of(store, model)(probe_of())
    assert model.calls == []


async def test_a_probe_whose_outcome_is_always_lost_is_paid_so_often_and_no_more(
    store: Store,
) -> None:
    model = Scripted(lambda _: CallFailed(Failure.GARBAGE, "No JSON.", tokens=(None, None)))
    responses = [await one(ask_of(store, model), probe_of()) for _ in range(5)]
    assert [item.reason for item in responses] == ["garbage"] * 3 + ["calls_used_up"] * 2
    assert len(model.calls) == 3 * 3
    spending = store.calls.spending([responses[0].run])[responses[0].run]
    assert spending.unknown_tokens == 3 * 3


async def test_a_reply_that_breaks_its_adapter_is_one_outcome_and_is_counted(store: Store) -> None:
    def broken(_: ModelCall) -> ModelAnswer:
        raise RecursionError

    response = await one(ask_of(store, Scripted(broken)), probe_of())
    assert (response.ending, response.reason) == (Ending.FAILED, "garbage")
    assert store.calls.spending([response.run])[response.run].unknown_tokens == 3


async def test_old_answers_are_forgotten_and_sums_are_not(store: Store) -> None:
    model = Scripted(lambda _: says("Long."))
    response = await one(ask_of(store, model), probe_of())
    assert store.calls.forget(AT) == 0
    assert store.calls.forget(AT + timedelta(days=1)) == 1
    assert store.calls.spending([response.run])[response.run].tokens == 5


REJECTION = CallFailed(Failure.BAD_REQUEST, 'The provider answered HTTP 404: "No such model".')


async def asked_together(ask: Ask, probes: int, **fields: Any) -> list[Record]:
    outcomes = await asyncio.gather(*(ask(probe_of(n, **fields)) for n in range(probes)))
    return [record for records in outcomes for record in records]


async def test_a_run_whose_first_calls_are_rejected_stops_with_the_providers_words(
    store: Store,
) -> None:
    model = Scripted(lambda _: REJECTION)
    ask = ask_of(store, model, held_s=PATIENCE_S)
    records = await asked_together(ask, 200)
    assert [type(item) for item in records] == [Cancellation]
    [stop] = records
    assert isinstance(stop, Cancellation)
    assert (stop.reason, stop.detail) == ("provider_errors", REJECTION.detail)
    assert stop.ends(probe_of(199))
    assert MAX_REJECTED_CALLS <= len(model.calls) < 100


async def test_a_stopped_run_that_is_taken_up_again_asks_what_was_rejected(store: Store) -> None:
    outcomes = [REJECTION]
    model = Scripted(lambda _: outcomes[0])
    ask = ask_of(store, model, held_s=PATIENCE_S)
    [stop] = await asked_together(ask, 40)
    store.records.write([stop])
    outcomes[0] = says("Long.")  # type: ignore[call-overload]
    records = await asked_together(ask, 40, at=AT + timedelta(seconds=5))
    assert [item.text for item in records if isinstance(item, Response)] == ["Long."] * 40


async def test_a_run_of_fewer_prompts_records_each_rejection(store: Store) -> None:
    records = await asked_together(ask_of(store, Scripted(lambda _: REJECTION)), 19)
    assert [item.reason for item in records if isinstance(item, Response)] == ["bad_request"] * 19


async def test_a_run_with_one_answer_is_not_stopped(store: Store) -> None:
    count = iter(range(1000))
    model = Scripted(lambda _: says("Long.") if next(count) == 10 else REJECTION)
    records = await asked_together(ask_of(store, model, held_s=PATIENCE_S), 60)
    assert Counter(type(item).__name__ for item in records) == {"Response": 60}


async def test_a_run_that_another_process_has_answers_of_is_not_stopped(store: Store) -> None:
    await one(ask_of(store, Scripted(lambda _: says("Long."))), probe_of(100))
    records = await asked_together(ask_of(store, Scripted(lambda _: REJECTION)), 40)
    assert Counter(type(item).__name__ for item in records) == {"Response": 40}


@pytest.mark.parametrize("why", [Failure.CONTENT_FILTER, Failure.REFUSAL, Failure.TRUNCATED])
async def test_outcomes_of_single_prompts_stop_no_run(store: Store, why: Failure) -> None:
    model = Scripted(lambda _: CallFailed(why, "Not this one."))
    records = await asked_together(ask_of(store, model, held_s=PATIENCE_S), 60)
    assert [item.reason for item in records if isinstance(item, Response)] == [why.value] * 60
    assert len(model.calls) == 60


async def test_rejected_questions_of_judges_stop_no_run(store: Store) -> None:
    model = Scripted(lambda _: REJECTION)
    records = await asked_together(ask_of(store, model), 60, purpose=Purpose.JUDGE)
    assert Counter(type(item).__name__ for item in records) == {"Response": 60}


async def test_scores_are_asked_in_two_contexts_stored_and_paid_once(store: Store) -> None:
    def scored(call: ModelCall) -> ModelAnswer:
        assert call.continuations is not None
        rows = [[(text, -float(place))] for place, text in enumerate(call.continuations.texts, 1)]
        return ModelAnswer("1", "stop", 3, 0, scores=rows)

    model = Scripted(scored)
    variables = {"question": "How well does this applicant fit?", "scale": "1 to 4, whole numbers"}
    probe = probe_of(scaffold="likelihood", messages=(), variables=variables)
    [response] = await ask_of(store, model)(probe)
    assert isinstance(response, Response)
    assert (response.text, response.usage.calls) == ("1", 2)
    assert [option.logprobs for option in response.scored] == [(-1.0,), (-2.0,), (-3.0,), (-4.0,)]
    [again] = await ask_of(store, model)(probe)  # from the stored calls
    assert isinstance(again, Response)
    assert again.scored == response.scored
    assert len(model.calls) == 2
