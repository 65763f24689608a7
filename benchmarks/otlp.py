"""The CPU time of the gateway per span with an answer, against an answer in our own format."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from services.gateway.otlp.intake import SignalIntake
from services.gateway.otlp.wire import PROTOBUF, TRACES, signals_of, unpacked
from services.gateway.traffic.ingestion import ExchangeIngestion
from services.gateway.traffic.redaction_file import nothing_redacted
from services.gateway.traffic.requests import SentBatch
from shared.contracts import Exchange
from shared.conventions.mapping import MappingFile
from shared.store import Store, migrate
from tests.support.otlp import make_span, protobuf_of
from tests.support.records import make_traffic_monitor

BATCH, STAGE_BATCH = 500, 256
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 8
ASKED = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}])
SAID = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": WORDS}]}])


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def main(answers: int) -> int:
    """Print CPU time an answer in both formats, and their ratio, which may be 2."""
    found = {
        "our own format": _measured(answers, _own_bodies, _own),
        "OTLP, protobuf": _measured(answers, _otlp_bodies, _otlp),
    }
    for name, (request, stage) in found.items():
        print(f"{name}: request {request * 1e6:.0f} us, stage {stage * 1e6:.0f} us an answer")
    own, otlp = (sum(each) for each in found.values())
    print(f"{answers:,} answers: OTLP takes {otlp / own:.2f} times the CPU (at most 2)")
    return int(otlp > 2 * own)


Take = Callable[[Store, bytes], list[Exchange]]


def _measured(
    answers: int, bodies: Callable[[int], Iterator[bytes]], take: Take
) -> tuple[float, float]:
    """Return CPU seconds an answer of the request, and of the stage behind it."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'store.db'}"
        migrate(url)
        with Store.open(url) as store:
            store.records.write([make_traffic_monitor()])
            handle = ExchangeIngestion(store, now=now)
            request = stage = 0.0
            for body in bodies(answers):  # made outside the clock, kept no longer than needed
                began = time.process_time()
                sent = [each.encode() for each in take(store, body)]
                request += time.process_time() - began
                began = time.process_time()
                for start in range(0, len(sent), STAGE_BATCH):
                    batch = [Exchange.decode(data) for data in sent[start : start + STAGE_BATCH]]
                    _ = [response.encode() for response in handle(batch)]
                stage += time.process_time() - began
    return request / answers, stage / answers


def _own_bodies(answers: int) -> Iterator[bytes]:
    for start in range(0, answers, BATCH):
        some = [
            {"id": f"{n + 1:032x}-{n + 1:016x}", "text": WORDS, "prompt": "Where is it?",
             "unit": f"u{n % 900}", "groups": {"gender": "female" if n % 2 else "male"},
             "at": now().isoformat(), "model": "model", "finish_reason": "stop"}
            for n in range(start, start + BATCH)
        ]  # fmt: skip
        yield json.dumps({"source": "support", "responses": some}).encode()


def _own(store: Store, body: bytes) -> list[Exchange]:
    return ExchangeIngestion(store, now=now).exchanges_of(SentBatch.model_validate_json(body))


def _otlp_bodies(answers: int) -> Iterator[bytes]:
    messages = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": SAID}
    at_ns = int(now().timestamp() * 1e9)
    for start in range(0, answers, BATCH):
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
