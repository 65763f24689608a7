"""Export a suite as a harness of NeMo Evaluator: its framework definition, and a parser."""

from pathlib import Path

import yaml

from biaswatch.integrations.evaluation_jobs import SCORES
from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.suite_questions import identifier_of
from biaswatch.readers.suite_names import suite_path
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.written_files import write_atomically

NAMESPACE = "core_evals"
"""The namespace package in which NeMo Evaluator looks for harnesses."""
COMMAND = (
    "python -m biaswatch.integrations.evaluation_jobs '{{config.params.task}}'"
    " --model '{{target.api_endpoint.model_id}}' --url '{{target.api_endpoint.url}}'"
    " --output '{{config.output_dir}}' --repeats {{config.params.extra.repeats}}"
    "{% if config.params.limit_samples is not none %}"
    " --sets {{config.params.limit_samples}}{% endif %}"
    "{% if target.api_endpoint.api_key_name is not none %}"
    " --key-variable {{target.api_endpoint.api_key_name}}{% endif %}"
)
PARSER = f'''"""The results of biaswatch as NeMo Evaluator reads them."""

import json
from pathlib import Path

from nemo_evaluator.api.api_dataclasses import (
    EvaluationResult, MetricResult, Score, ScoreStats, TaskResult,
)


def parse_output(output_dir):
    """Return the numbers by comparison; `run` has those of the whole run."""
    written = json.loads((Path(output_dir) / "{SCORES}").read_text(encoding="utf-8"))
    metrics = {{}}
    for score in written["scores"]:
        scores = metrics.setdefault(score["comparison"] or "run", MetricResult()).scores
        scores[score["name"]] = Score(value=score["value"], stats=ScoreStats())
    return EvaluationResult(tasks={{written["suite"]: TaskResult(metrics=metrics)}})
'''


async def export(request: ExportRequest) -> str:
    """Write a package for the PYTHONPATH of NeMo Evaluator."""
    suite = load_suite(suite_path(Path(request.source)))
    folder = Path(request.destination) / NAMESPACE / identifier_of(suite)
    folder.mkdir(parents=True, exist_ok=True)
    definition = yaml.safe_dump(framework_definition(suite, request.source), sort_keys=False)
    files = {"__init__.py": "", "framework.yml": definition, "output.py": PARSER}
    for name, text in files.items():
        write_atomically(folder / name, text)
    return (
        f"Wrote {folder}: PYTHONPATH={request.destination} nemo-evaluator run_eval"
        f" --eval_type {identifier_of(suite)}.{suite.name} ..."
    )


def framework_definition(suite: Suite, source: str) -> dict[str, object]:
    """Return the framework definition; `source` is the suite that the command loads."""
    name = identifier_of(suite)
    about = suite.about or f"Differences between groups, by the suite {suite.name}."
    params = {"task": source, "limit_samples": None, "extra": {"repeats": 1}}
    return {
        "framework": {
            "name": name, "pkg_name": name, "full_name": f"biaswatch: {suite.name}",
            "description": about,
        },
        "defaults": {
            "command": COMMAND,
            "config": {"params": params},
            "target": {"api_endpoint": {"api_key_name": None}},
        },
        "evaluations": [
            {
                "name": suite.name,
                "description": about,
                "defaults": {"config": {"type": suite.name, "supported_endpoint_types": ["chat"]}},
            }
        ],
    }  # fmt: skip
