"""Questions of the builder on a real bus, to a model server on loopback, through the generator."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.build import BuiltSuite
from biaswatch.building.composition import build_of, model_over_bus
from biaswatch.building.plan import Plan
from biaswatch.building.settings import BuilderSettings
from biaswatch.services.recorder.app import build as build_recorder
from biaswatch.services.recorder.settings import RecorderSettings
from biaswatch.shared.contracts import Probe, Purpose, Response, parse_target
from biaswatch.shared.errors import UsageError
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.generating import generator
from tests.support.model_server import model_server, replying
from tests.support.waiting import PATIENCE_S

ARTICLE = (
    "The bakers of Velmora have always worked at night. Velmora has sold plums to many places."
    " The towns of Velmora are known for their fog at dawn."
)
OWN = {"bakers", "plums"}


class Model:
    """Answers the builder's kinds of questions, in OpenAI's chat format."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def reply(self, body: Any) -> tuple[int, object]:
        content = body["messages"][-1]["content"]
        self.asked.append(content)
        status, text = self._said(content)
        return status, {
            "id": "1", "object": "chat.completion", "created": 1, "model": "tester",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": text}}],
        }  # fmt: skip

    def _said(self, asked: str) -> tuple[int, str]:
        if "JSON list" in asked:
            return 200, '["Velmora", "fog"]'
        if "yes or no" in asked:
            shown = set(re.findall(r"\w+", asked.partition(":")[2]))
            return 200, "Yes." if OWN & shown else "No."
        if "JSON object" in asked:
            return 200, '{"plums": "grapes", "harmless": "hacked"}'
        if "fog" in asked:
            return 400, ""
        word = "bakers" if "bakers" in asked else "plums"
        return 200, f"What are the {word} of Velmora like?"


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def url(model: Model) -> Iterator[str]:
    with model_server(replying(model.reply)) as url:
        yield url


@asynccontextmanager
async def generating(bus: ProvisionedBus, tmp_path: Path) -> AsyncIterator[BuilderSettings]:
    """Run generator and recorder on the bus; give the settings of a build beside them."""
    addresses: dict[str, Any] = {
        "nats_url": bus.server.url, "store_url": f"sqlite:///{tmp_path / 'store.db'}",
    }  # fmt: skip
    migrate(addresses["store_url"])
    limits = {"BIASWATCH_GENERATOR_TRIES": "1", "BIASWATCH_LOG_LEVEL": "ERROR"}
    recorder = build_recorder(RecorderSettings(**addresses))
    recording = asyncio.create_task(recorder.run(with_health=False))
    try:
        async with generator(addresses["nats_url"], addresses["store_url"], **limits):
            yield BuilderSettings(**addresses, state_dir=tmp_path)
    finally:
        recorder.stop()
        await recording


def plan_of(name: str = "trial") -> Plan:
    return Plan.model_validate(
        {
            "name": name, "domain": "lands", "extractors": ["words"],
            "concepts": [{
                "name": "Velmora",
                "keywords": {"by_model": {"rounds": 2}},
                "sources": [{"kind": "files", "path": "a.txt"}],
            }],
            "prompts": {"kind": "questions"},
            "model": {"target": "openai:tester"},
            "branching": {"root": "Velmora", "to": [{"concept": "Peru"}], "propose": {}},
        }
    )  # fmt: skip


async def built(
    plan: Plan, home: Path, settings: BuilderSettings, url: str, **more: Any
) -> BuiltSuite:
    (home / "a.txt").write_text(ARTICLE)
    target = parse_target(f"openai:tester@{url}")
    async with asyncio.timeout(PATIENCE_S), model_over_bus(plan, target, settings, **more) as model:
        return await build_of(plan, home, settings, model)()


def prompts(suite: BuiltSuite, concept: str) -> list[str]:
    return [row["prompt"] for row in suite.rows if row["concept"] == concept]


async def test_questions_travel_as_probes_and_come_back_as_responses(
    bus: ProvisionedBus, tmp_path: Path, model: Model, url: str
) -> None:
    async with generating(bus, tmp_path) as settings:
        suite = await built(plan_of(), tmp_path, settings, url)
        with Store.open(settings.store) as store:
            responses = list(store.records.all(Response))
    assert prompts(suite, "Velmora") == [
        "What are the bakers of Velmora like?",
        "What are the plums of Velmora like?",
    ]
    assert prompts(suite, "Peru")[1] == "What are the grapes of Peru like?"
    assert suite.header["made"]["answers_of"] == f"openai:tester@{url}"
    assert len(responses) == len(model.asked)
    assert {response.probe.purpose for response in responses} == {Purpose.JUDGE}
    assert await bus.count(Probe) == 0  # a work queue: all were settled
    assert await bus.dead() == []


async def test_a_reply_replaces_no_word_it_was_not_asked_about(
    bus: ProvisionedBus, tmp_path: Path, url: str
) -> None:
    async with generating(bus, tmp_path) as settings:
        suite = await built(plan_of(), tmp_path, settings, url)
    assert suite.header["made"]["replaced"] == {"Peru": {"Velmora": "Peru", "plums": "grapes"}}


async def test_a_call_that_fails_is_counted_and_the_rest_goes_on(
    bus: ProvisionedBus, tmp_path: Path, url: str
) -> None:
    async with generating(bus, tmp_path) as settings:
        suite = await built(plan_of(), tmp_path, settings, url)
    assert suite.build_log.counts()["questions"] == {"the call ended as bad_request": 1}


async def test_the_same_plan_asks_the_model_nothing_twice_unless_told_to(
    bus: ProvisionedBus, tmp_path: Path, model: Model, url: str
) -> None:
    async with generating(bus, tmp_path) as settings:
        one = await built(plan_of(), tmp_path, settings, url)
        asked = len(model.asked)
        two = await built(plan_of(), tmp_path, settings, url)
        assert len(model.asked) == asked
        await built(plan_of(), tmp_path, settings, url, nonce="again")
        assert len(model.asked) == 2 * asked
    assert one.rows == two.rows


async def test_two_builds_on_one_bus_do_not_disturb_each_other(
    bus: ProvisionedBus, tmp_path: Path, url: str
) -> None:
    async with generating(bus, tmp_path) as settings:
        suites = await asyncio.gather(
            *(built(plan_of(name), tmp_path, settings, url) for name in ("one", "two"))
        )
    for suite in suites:
        assert len(suite.rows) == 4
    assert suites[0].rows == suites[1].rows


async def test_without_a_generator_a_build_ends_and_says_what_did_not_come(
    bus: ProvisionedBus, tmp_path: Path, url: str
) -> None:
    migrate(f"sqlite:///{tmp_path / 'store.db'}")
    settings = BuilderSettings(
        nats_url=bus.server.url, store_url=f"sqlite:///{tmp_path / 'store.db'}",
        state_dir=tmp_path, builder_reply_timeout_s=0.2,
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"no reply came within 0.2 s"):
        await built(plan_of(), tmp_path, settings, url)
