"""Drawn answers as files for people to label: CSV, JSON lines, Label Studio, Argilla.

Groups and readings are left out, and words that name groups are hidden where that is asked for.
"""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from biaswatch.shared.contracts import LabelSample
from biaswatch.shared.presentation.page_tables import csv_text

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
