"""Labels at a gateway: samples and tasks, and files for people to label."""

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from biaswatch.exporting.answers import runs_named
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

FILLED = ("response_id", "question", "answer")
Task = dict[str, str]
"""A text for each name of `FILLED`."""


class TaskFormat(StrEnum):
    """How drawn answers are written."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


def tasks_text(form: TaskFormat, tasks: Sequence[Task], sample: LabelSample) -> str:
    """Return a file of tasks; what is filled in can be read by `biaswatch labels import`."""
    match form:
        case TaskFormat.CSV:
            rows = [[*(each[name] for name in FILLED), "", ""] for each in tasks]
            return csv_text([*FILLED, "value", "person"], rows)
        case TaskFormat.JSONL:
            return "".join(json.dumps({**each, "value": None}) + "\n" for each in tasks)
        case TaskFormat.LABEL_STUDIO:
            return json.dumps([{"data": each} for each in tasks], indent=1) + "\n"
        case TaskFormat.ARGILLA:
            return "".join(json.dumps(_argilla(each, sample)) + "\n" for each in tasks)


def _argilla(task: Task, sample: LabelSample) -> dict[str, Any]:
    fields = {name: task[name] for name in ("question", "answer")}
    metadata = {"response_id": task["response_id"], "instructions": sample.instructions}
    return {"id": task["response_id"], "fields": fields, "metadata": metadata, "responses": {}}


AT_ONCE = 500


async def latest_round(client: GatewayClient, name: str) -> str:
    """Return the run that is meant: the run itself, or the latest round of a monitor.

    Raises
    ------
    UsageError
        Nothing is named so, or a monitor has no round yet.
    """
    runs = await runs_named(client, name, None)
    if not runs:
        raise UsageError(f"The monitor {name} has no round yet.")
    return max(runs, key=lambda run: run.at).run_id


async def label_plan(
    client: GatewayClient, run_id: str, feature: str, group: str | None
) -> LabelPlan:
    """Return what labels would bring."""
    given = {"feature": feature} | ({"group": group} if group else {})
    return await client.read(
        LabelPlan, f"{path('runs', run_id, 'labels', 'plan')}?{urlencode(given)}"
    )


async def drawn_sample(client: GatewayClient, run_id: str, body: Any) -> SampleProgress:
    """Have answers drawn."""
    return await client.send(SampleProgress, path("runs", run_id, "labels", "samples"), body)


async def samples_of(client: GatewayClient, run_id: str) -> list[SampleProgress]:
    """Return the samples of a run, the latest last."""
    return await client.read(list[SampleProgress], path("runs", run_id, "labels", "samples"))


async def stored_labels(client: GatewayClient, run_id: str) -> list[StoredLabel]:
    """Return the labels of a run that hold."""
    return await client.read(list[StoredLabel], path("runs", run_id, "labels"))


async def send_labels(
    client: GatewayClient, sample: LabelSample, labels: Sequence[Any]
) -> dict[str, int]:
    """Send labels in, as many at once as the gateway takes; return what became of them."""
    took = {"new": 0, "known": 0, "undrawn": 0}
    about = {"extractor": sample.extractor, "feature": sample.feature}
    where = path("runs", sample.run_id, "labels")
    for start in range(0, len(labels), MAX_LABELS):
        body = {**about, "labels": labels[start : start + MAX_LABELS]}
        accepted = await client.send(AcceptedLabels, where, body)
        took = {name: count + getattr(accepted, name) for name, count in took.items()}
    return took


async def tasks_of(client: GatewayClient, sample: LabelSample) -> list[Task]:
    """Return what was drawn with its texts, in the order in which it is to be labelled.

    What has no text any more, or none that the token may read, is left out.
    """
    found: list[LabelTask] = []
    after: int | None = 0
    where = path("runs", sample.run_id, "labels", "samples", sample.id, "tasks")
    while after is not None:
        page = await client.read(LabelTasks, f"{where}?{urlencode({'after': after})}")
        found += page.tasks
        after = page.after
    return [each.model_dump() for each in found if each.question or each.answer]


async def read_answers(
    client: GatewayClient, run_id: str, wanted: Collection[str]
) -> list[ExportedAnswer]:
    """Read through a run until all answers that are wanted are found."""
    found: list[ExportedAnswer] = []
    after: str | None = ""
    while after is not None and len(found) < len(wanted):
        query = urlencode({"after": after, "limit": AT_ONCE})
        page = await client.read(AnswersPage, f"{path('runs', run_id, 'responses')}?{query}")
        found += [each for each in page.answers if each.response_id in wanted]
        after = page.after
    return found
