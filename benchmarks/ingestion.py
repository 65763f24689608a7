"""The CPU time of the gateway per production answer, from JSON to its response."""

import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor

ANSWERS, BATCH, STAGE_BATCH = 20_000, 500, 256
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 8


def main() -> int:
    """Print CPU time of the request handler (HTTP's JSON to the bus) and of the stage behind it."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'store.db'}"
        migrate(url)
        with Store.open(url) as store:
            store.records.write([make_traffic_monitor()])
            ingest = ExchangeIngestion(store, now=lambda: datetime.now(UTC))
            began = time.process_time()
            sent = [each for start in range(0, ANSWERS, BATCH) for each in _receive(ingest, start)]
            request = time.process_time() - began
            began = time.process_time()
            for start in range(0, ANSWERS, STAGE_BATCH):
                batch = [Exchange.decode(data) for data in sent[start : start + STAGE_BATCH]]
                _ = [response.encode() for response in ingest(batch)]
            stage = time.process_time() - began
    each = (request + stage) / ANSWERS
    print(f"{ANSWERS:,} production answers of {len(WORDS)} characters, one monitor:")
    print(f"  the request {request / ANSWERS * 1e6:6.0f} us CPU an answer")
    print(f"  the stage   {stage / ANSWERS * 1e6:6.0f} us CPU an answer")
    print(f"  together    {each * 1e6:6.0f} us, {1 / each:,.0f} answers a second of one core")
    return 0


def _receive(ingest: ExchangeIngestion, start: int) -> list[bytes]:
    answers = [
        {"id": str(n), "text": WORDS, "prompt": "Where is it?", "unit": f"u{n % 900}",
         "groups": {"gender": "female" if n % 2 else "male"}}
        for n in range(start, start + BATCH)
    ]  # fmt: skip
    body = json.dumps({"source": "support", "responses": answers})
    sent = SentBatch.model_validate_json(body)
    return [exchange.encode() for exchange in ingest.exchanges_of(sent)]


if __name__ == "__main__":
    sys.exit(main())
