"""Export everything about a run, a monitor or a live system as tables of Parquet."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from biaswatch.exporting.answers import answer_pages, in_store, runs_named
from biaswatch.integrations.dataset_schema import (
    TABLES,
    DatasetAlarm,
    DatasetAnswer,
    DatasetFinding,
    DatasetGroup,
    DatasetMeasurement,
    DatasetRound,
    DatasetRow,
    DatasetRun,
    arrow_schema,
    schema_document,
    views_sql,
)
from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.sources import WatchedMonitor, watched_monitor
from biaswatch.local.client import GatewayClient
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.requests.exports import ExportedAnswer, ExportedFeatures, MonitorRun
from biaswatch.shared.requests.run_views import RunProgress

Batch = tuple[str, Sequence[DatasetRow]]
"""Rows of a table."""


async def export(request: ExportRequest) -> str:
    """Write the tables, their schema and the views; memory does not grow with the answers."""
    async with request.connect() as client:
        runs, left_out = in_store(await runs_named(client, request.source, request.since))
        monitor = await watched_monitor(client, request.source)
        rows = await write_dataset(request.destination, _batches(client, runs, monitor))
    counts = ", ".join(f"{count:,} {name}" for name, count in rows.items() if count)
    return f"Wrote {counts} to {request.destination}. {left_out or ''}".rstrip()


async def write_dataset(uri: str, batches: AsyncIterator[Batch]) -> dict[str, int]:
    """Write the files of a dataset to a folder or bucket; return the rows of each table."""
    from biaswatch.shared.parquet.files import RowsWriter
    from biaswatch.shared.parquet.folder import ParquetFolder

    folder = ParquetFolder(uri)
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(
                RowsWriter.of_bytes(
                    stack.enter_context(folder.written(f"{name}.parquet")), arrow_schema(row)
                )
            )
            for name, row in TABLES.items()
        }
        async for table, rows in batches:
            writers[table].add([row.model_dump() for row in rows])
        files = {name: writer.close()._asdict() for name, writer in writers.items()}
    schema = json.dumps({**schema_document(), "files": files}, indent=2)
    for name, text in (("schema.json", schema), ("views.sql", views_sql())):
        with folder.written(name) as stream:
            stream.write(text.encode())
    return {name: file["rows"] for name, file in files.items()}


async def _batches(
    client: GatewayClient, runs: Sequence[MonitorRun], monitor: WatchedMonitor | None
) -> AsyncIterator[Batch]:
    """Yield the rows of all tables, run by run."""
    if monitor is not None:
        yield "rounds", list(round_rows(monitor))
        yield "alarms", list(alarm_rows(monitor))
    for run in runs:
        progress, diagnoses = await client.progress(run.run_id), await client.diagnoses(run.run_id)
        yield "runs", [run_row(progress)]
        yield "findings", list(finding_rows(diagnoses))
        yield "groups", list(group_rows(diagnoses))
        async for answers, measured in answer_pages(client, run.run_id):
            yield "answers", [answer_row(answer) for answer in answers]
            yield "measurements", list(measurement_rows(run.run_id, measured))


def run_row(run: RunProgress) -> DatasetRun:
    """Return the row of a run."""
    return DatasetRun(**_fields(run, DatasetRun))


def answer_row(answer: ExportedAnswer) -> DatasetAnswer:
    """Return the row of an answer."""
    messages = [m.model_dump(mode="json", exclude_defaults=True) for m in answer.messages]
    text = json.dumps(messages, ensure_ascii=False)
    return DatasetAnswer(**{**_fields(answer, DatasetAnswer), "messages": text})


def measurement_rows(
    run_id: str, measured: Iterable[ExportedFeatures]
) -> Iterator[DatasetMeasurement]:
    """Yield a row for each feature, or one without a feature if none was measured."""
    for row in measured:
        for feature in row.values or (None,):
            yield DatasetMeasurement(
                run_id=run_id,
                response_id=row.response_id,
                extractor=row.extractor,
                version=row.version,
                feature=feature,
                value=row.values.get(feature) if feature else None,
                baseline=row.baseline.get(feature) if feature else None,
                missing=row.missing,
            )


def finding_rows(diagnoses: Iterable[Diagnosis]) -> Iterator[DatasetFinding]:
    """Yield a row for each comparison."""
    for diagnosis in diagnoses:
        for gap in diagnosis.gaps:
            amounts = {
                "gap": gap.gap.value, "gap_low": gap.gap.low, "gap_high": gap.gap.high,
                "gap_reason": gap.gap.reason, "summary": diagnosis.summary(gap).value,
            }  # fmt: skip
            shared = _fields(diagnosis, DatasetFinding) | _fields(gap, DatasetFinding)
            yield DatasetFinding(**{**shared, **amounts})


def group_rows(diagnoses: Iterable[Diagnosis]) -> Iterator[DatasetGroup]:
    """Yield a row for each group."""
    for diagnosis in diagnoses:
        for group in diagnosis.groups:
            shared = _fields(diagnosis, DatasetGroup) | _fields(group, DatasetGroup)
            mean = group.mean
            amounts = {"mean": mean.value, "mean_low": mean.low, "mean_high": mean.high}
            yield DatasetGroup(**{**shared, **amounts})


def round_rows(monitor: WatchedMonitor) -> Iterator[DatasetRound]:
    """Yield a row for each comparison and round."""
    for history in monitor.histories:
        for point in history.moments:
            gap = point.gap
            amounts = {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}
            yield DatasetRound(
                **{**_fields(point, DatasetRound), **amounts},
                monitor=monitor.view.status.name,
                comparison=history.comparison,
                log_evidence=point.log_e,
            )


def alarm_rows(monitor: WatchedMonitor) -> Iterator[DatasetAlarm]:
    """Yield a row for each alarm."""
    for alarm in monitor.view.alarms:
        described = {
            "comparison": alarm.comparison_key,
            "kind": alarm.what.value,
            "description": alarm.words or alarm.reason,
        }
        yield DatasetAlarm(**{**_fields(alarm, DatasetAlarm), **described})


def _fields(source: object, row: type[DatasetRow]) -> dict[str, Any]:
    """Return the attributes of a record that become columns of the row."""
    names = [str(field.validation_alias or name) for name, field in row.model_fields.items()]
    return {name: getattr(source, name) for name in names if hasattr(source, name)}
