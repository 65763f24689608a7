"""The CPU time of the gateway per span with an answer, against an answer in our own format.

`python -m benchmarks.otlp 1000000` takes a million; the answers go through in turns, a request of
one format and then one of the other, so that what slows the machine slows both.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from biaswatch.services.gateway.otlp.intake import SignalIntake
from biaswatch.services.gateway.otlp.wire import PROTOBUF, TRACES, signals_of, unpacked
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import nothing_redacted
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.store import Store, migrate
from tests.support.otlp import make_span, protobuf_of
from tests.support.records import make_traffic_monitor

BATCH, STAGE_BATCH = 500, 256
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 8
ASKED = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}])
SAID = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": WORDS}]}])


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


@dataclass
class MeasuredFormat:
    """One format, its own store, and the CPU seconds it took up to now."""

    name: str
    bodies: Iterator[bytes]
    take: "Take"
    store: Store
    request_s: float = 0.0
    stage_s: float = 0.0

    def take_next(self) -> None:
        """Measure one request, and the stage behind it; its body is made outside the clock."""
        body = next(self.bodies)
        began = time.process_time()
        sent = [each.encode() for each in self.take(self.store, body)]
        self.request_s += time.process_time() - began
        began = time.process_time()
        handle = ExchangeIngestion(self.store, now=now)
        for start in range(0, len(sent), STAGE_BATCH):
            batch = [Exchange.decode(data) for data in sent[start : start + STAGE_BATCH]]
            _ = [response.encode() for response in handle(batch)]
        self.stage_s += time.process_time() - began

    def in_words(self, answers: int) -> str:
        """Say what an answer took."""
        request, stage = (each / answers * 1e6 for each in (self.request_s, self.stage_s))
        return f"{self.name}: request {request:.0f} us, stage {stage:.0f} us an answer"


Take = Callable[[Store, bytes], list[Exchange]]


def main(answers: int) -> int:
    """Print memory and the ratio of CPU times as it goes, then both; the ratio may be 2."""
    rounds = max(1, answers // BATCH)
    with ExitStack() as opened:
        own = MeasuredFormat("our own format", _own_bodies(), _own, _opened(opened))
        otlp = MeasuredFormat("OTLP, protobuf", _otlp_bodies(), _otlp, _opened(opened))
        for number in range(1, rounds + 1):
            own.take_next()
            otlp.take_next()
            if number % max(1, rounds // 10) == 0:
                print(
                    f"{number * BATCH:>9,} answers: OTLP takes {_ratio(otlp, own):.2f} times the"
                    f" CPU; {_resident_mb():.0f} MB",
                    flush=True,
                )
    for each in (own, otlp):
        print(each.in_words(rounds * BATCH))
    ratio = _ratio(otlp, own)
    print(f"{rounds * BATCH:,} answers: OTLP takes {ratio:.2f} times the CPU (at most 2)")
    return int(ratio > 2)


def _ratio(otlp: MeasuredFormat, own: MeasuredFormat) -> float:
    return (otlp.request_s + otlp.stage_s) / (own.request_s + own.stage_s)


def _opened(opened: ExitStack) -> Store:
    folder = opened.enter_context(tempfile.TemporaryDirectory())
    url = f"sqlite:///{Path(folder) / 'store.db'}"
    migrate(url)
    store = opened.enter_context(Store.open(url))
    store.records.write([make_traffic_monitor()])
    return store


def _resident_mb() -> float:
    """Return what this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _own_bodies() -> Iterator[bytes]:
    for start in count(0, BATCH):
        some = [
            {"id": f"{n + 1:032x}-{n + 1:016x}", "text": WORDS, "prompt": "Where is it?",
             "unit": f"u{n % 900}", "groups": {"gender": "female" if n % 2 else "male"},
             "at": now().isoformat(), "model": "model", "finish_reason": "stop"}
            for n in range(start, start + BATCH)
        ]  # fmt: skip
        yield json.dumps({"source": "support", "responses": some}).encode()


def _own(store: Store, body: bytes) -> list[Exchange]:
    return ExchangeIngestion(store, now=now).exchanges_of(SentBatch.model_validate_json(body))


def _otlp_bodies() -> Iterator[bytes]:
    messages = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": SAID}
    at_ns = int(now().timestamp() * 1e9)
    for start in count(0, BATCH):
        yield protobuf_of(
            [
                make_span(n, at_ns=at_ns, attributes={**messages, "user.id": f"u{n % 900}"})
                for n in range(start, start + BATCH)
            ]
        )


def _otlp(store: Store, body: bytes) -> list[Exchange]:
    ingestion = ExchangeIngestion(store, now=now)
    intake = SignalIntake(store, ingestion, MappingFile(), nothing_redacted, now=now)
    return intake.take(signals_of(unpacked(body, ""), PROTOBUF, TRACES)).exchanges


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
