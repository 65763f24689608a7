"""Runs in batches: sent once, read in any order, resumed after a kill at every step."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.generator import app
from biaswatch.services.generator.app import ask_of, model_caller
from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.batch_job import BatchJob, BatchTimes
from biaswatch.services.generator.handlers.endpoints import Endpoint, endpoint_of
from biaswatch.services.generator.handlers.target_pauses import TargetPauses
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Budget, Cancellation, Ending, Probe, Record, Response, Target
from biaswatch.shared.contracts.target import parse_target
from biaswatch.shared.errors import UsageError
from biaswatch.shared.llm.sdk_model import SdkModel
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Database
from tests.integration.generator.test_ask import CV
from tests.support.batch_server import BatchServer, Line, text_of
from tests.support.model_server import model_server
from tests.support.records import make_cancellation, make_probe

PROVIDERS = ("openai", "openai-responses", "anthropic")
PRICE = Price(read=1_000_000, written=2_000_000)
LOOKS = 40
"""More than any test needs."""


class Bus:
    """Takes records, and keeps the last of each id."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        del publication
        self.records[record.id] = record

    @property
    def responses(self) -> dict[str, Response]:
        """The responses by the key of their probe."""
        return {r.probe.key: r for r in self.records.values() if isinstance(r, Response)}


class Generator:
    """One process of the generator, as far as batches are concerned."""

    def __init__(self, store: Store, folder: Path, *, settle_s: float = 0.0) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "127.0.0.1").write_text("a key")
        settings = GeneratorSettings(keys_dir=folder, generator_private_hosts=("127.0.0.1",))
        self.later = timedelta()
        self.pauses = TargetPauses(store.paused_targets, now=self.now, wait_s=5)
        self.caller = model_caller(store, settings)
        self.ask: Ask = ask_of(store, settings, {"m": PRICE}, self.pauses, self.caller)
        times = BatchTimes(every_s=0.01, linger_s=0, settle_s=settle_s)
        self.batches = BatchJob(
            store.batches, store.calls, self.ask, self.caller, self.pauses, now=self.now,
            times=times,
        )  # fmt: skip

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later

    async def add(self, probes: list[Probe], bus: Bus) -> None:
        """Handle probes as the stage does."""
        for records in await asyncio.gather(*(self.ask(probe) for probe in probes)):
            for record in records:
                await bus.publish(record)

    async def finish(self, probes: list[Probe], bus: Bus, *, step_s: float = 1) -> None:
        """Look at batches until every probe has its response."""
        for _ in range(LOOKS):
            await self.batches.run_once(bus)  # type: ignore[arg-type]
            if len(bus.responses) == len(probes):
                return
            self.later += timedelta(seconds=step_s)
        raise AssertionError(f"{len(bus.responses)} of {len(probes)} probes have a response.")

    async def close(self) -> None:
        await self.ask.close()


def target_of(provider: str, url: str, more: str = "") -> Any:
    base = url.removesuffix("/v1") if provider == "anthropic" else url
    return parse_target(f"{provider}:m@{base}?batch=true{more}")


def probes_of(provider: str, url: str, number: int = 4, more: str = "") -> list[Probe]:
    target = target_of(provider, url, more)
    plain = [make_probe(n, target=target) for n in range(number - 1)]
    cv = make_probe(99, target=target, messages=(), variables=CV, scaffold="decomposed")
    return [*plain, cv]


@contextmanager
def serving(**how: Any) -> Iterator[tuple[BatchServer, str]]:
    server = BatchServer(**how)
    with model_server(server) as url:
        yield server, url


async def run_all(
    store: Store, folder: Path, probes: list[Probe], **how: Any
) -> dict[str, Response]:
    """Run one generator to the end, without any disturbance."""
    bus, generator = Bus(), Generator(store, folder, **how)
    try:
        await generator.add(probes, bus)
        await generator.finish(probes, bus)
    finally:
        await generator.close()
    return bus.responses


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_questions_are_sent_in_batches_once_and_at_half_the_price(
    store: Store, tmp_path: Path, provider: str
) -> None:
    with serving() as (server, url):
        probes = probes_of(provider, url)
        responses = await run_all(store, tmp_path, probes)
    assert {r.ending for r in responses.values()} == {Ending.ANSWERED}
    assert [len(batch.requests) for batch in server.batches.values()] == [6, 1]
    assert set(server.executed.values()) == {1}
    assert "batch" not in str([b for k in server.batches.values() for b in k.requests.values()])
    [plain] = {r.usage.cost for key, r in responses.items() if len(r.steps) == 0}
    assert plain == pytest.approx((10 * 1 + 5 * 2) / 2)
    [run] = store.calls.spending({probes[0].run_id}).values()
    assert plain is not None
    assert run.cost == pytest.approx(7 * plain)
    assert responses[probes[-1].key].steps[-1].name == "synthesis"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
async def test_a_kill_at_any_step_sends_no_question_twice_and_loses_none(
    store: Store, tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoints: dict[str, Endpoint] = {}  # connecting takes longer than all else

    def connected(target: Target, *settings: Any) -> Endpoint:
        return endpoints.setdefault(
            target.lane, endpoints.get(target.lane) or endpoint_of(target, *settings)
        )

    monkeypatch.setattr(app, "endpoint_of", connected)
    with serving() as (server, url):
        target = target_of(provider, url)
        probes = [question(n, target) for n in range(2)]
        bus, first = Bus(), Generator(store, tmp_path)
        await first.add(probes, bus)
        await first.finish(probes, bus)
        expected = {key: r.text for key, r in bus.responses.items()}
        kills, calls = 0, len(server.executed)
        for step in range(1, 200):
            server.executed.clear()
            run_id = f"{step:032x}"
            again = [probe.model_copy(update={"run_id": run_id}) for probe in probes]
            again = [Probe.model_validate(probe.model_dump()) for probe in again]
            killed, bus = await killed_at(step, store, tmp_path, again, monkeypatch)
            generator = Generator(store, tmp_path)
            await generator.add(again, bus)  # what was not acknowledged is delivered again
            await generator.finish(again, bus)
            assert {key: r.text for key, r in bus.responses.items()} == expected, step
            assert set(server.executed.values()) == {1}, (step, server.executed)
            assert len(server.executed) == calls, step
            if not killed:
                break
            kills += 1
        await first.close()
    assert kills > 15


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_two_generators_send_each_call_in_one_batch(
    store: Store, store_url: str, tmp_path: Path, provider: str
) -> None:
    with serving() as (server, url), Store.open(store_url) as same:
        target = target_of(provider, url)
        probes = [question(n, target) for n in range(60)]
        bus, generators = Bus(), [Generator(s, tmp_path, settle_s=60) for s in (store, same)]
        first, second = generators
        await asyncio.gather(first.add(probes[:40], bus), second.add(probes[:19:-1], bus))
        for _ in range(LOOKS):
            await asyncio.gather(*(generator.batches.run_once(bus) for generator in generators))  # type: ignore[arg-type]
            if len(bus.responses) == len(probes):
                break
        for generator in generators:
            await generator.close()
    assert len(bus.responses) == len(probes)
    assert set(server.executed.values()) == {1}
    assert len(server.executed) == len(probes)
    [spent] = store.calls.spending([probes[0].run_id]).values()
    assert spent.tokens == 15 * len(probes)


async def test_expired_calls_are_sent_once_more_and_lacking_ones_never(
    store: Store, tmp_path: Path
) -> None:
    expired = set[str]()

    def line(id_: str, body: dict[str, Any]) -> Line:
        if "question 1" in str(body) or ("question 2" in str(body) and id_ not in expired):
            expired.add(id_)
            return "expired"
        if "question 3" in str(body):
            return {"response": {"status_code": 500, "body": {"error": {"message": "an error"}}}}
        return None if "question 4" in str(body) else text_of(body)

    with serving() as (server, url):
        server.line = line
        target = target_of("openai", url)
        probes = [question(n, target) for n in range(6)]
        responses = await run_all(store, tmp_path, probes)
    reasons = [responses[probe.key].reason for probe in probes]
    assert reasons == [None, "timeout", None, "server_error", "garbage", None]
    assert "before it reached the question" in str(responses[probes[1].key].detail)
    assert len(server.batches) == 2


def question(number: int, target: Any, **fields: Any) -> Probe:
    message = {"role": "user", "content": f"This is question {number}."}
    return make_probe(number, target=target, messages=(message,), **fields)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_faults_of_the_server_delay_a_batch_and_repeat_nothing(
    store: Store, tmp_path: Path, provider: str
) -> None:
    with serving() as (server, url):
        server.faults = {
            "upload": [500, 429], "create": [429], "status": [500, 404], "content": [500, 503],
            "list": [500],
        }  # fmt: skip
        server.lost_replies = {"create"}
        target = target_of(provider, url)
        probes = [question(n, target) for n in range(3)]
        generator, bus = Generator(store, tmp_path), Bus()
        await generator.add(probes, bus)
        await generator.finish(probes, bus, step_s=60)
        await generator.close()
    assert {r.ending for r in bus.responses.values()} == {Ending.ANSWERED}
    assert set(server.executed.values()) == {1}
    assert len(server.executed) == 3


async def test_a_submission_is_repeated_only_after_its_file_is_gone(
    store: Store, tmp_path: Path
) -> None:
    with serving() as (server, url):
        server.faults = {"create": [500]}
        probes = [question(0, target_of("openai", url))]
        responses = await run_all(store, tmp_path, probes)
    assert len(responses) == 1
    assert server.seen[:6] == ["upload", "create", "list", "delete", "list", "upload"]
    assert list(server.files) == ["file-0"] or len(server.files) == 1


async def test_a_batch_that_the_provider_rejects_stops_its_run_with_the_reason(
    store: Store, tmp_path: Path
) -> None:
    with serving() as (server, url):
        server.faults = {"upload": [404]}
        probes = [question(n, target_of("openai", url)) for n in range(3)]
        generator, bus = Generator(store, tmp_path), Bus()
        await generator.add(probes, bus)
        await generator.batches.run_once(bus)  # type: ignore[arg-type]
        await generator.close()
    [cancellation] = bus.records.values()
    assert isinstance(cancellation, Cancellation)
    assert cancellation.reason == "provider_errors"
    assert "Check that the target has batches" in str(cancellation.detail)
    assert not store.batches.waiting()
    assert not store.batches.unfinished()
    assert server.seen == ["upload"]


async def test_a_cancelled_run_cancels_its_batch_and_a_resumed_one_asks_the_rest(
    store: Store, tmp_path: Path
) -> None:
    with serving(looks=100) as (server, url):
        target = target_of("openai", url)
        probes = [question(n, target) for n in range(3)]
        generator, bus = Generator(store, tmp_path), Bus()
        await generator.add(probes, bus)
        await generator.batches.run_once(bus)  # type: ignore[arg-type]
        stop = make_cancellation(run_id=probes[0].run_id, at=generator.now())
        store.records.write([stop])
        later = Generator(store, tmp_path)
        for _ in range(4):
            await later.batches.run_once(bus)  # type: ignore[arg-type]
        assert server.seen.count("cancel") == 1
        assert bus.responses == {}
        assert not store.batches.waiting()
        assert not store.batches.unfinished()
        server.looks = 1
        resumed = [probe.model_copy(update={"at": later.now()}) for probe in probes]
        await later.add(resumed, bus)
        await later.finish(resumed, bus)
        await later.close()
        await generator.close()
    assert set(server.executed.values()) == {1}


async def test_a_budget_sends_no_more_than_it_is_estimated_to_allow(
    store: Store, tmp_path: Path
) -> None:
    with serving() as (server, url):
        target = target_of("openai", url, "&max_tokens=100")
        probes = [question(n, target) for n in range(20)]
        store.calls.allow(probes[0].run_id, Budget(tokens=280))
        generator, bus = Generator(store, tmp_path), Bus()
        await generator.add(probes, bus)
        for _ in range(20):
            await generator.batches.run_once(bus)  # type: ignore[arg-type]
        await generator.close()
    assert [r.reason for r in bus.records.values() if isinstance(r, Cancellation)] == [
        "budget_spent"
    ]
    [spent] = store.calls.spending([probes[0].run_id]).values()
    assert 280 <= spent.tokens <= 280 + 15
    assert len(bus.responses) == spent.tokens // 15
    assert len(server.batches) < 8


async def test_a_refused_key_pauses_the_target_until_it_is_corrected(
    store: Store, tmp_path: Path
) -> None:
    with serving() as (server, url):
        server.faults = {"upload": [401]}
        probes = [question(0, target_of("openai", url))]
        generator, bus = Generator(store, tmp_path), Bus()
        await generator.add(probes, bus)
        await generator.batches.run_once(bus)  # type: ignore[arg-type]
        [paused] = store.paused_targets.read()
        assert "key" in paused.why
        await generator.finish(probes, bus, step_s=60)
        await generator.close()
    assert store.paused_targets.read() == []
    assert set(server.executed.values()) == {1}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("simulator:biased?batch=true", "has no batches"),
        ("openai:m?batch=maybe", "must be true or false"),
    ],
)
def test_a_target_without_batches_is_refused_before_anything_is_sent(
    written: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        parse_target(written)


def test_batch_false_is_the_same_target_as_without_it() -> None:
    assert parse_target("openai:m?batch=false").parameters == {}
    assert parse_target("openai:m?batch=true").in_batches


async def killed_at(
    step: int, store: Store, folder: Path, probes: list[Probe], monkeypatch: pytest.MonkeyPatch
) -> tuple[bool, Bus]:
    """Run a generator that dies after a number of requests, writes and publications."""
    bus, death = Bus(), Death(step)
    with monkeypatch.context() as patched:
        death.at(patched, SdkModel, "reply")
        death.at(patched, Bus, "publish")
        writing = Database.writing

        @contextmanager
        def dying(db: Database) -> Iterator[Any]:
            death.step()
            with writing(db) as connection:
                yield connection
            death.step()

        patched.setattr(Database, "writing", dying)
        generator = Generator(store, folder)

        async def live() -> None:
            await generator.add(probes, bus)
            await generator.finish(probes, bus)

        life, end = asyncio.ensure_future(live()), asyncio.ensure_future(death.happened.wait())
        await asyncio.wait({life, end}, return_when=asyncio.FIRST_COMPLETED)
        for task in (life, end):
            task.cancel()
        [outcome, _] = await asyncio.gather(life, end, return_exceptions=True)
    if not death.happened.is_set():
        assert outcome is None
    return death.happened.is_set(), bus


class Killed(BaseException):
    """Ends a generator as a signal would: nothing can be done any more."""


class Death:
    """Counts steps; after the last one, every further step fails."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.happened = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            self._loop.call_soon_threadsafe(self.happened.set)
            raise Killed

    def at(self, patched: pytest.MonkeyPatch, owner: type, name: str) -> None:
        """Count a step before and after an asynchronous method."""
        method: Callable[..., Any] = getattr(owner, name)

        async def counted(*args: Any, **more: Any) -> Any:
            self.step()
            result = await method(*args, **more)
            self.step()
            return result

        patched.setattr(owner, name, counted)
