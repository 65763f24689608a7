"""The recorder's composition root: one stage for every record of the address book."""

import sys
from collections.abc import Callable, Sequence

from services.recorder.settings import RecorderSettings
from shared.bus.stage import Stage
from shared.contracts import ROUTES, Record
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Records, Store

LINGER_S = 0.2
"""Nobody waits for the recorder, and a transaction for one record costs as much as for fifty."""


def recording(records: Records) -> Callable[[Sequence[Record]], Sequence[Record]]:
    """Return the handler that writes a batch; it blocks, so it runs in a thread."""

    def record(batch: Sequence[Record]) -> Sequence[Record]:
        records.write(batch)
        return ()

    return record


def build(settings: RecorderSettings) -> Service:
    """Return the recorder on the store its settings name."""
    store = Store.open(settings.store)
    record = recording(store.records)
    stages = [
        # One at a time: a transaction is the unit, and SQLite has one writer anyway.
        Stage(
            "recorder",
            route.record,
            record,
            slots=1,
            batch=settings.recorder_batch,
            linger_s=LINGER_S,
        )
        for route in ROUTES
        if "recorder" in route.consumers
    ]
    return Service("recorder", settings, stages=stages, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(RecorderSettings, build))
