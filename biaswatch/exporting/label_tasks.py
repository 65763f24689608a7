"""Drawn answers as files for people to label: CSV, JSON lines, Label Studio, Argilla.

Groups and readings are left out, and words that name groups are hidden where that is asked for.
"""

import csv
import io
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from shared.contracts import LabelSample

Task = dict[str, str]
"""`response_id`, `question`, `answer`."""


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
            out = io.StringIO()
            writer = csv.DictWriter(out, ["response_id", "question", "answer", "value", "person"])
            writer.writeheader()
            writer.writerows(tasks)
            return out.getvalue()
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
