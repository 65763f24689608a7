"""Drop-in extractors: found without a restart; whatever one does wrong stays its own affair."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.extractor.handlers import dropin_discovery
from biaswatch.services.extractor.handlers.dropin_discovery import DropIns
from biaswatch.services.extractor.handlers.dropin_testing import ConformanceTest
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.shared.bus.jetstream import Connection, Requester
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store, migrate
from tests.support.bus import QUICK, ProvisionedBus, ReceivedRecords
from tests.support.records import make_probe, make_response
from tests.support.toy_dropins import Toy
from tests.support.waiting import eventually

CALL_S = 0.3


@dataclass
class Platform:
    """An extractor service that looks for drop-ins, and what it publishes."""

    bus: ProvisionedBus
    store: Store
    seen: ReceivedRecords
    service: Service

    async def running(self, name: str, version: str = "1.0.0") -> None:
        await eventually(
            lambda: any(
                (item.name, item.version) == (name, version)
                for item in self.store.extractors.running(datetime(2000, 1, 1, tzinfo=UTC))
            )
        )

    async def told(self, wanted: Callable[[Any], bool]) -> Any:
        result: list[Any] = []

        def announced() -> bool:
            result.extend(item for item in self.store.extractors.ever() if wanted(item))
            return bool(result)

        await eventually(announced)
        return result[0]

    async def ask(self, *texts: str, measure: tuple[str, ...] = ("toy",), first: int = 0) -> None:
        await self.bus.publish(
            *(
                make_response(n, text=text, probe=make_probe(n, measure=measure, baseline=None))
                for n, text in enumerate(texts, first)
            )
        )

    def by_text(self, *texts: str, extractor: str = "toy", first: int = 0) -> Mapping[str, Any]:
        """Return value or reason for each of the texts."""
        result = {
            record.probe_id: record for record in self.seen.records if record.extractor == extractor
        }
        features = [result.get(make_probe(n).id) for n, _ in enumerate(texts, first)]
        return {
            text: (record.unscorable or next(iter(record.values.values()))) if record else None
            for text, record in zip(texts, features, strict=True)
        }


@pytest.fixture
async def platform(bus: ProvisionedBus, tmp_path: Path) -> AsyncIterator[Platform]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        async with serving(bus, store) as made:
            yield made


@asynccontextmanager
async def serving(bus: ProvisionedBus, store: Store) -> AsyncIterator[Platform]:
    def now() -> datetime:
        return datetime.now(UTC)

    seen = ReceivedRecords()
    bus.work(Stage("recorder", Features, seen.handle))
    words = load(["words"])
    stage = Stage(
        "extractor", Response, MeasureResponses(words, store.baselines, now=now), batch=16
    )
    drop_ins = DropIns(store, {"words"}, now, 0.1, 0.2, CALL_S, 16)
    settings = Settings(nats_url=bus.server.url, grace_s=1)
    service = Service(
        "extractor", settings, stages=[stage], supervisors=[drop_ins.job], policy=QUICK
    )
    task = asyncio.create_task(service.run(with_health=False))
    await service.started.wait()
    try:
        yield Platform(bus, store, seen, service)
    finally:
        service.stop()
        await task


async def test_a_drop_in_is_found_and_measures_what_comes_from_then_on(platform: Platform) -> None:
    await platform.ask("before it came")
    toy = Toy()
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("after", "later on", first=1)
    await platform.seen.wait_for(2)
    assert platform.by_text("after", "later on", first=1) == {"after": 5, "later on": 8}
    assert {record.extractor_version for record in platform.seen.records} == {"1.0.0"}
    assert {record.instrument for record in platform.seen.records} == {"a toy"}
    assert ["before it came"] not in toy.calls


async def test_what_its_probe_does_not_ask_for_is_not_sent_to_it(platform: Platform) -> None:
    toy = Toy()
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("a", "b", measure=("words",))
    await platform.seen.wait_for(2)
    await platform.ask("c", first=2)
    await platform.seen.wait_for(3)
    assert toy.calls == [["c"]]


async def test_baselines_are_asked_for_once(platform: Platform) -> None:
    toy = Toy()
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    for n in range(3):
        probe = make_probe(n, measure=("toy",), baseline="base")
        await platform.bus.publish(make_response(n, text="longer", probe=probe))
        await platform.seen.wait_for(n + 1)
    seen = [(record.values, record.baseline) for record in platform.seen.records]
    assert seen == [({"letters": 6.0}, {"letters": 4.0})] * 3
    assert sum(call.count("base") for call in toy.calls) == 1


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (
            {"values": {"letters": float("nan")}},
            "the extractor gave no finite number, or one beyond 1e150",
        ),
        ({"values": {"letters": "7"}}, "the extractor gave no finite number, or one beyond 1e150"),
        ({"values": {"other": 1}}, "the extractor gave other features than it names"),
        ({"values": {"letters": 1, "more": 2}}, "the extractor gave other features than it names"),
        ({"id": "99", "values": {"letters": 1}}, "the extractor gave no result"),
        ({"values": [1]}, "the extractor broke its contract"),
        ({"unscorable": "no letters"}, "no letters"),
        (
            {"unscorable": "a\u2028" + "x" * 400},
            "the extractor gave a reason that is no short phrase",
        ),
        (b"{", "the extractor broke its contract"),
        (b"[1]", "the extractor broke its contract"),
        (b"[" * 100_000, "the extractor broke its contract"),
    ],
)
async def test_a_wrong_result_is_unscorable_and_the_others_are_measured(
    platform: Platform, spoilt: Any, reason: str
) -> None:
    toy = Toy(says=lambda text: spoilt if text == "bad" else {"values": {"letters": len(text)}})
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("good", "bad", "better")
    await platform.seen.wait_for(3)
    assert platform.by_text("good", "bad", "better") == {"good": 4, "bad": reason, "better": 6}


async def test_a_text_it_hangs_on_is_given_up_and_the_others_are_measured(
    platform: Platform,
) -> None:
    toy = Toy(says=lambda text: None if text == "bad" else {"values": {"letters": len(text)}})
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("good", "bad", "better", measure=("toy", "words"))
    await platform.seen.wait_for(6)
    assert platform.by_text("good", "bad", "better") == {
        "good": 4,
        "bad": "the extractor died or hung on this text",
        "better": 6,
    }
    assert platform.by_text("bad", extractor="words", first=1) == {"bad": 1}
    assert (await platform.bus.dead()) == []


async def test_ten_megabytes_do_not_arrive_and_cost_one_text(platform: Platform) -> None:
    connection = await Connection.open(platform.bus.server.url, name="toy")
    big = b"x" * 10_000_000
    toy = Toy(says=lambda text: big if text == "bad" else {"values": {"letters": len(text)}})
    await toy.serve(connection)
    await platform.running("toy")
    await platform.ask("good", "bad")
    await platform.seen.wait_for(2)
    result = platform.by_text("good", "bad")
    assert result["good"] == 4
    assert result["bad"] in ("the extractor failed: 500", "the extractor died or hung on this text")
    await connection.close()


async def test_a_text_that_kills_it_is_given_up_though_it_is_started_again_each_time(
    platform: Platform,
) -> None:
    deaths: list[asyncio.Task[None]] = []
    toy = Toy()

    async def die_and_come_back() -> None:
        await toy.service.stop()
        await toy.serve(platform.bus.connection)

    def says(text: str) -> Any:
        if text != "bad":
            return {"values": {"letters": len(text)}}
        deaths.append(asyncio.create_task(die_and_come_back()))
        return None

    toy.says = says
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("good", "bad", "better")
    await platform.seen.wait_for(3)
    result = platform.by_text("good", "bad", "better")
    assert result == {"good": 4, "bad": "the extractor died or hung on this text", "better": 6}
    assert len(deaths) == 4  # once among others, three times alone


async def test_what_comes_while_it_is_away_waits_for_it(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropin_discovery, "GONE_AFTER_S", 0.1)
    toy = Toy()
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await toy.service.stop()
    await eventually(lambda: len(platform.service.state().stages) == 1)
    await platform.ask("waits", measure=("toy", "words"))
    await platform.seen.wait_for(1)
    assert platform.by_text("waits", extractor="words") == {"waits": 1}
    await toy.serve(platform.bus.connection)
    await platform.seen.wait_for(2)
    assert platform.by_text("waits") == {"waits": 5}


async def test_a_new_version_is_taken_up_where_the_old_one_ended(platform: Platform) -> None:
    old, new = Toy(), Toy(version="1.1.0")
    await old.serve(platform.bus.connection)
    await platform.running("toy")
    await old.service.stop()
    await new.serve(platform.bus.connection)
    await platform.running("toy", "1.1.0")
    await platform.ask("one")
    await platform.seen.wait_for(1)
    assert platform.seen.records[0].extractor_version == "1.1.0"


async def test_two_drop_ins_of_one_name_with_different_code_are_refused_until_one_is_gone(
    platform: Platform,
) -> None:
    one = Toy(code="a")
    other = Toy(code="b", says=lambda _: {"values": {"letters": -1}})
    await one.serve(platform.bus.connection)
    await platform.running("toy")
    await other.serve(platform.bus.connection)
    status = await platform.told(lambda status: status.refused)
    assert "different drop-ins of this name and version run" in status.refused
    await platform.ask("waits")
    await other.service.stop()
    await platform.seen.wait_for(1)
    assert platform.by_text("waits") == {"waits": 5}
    assert other.calls == []


async def test_two_drop_ins_side_by_side_measure_separately(platform: Platform) -> None:
    letters = Toy(name="one", code="a")
    words = Toy(name="two", code="b", says=lambda text: {"values": {"letters": text.count("o")}})
    for toy in (letters, words):
        await toy.serve(platform.bus.connection)
        await platform.running(toy.name)
    await platform.ask("good", "food too", measure=("one", "two"))
    await platform.seen.wait_for(4)
    assert platform.by_text("good", "food too", extractor="one") == {"good": 4, "food too": 8}
    assert platform.by_text("good", "food too", extractor="two") == {"good": 2, "food too": 4}


async def test_copies_of_one_drop_in_share_its_work(platform: Platform) -> None:
    copies = Toy(code="a"), Toy(code="a")
    for toy in copies:
        await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("one", "three")
    await platform.seen.wait_for(2)
    assert platform.by_text("one", "three") == {"one": 3, "three": 5}


@pytest.mark.parametrize(
    ("toy", "why"),
    [
        (Toy(spec={"version": "2.0.0"}), "another version than it registered"),
        (Toy(spec={"name": "words"}), "another name than it registered"),
        (Toy(spec={"features": []}), "its spec is wrong: features"),
        (Toy(spec={"features": ["a", "a"]}), "names a feature twice"),
        (Toy(spec={"contract": "9"}), "another contract"),
        (Toy(spec={"features": ["a b"]}), "its spec is wrong: features"),
        (Toy(name="words"), "an extractor of this name is built in"),
    ],
)
async def test_one_that_lies_about_itself_is_refused_and_reported(
    platform: Platform, toy: Toy, why: str
) -> None:
    await toy.serve(platform.bus.connection)
    status = await platform.told(lambda status: status.name == toy.name and status.refused)
    assert why in status.refused
    running = platform.store.extractors.running(datetime(2000, 1, 1, tzinfo=UTC))
    assert toy.name not in {item.name for item in running}


async def test_numbers_of_another_version_than_it_names_are_not_published(
    platform: Platform,
) -> None:
    toy = Toy(answers_as="9.9.9")
    await toy.serve(platform.bus.connection)
    await platform.running("toy")
    await platform.ask("one", measure=("toy", "words"))
    status = await platform.told(lambda status: status.name == "toy" and status.last_error)
    assert status.last_error == "it answers under another version than its spec names"
    await platform.seen.wait_for(1)
    assert {record.extractor for record in platform.seen.records} == {"words"}
    toy.answers_as = None
    await platform.seen.wait_for(2)
    assert platform.by_text("one") == {"one": 3}


async def test_names_that_could_reach_other_subjects_are_nobodys(platform: Platform) -> None:
    heard = [
        json.dumps(
            {"name": name, "version": "1.0.0", "metadata": {"role": "extractor", "contract": "1"}}
        ).encode()
        for name in ("extractor-a.b", "extractor-*", "extractor->", "extractor-", "else")
    ]
    assert (
        dropin_discovery.dropin_versions([*heard, b"[]", b"\xff", b"{}", b'{"metadata": 3}']) == {}
    )
    assert platform.service.started.is_set()


async def test_the_conformance_check_passes_the_good_and_names_what_is_bad(
    bus: ProvisionedBus,
) -> None:
    caller = Requester(bus.connection)
    good, bad = Toy(), Toy(name="bad", says=lambda _: {"values": {"other": 1}})
    await good.serve(bus.connection)
    await bad.serve(bus.connection)
    for name, passes in (("toy", True), ("bad", False), ("none", False)):
        trial = ConformanceTest(name, caller, call_s=2)
        assert await trial.run() is passes, [vars(finding) for finding in trial.findings]
