"""Export a suite as a task of lm-evaluation-harness: YAML, its questions, and its functions."""

from pathlib import Path

import yaml

from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.suite_questions import (
    identifier_of,
    suite_of_single_questions,
    write_questions,
)
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError
from biaswatch.written_files import write_atomically

FUNCTIONS = '''"""Functions of the task beside this file."""

import json
from pathlib import Path


def questions(**_):
    """Return the questions of the suite."""
    import datasets

    lines = (Path(__file__).parent / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {"test": datasets.Dataset.from_list([json.loads(line) for line in lines])}


def answered(doc, results):
    """Return whether the model answered; biaswatch measures the answers."""
    return {"answered": float(bool(results[0].strip()))}
'''
MAX_TOKENS = 1024


async def export(request: ExportRequest) -> str:
    """Write a folder for `lm_eval --include_path`."""
    suite = suite_of_single_questions(request.source)
    if any(len(probe.as_messages) > 1 for probe in suite.probes):
        raise UsageError(
            f"Questions of {suite.name} have several messages, and lm-evaluation-harness asks one"
            " text. Ask them with Inspect, or with `biaswatch run`."
        )
    folder = Path(request.destination)
    write_task(suite, folder)
    task = identifier_of(suite)
    return f"Wrote the task {task}: lm_eval --include_path {folder} --tasks {task} --log_samples"


def write_task(suite: Suite, folder: Path) -> None:
    """Write the files of a suite's task."""
    write_questions(suite, folder)
    write_atomically(folder / "functions.py", FUNCTIONS)
    write_atomically(folder / f"{identifier_of(suite)}.yaml", task_yaml(suite))


class Function(str):
    """The name of a function in a module beside the task."""

    __slots__ = ()


class _TaskDumper(yaml.SafeDumper):
    """Writes names of functions with the harness's tag."""


_TaskDumper.add_representer(
    Function, lambda dumper, name: dumper.represent_scalar("!function", name)
)


def task_yaml(suite: Suite) -> str:
    """Return the YAML of the task."""
    fields = {
        "task": identifier_of(suite),
        "tag": "biaswatch",
        "custom_dataset": Function("functions.questions"),
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{expected}}",
        "process_results": Function("functions.answered"),
        "generation_kwargs": {"until": [], "max_gen_toks": MAX_TOKENS},
        "metric_list": [{"metric": "answered", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1, "suite": suite.name, "suite_hash": suite.hash},
    }
    return yaml.dump(fields, Dumper=_TaskDumper, sort_keys=False)
