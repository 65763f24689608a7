"""CPU time of the gateway per production answer, in our own format and over OTLP.

`python -m benchmarks.ingestion 1000000` takes a million. Requests of both formats alternate, so
that a slow machine slows both. The bar: an answer over OTLP costs at most 2 times one in our own
format.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

from benchmarks.measuring import memory_mib, temporary_store
from biaswatch.services.gateway.otlp.intake import SignalIntake
from biaswatch.services.gateway.otlp.protobuf import TRACES
from biaswatch.services.gateway.otlp.wire import PROTOBUF
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import not_redacted
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.store import Store
from tests.support.otlp import make_span, protobuf_of, signals_of
from tests.support.records import make_traffic_monitor

ANSWERS, BATCH, STAGE_BATCH = 20_000, 500, 256
BAR = 2.0
TEXT = "It left our house on Monday and should be with you by Thursday at the latest. " * 8
PROMPT = "Where is it?"
INPUT = json.dumps([{"role": "user", "parts": [{"type": "text", "content": PROMPT}]}])
OUTPUT = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": TEXT}]}])


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


@dataclass
class MeasuredFormat:
    """A format with its own store, and the CPU seconds it has used."""

    name: str
    bodies: Iterator[bytes]
    take: Callable[[Store, bytes], list[Exchange]]
    store: Store
    request_s: float = 0.0
    stage_s: float = 0.0

    def take_next(self) -> None:
        """Measure a request, from its body to the bus, and the stage that reads the bus."""
        body = next(self.bodies)
        start = time.process_time()
        sent = [exchange.encode() for exchange in self.take(self.store, body)]
        self.request_s += time.process_time() - start
        start = time.process_time()
        handle = ExchangeIngestion(self.store, now=now)
        for first in range(0, len(sent), STAGE_BATCH):
            batch = [Exchange.decode(data) for data in sent[first : first + STAGE_BATCH]]
            for response in handle(batch):
                response.encode()
        self.stage_s += time.process_time() - start

    def cost_us(self, answers: int) -> float:
        """Return the CPU time per answer."""
        return (self.request_s + self.stage_s) / answers * 1e6


def main(answers: int) -> int:
    """Print the costs; 1 where the bar is missed."""
    rounds = max(1, answers // BATCH)
    with ExitStack() as stack:
        stores = [stack.enter_context(temporary_store()) for _ in range(2)]
        for store in stores:
            store.records.write([make_traffic_monitor()])
        own = MeasuredFormat("our own format", _own_bodies(), _take_own, stores[0])
        otlp = MeasuredFormat("OTLP, protobuf", _otlp_bodies(), _take_otlp, stores[1])
        for number in range(1, rounds + 1):
            own.take_next()
            otlp.take_next()
            if number % max(1, rounds // 10) == 0:
                mib = memory_mib("self", "VmRSS")
                print(f"{number * BATCH:>9,} answers, {mib:.0f} MiB", flush=True)
    answers = rounds * BATCH
    for measured in (own, otlp):
        cost_us = measured.cost_us(answers)
        print(
            f"{measured.name}: request {measured.request_s / answers * 1e6:.0f} us,"
            f" stage {measured.stage_s / answers * 1e6:.0f} us, together {cost_us:.0f} us:"
            f" {1e6 / cost_us:,.0f} answers a second of one core"
        )
    ratio = otlp.cost_us(answers) / own.cost_us(answers)
    print(f"{answers:,} answers: OTLP takes {ratio:.2f} times the CPU (bar {BAR:g})")
    return int(ratio > BAR)


def _own_bodies() -> Iterator[bytes]:
    for first in count(0, BATCH):
        responses = [
            {"id": f"{n + 1:032x}-{n + 1:016x}", "text": TEXT, "prompt": PROMPT,
             "unit": f"u{n % 900}", "groups": {"gender": "female" if n % 2 else "male"},
             "at": now().isoformat(), "model": "model", "finish_reason": "stop"}
            for n in range(first, first + BATCH)
        ]  # fmt: skip
        yield json.dumps({"source": "support", "responses": responses}).encode()


def _take_own(store: Store, body: bytes) -> list[Exchange]:
    return ExchangeIngestion(store, now=now).exchanges_of(SentBatch.model_validate_json(body))


def _otlp_bodies() -> Iterator[bytes]:
    messages = {"gen_ai.input.messages": INPUT, "gen_ai.output.messages": OUTPUT}
    at_ns = int(now().timestamp() * 1e9)
    for first in count(0, BATCH):
        yield protobuf_of(
            [
                make_span(n, at_ns=at_ns, attributes={**messages, "user.id": f"u{n % 900}"})
                for n in range(first, first + BATCH)
            ]
        )


def _take_otlp(store: Store, body: bytes) -> list[Exchange]:
    ingestion = ExchangeIngestion(store, now=now)
    intake = SignalIntake(store, ingestion, MappingFile(), not_redacted, now=now)
    return intake.accept(signals_of(body, PROTOBUF, TRACES)).exchanges


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS))
