"""Labels at a gateway: samples and tasks, and files for people to label."""

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from biaswatch.exporting.answers import PAGE_ROWS, runs_named
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.shared.contracts import LabelSample
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.tables import csv_text
from biaswatch.shared.requests.exports import AnswersPage, ExportedAnswer
from biaswatch.shared.requests.labels import (
    MAX_LABELS,
    AcceptedLabels,
    LabelPlan,
    LabelTask,
    LabelTasks,
    SampleProgress,
    StoredLabel,
)

TASK_FIELDS = ("response_id", "question", "answer")
Task = dict[str, str]
"""A text for each of `TASK_FIELDS`; groups and readings are left out."""


class TaskFormat(StrEnum):
    """Formats of drawn answers."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


def tasks_text(form: TaskFormat, tasks: Sequence[Task], sample: LabelSample) -> str:
    """Return a file of tasks, which `biaswatch labels import` reads once it is filled in."""
    match form:
        case TaskFormat.CSV:
            rows = [[*(task[name] for name in TASK_FIELDS), "", ""] for task in tasks]
            return csv_text([*TASK_FIELDS, "value", "person"], rows)
        case TaskFormat.JSONL:
            return "".join(json.dumps({**task, "value": None}) + "\n" for task in tasks)
        case TaskFormat.LABEL_STUDIO:
            return json.dumps([{"data": task} for task in tasks], indent=1) + "\n"
        case TaskFormat.ARGILLA:
            return "".join(json.dumps(_argilla(task, sample)) + "\n" for task in tasks)


def _argilla(task: Task, sample: LabelSample) -> dict[str, Any]:
    fields = {name: task[name] for name in ("question", "answer")}
    metadata = {"response_id": task["response_id"], "instructions": sample.instructions}
    return {"id": task["response_id"], "fields": fields, "metadata": metadata, "responses": {}}


async def latest_round(client: GatewayClient, name: str) -> str:
    """Return the run with an id, or the latest round of a monitor.

    Raises
    ------
    UsageError
        The name is unknown, or a monitor has no round yet.
    """
    runs = await runs_named(client, name, None)
    if not runs:
        raise UsageError(f"The monitor {name} has no round yet.")
    return max(runs, key=lambda run: run.at).run_id


async def label_plan(
    client: GatewayClient, run_id: str, feature: str, group: str | None
) -> LabelPlan:
    """Return the expected gain of labels."""
    fields = {"feature": feature} | ({"group": group} if group else {})
    address = f"{path('runs', run_id, 'labels', 'plan')}?{urlencode(fields)}"
    return await client.read(LabelPlan, address)


async def drawn_sample(client: GatewayClient, run_id: str, body: Any) -> SampleProgress:
    """Draw a sample of answers."""
    return await client.send(SampleProgress, path("runs", run_id, "labels", "samples"), body)


async def samples_of(client: GatewayClient, run_id: str) -> list[SampleProgress]:
    """Return the samples of a run, the latest last."""
    return await client.read(list[SampleProgress], path("runs", run_id, "labels", "samples"))


async def stored_labels(client: GatewayClient, run_id: str) -> list[StoredLabel]:
    """Return the valid labels of a run."""
    return await client.read(list[StoredLabel], path("runs", run_id, "labels"))


async def send_labels(
    client: GatewayClient, sample: LabelSample, labels: Sequence[Any]
) -> dict[str, int]:
    """Send labels in batches, and return the counts of accepted ones."""
    counts = {"new": 0, "known": 0, "undrawn": 0}
    about = {"extractor": sample.extractor, "feature": sample.feature}
    address = path("runs", sample.run_id, "labels")
    for start in range(0, len(labels), MAX_LABELS):
        body = {**about, "labels": labels[start : start + MAX_LABELS]}
        accepted = await client.send(AcceptedLabels, address, body)
        counts = {name: count + getattr(accepted, name) for name, count in counts.items()}
    return counts


async def tasks_of(client: GatewayClient, sample: LabelSample) -> list[Task]:
    """Return the drawn answers with readable texts, in labelling order."""
    tasks: list[LabelTask] = []
    after: int | None = 0
    address = path("runs", sample.run_id, "labels", "samples", sample.id, "tasks")
    while after is not None:
        page = await client.read(LabelTasks, f"{address}?{urlencode({'after': after})}")
        tasks += page.tasks
        after = page.after
    return [task.model_dump() for task in tasks if task.question or task.answer]


async def read_answers(
    client: GatewayClient, run_id: str, response_ids: Collection[str]
) -> list[ExportedAnswer]:
    """Return the answers with these ids, reading the run page by page."""
    answers: list[ExportedAnswer] = []
    after: str | None = ""
    while after is not None and len(answers) < len(response_ids):
        query = urlencode({"after": after, "limit": PAGE_ROWS})
        page = await client.read(AnswersPage, f"{path('runs', run_id, 'responses')}?{query}")
        answers += [answer for answer in page.answers if answer.response_id in response_ids]
        after = page.after
    return answers
