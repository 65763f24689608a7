"""The recorder: one stage for every kind of record."""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from biaswatch.services.recorder.settings import RecorderSettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import ROUTES, Features, Record, Response
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import AnswerFilesLocation, Records, Store

LINGER_S = 0.2
"""Time to collect records for one transaction, which costs as much for one as for fifty."""


def recording(records: Records) -> Callable[[Sequence[Record]], Sequence[Record]]:
    """Return the handler that writes a batch; it blocks, so the stage runs it in a thread."""

    def record(batch: Sequence[Record]) -> Sequence[Record]:
        records.write(batch)
        return ()

    return record


def files_location(settings: RecorderSettings) -> AnswerFilesLocation | None:
    """Return the location of files of production answers; None to write them as rows."""
    uri = settings.recorder_answer_files
    return AnswerFilesLocation(uri, lambda: datetime.now(UTC), lambda: uuid4().hex) if uri else None


def stage_of(
    kind: type[Record],
    record: Callable[[Sequence[Record]], Sequence[Record]],
    settings: RecorderSettings,
) -> Stage[Any]:
    """Return the stage of a kind of record.

    One batch at a time, because SQLite has one writer. Records for files wait longer, so that
    there are fewer files.
    """
    in_files = kind in (Response, Features) and settings.recorder_answer_files
    return Stage(
        "recorder",
        kind,
        record,
        slots=1,
        batch=settings.recorder_answers_a_file if in_files else settings.recorder_batch,
        linger_s=settings.recorder_file_s if in_files else LINGER_S,
    )


def build(settings: RecorderSettings) -> Service:
    """Return the recorder on the store its settings name."""
    store = Store.open(
        settings.store, files_location(settings), statement_s=settings.store_statement_s
    )
    record = recording(store.records)
    stages = [
        stage_of(route.record, record, settings)
        for route in ROUTES
        if "recorder" in route.consumers
    ]
    return Service(
        "recorder", settings, stages=stages, check_store=store.check_available, close=[store.close]
    )


if __name__ == "__main__":
    sys.exit(serve(RecorderSettings, build))
