"""People who label what judges judged, in the files that labelling tools read and write."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaswatch.services.simulator.domain.judging import leads_to

SAID = re.compile(r"^Question: (?:.*)\nReasoning: (.*)\nAnswer: (.*)$")
"""One side of a pair, as it is shown to people."""
Task = Mapping[str, str]


def truth_of(task: Task) -> int:
    """Return what somebody says who reads a task closely: whether its reasoning leads to it."""
    match = SAID.fullmatch(task["answer"])
    assert match is not None, task
    return int(leads_to(match[1], match[2]))


def label_file(path: Path, form: str, chosen: Sequence[int]) -> list[Task]:
    """Label some tasks of an exported file in place, as its tool would, and return these tasks."""
    text = path.read_text()
    tasks, write = READERS[form](text)
    some = [tasks[item] for item in chosen]
    path.write_text(write(some))
    return some


def _from_csv(text: str) -> tuple[list[Task], Callable[[list[Task]], str]]:
    def write(tasks: list[Task]) -> str:
        rows = [f"{task['response_id']},{truth_of(task)},anna" for task in tasks]
        return "\n".join(["response_id,value,person", *rows])

    return list(csv.DictReader(text.splitlines(keepends=True))), write


def _from_lines(text: str) -> tuple[list[Task], Callable[[list[Task]], str]]:
    def write(tasks: list[Task]) -> str:
        labelled = ({**task, "value": truth_of(task), "person": "anna"} for task in tasks)
        return "\n".join(map(json.dumps, labelled))

    return [json.loads(line) for line in text.splitlines()], write


def _from_label_studio(text: str) -> tuple[list[Task], Callable[[list[Task]], str]]:
    def annotated(task: Task) -> dict[str, Any]:
        result = {"type": "choices", "value": {"choices": [str(truth_of(task))]}}
        return {"data": task, "annotations": [{"completed_by": "anna", "result": [result]}]}

    return [load["data"] for load in json.loads(text)], lambda tasks: json.dumps(
        [annotated(task) for task in tasks]
    )


def _from_argilla(text: str) -> tuple[list[Task], Callable[[list[Task]], str]]:
    def answered(task: Task) -> dict[str, Any]:
        responses = [{"value": str(truth_of(task)), "user_id": "anna"}]
        return {"id": task["response_id"], "responses": {"fits": responses}}

    records = map(json.loads, text.splitlines())
    tasks: list[Task] = [{"response_id": record["id"], **record["fields"]} for record in records]
    return tasks, lambda some: json.dumps([answered(item) for item in some])


READERS: Mapping[str, Callable[[str], tuple[list[Task], Callable[[list[Task]], str]]]] = {
    "csv": _from_csv,
    "jsonl": _from_lines,
    "label-studio": _from_label_studio,
    "argilla": _from_argilla,
}
