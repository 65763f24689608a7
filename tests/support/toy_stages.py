"""Three toy stages as real processes, for tests that kill them."""

import asyncio
import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Ending, Features, Probe, Record, Response
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store
from tests.support.records import make_target

POISON = "poison"
QUICK = RetryPolicy(backoff=Backoff(0.05, 1.0))


class ToySettings(Settings):
    """What a test sets."""

    toy_failure_rate: float = Field(default=0.0, ge=0, lt=1)
    """How often a handler fails for no reason."""


def build(stage: Stage[Any], settings: ToySettings) -> Service:
    """Return the service of one toy stage."""
    return Service(stage.service, settings, stages=[stage], policy=QUICK)


def generator(settings: ToySettings) -> Service:
    """Answer probes, slowly enough to be killed at it."""

    async def answer(probe: Probe) -> list[Response]:
        _maybe_fail(settings)
        if probe.key.startswith(POISON):
            raise PoisonError(f"The probe {probe.key} cannot be asked.")
        await asyncio.sleep(0.02)
        now = datetime.now(UTC)
        text = f"An answer to {probe.key}."
        return [Response(at=now, probe=probe, ending=Ending.ANSWERED, text=text)]

    lane = make_target().lane
    stage = Stage("generator", Probe, answer, slots=8, lane=lane)
    return build(stage, settings)


def extractor(settings: ToySettings) -> Service:
    """Count words, in a thread."""

    def measure(response: Response) -> list[Features]:
        _maybe_fail(settings)
        return [
            Features(
                at=datetime.now(UTC),
                run_id=response.probe.run_id,
                probe_id=response.probe_id,
                response_id=response.id,
                unit_id=response.probe.unit_id,
                extractor="words",
                extractor_version="1",
                values={"words": float(len((response.text or "").split()))},
            )
        ]

    stage = Stage("extractor", Response, measure, slots=8)
    return build(stage, settings)


def recorder(settings: ToySettings) -> Service:
    """Write responses and features into the store, in batches."""
    store = Store.open(settings.store)

    def record(batch: Sequence[Record]) -> list[Record]:
        _maybe_fail(settings)
        store.records.write(batch)
        return []

    stages = [Stage("recorder", kind, record, slots=1, batch=32) for kind in (Response, Features)]
    return Service("recorder", settings, stages=stages, close=[store.close], policy=QUICK)


def _maybe_fail(settings: ToySettings) -> None:
    if random.random() < settings.toy_failure_rate:
        raise RuntimeError("a toy failed at random")


STAGES = {"generator": generator, "extractor": extractor, "recorder": recorder}

if __name__ == "__main__":
    sys.exit(serve(ToySettings, STAGES[sys.argv[1]]))
