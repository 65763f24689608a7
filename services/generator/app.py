"""The generator's composition root: which adapter asks which provider."""

import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from services.generator.handlers import Ask
from services.generator.settings import GeneratorSettings
from shared.bus.stage import Stage
from shared.contracts import Probe, Target
from shared.errors import PoisonError
from shared.llm.port import ChatModel
from shared.llm.replay import Replay
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def model_of(target: Target, settings: GeneratorSettings) -> ChatModel:
    """Give the adapter for a target; the SDK is loaded when it is first needed."""
    if target.provider == "replay":
        return Replay(Path(target.model))
    if target.provider not in {"openai", "simulator"}:
        raise PoisonError(f"No adapter asks the provider {target.provider}.")
    from shared.llm.openai_chat import OpenAIChat

    if target.provider == "simulator":
        return OpenAIChat(api_key="none", base_url=settings.simulator_url, tell_repeat=True)
    return OpenAIChat(api_key=settings.openai_key(target.base_url), base_url=target.base_url)


def build(settings: GeneratorSettings) -> Service:
    """Give the generator: a stage for every lane in which probes wait."""
    store = Store.open(settings.store)
    ask = Ask(
        store.records,
        lambda target: model_of(target, settings),
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
        luck=random.random,
        tries=settings.generator_tries,
        timeout_s=settings.generator_timeout_s,
    )

    def lane_stage(lane: str) -> Stage[Probe]:
        return Stage("generator", Probe, ask, slots=settings.generator_slots, lane=lane)

    return Service("generator", settings, lane_stage=lane_stage, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(GeneratorSettings, build))
