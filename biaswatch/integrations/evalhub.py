"""A provider of EvalHub: its definition, and the adapter that runs a job of it.

`python -m biaswatch.integrations.evalhub` runs the job that EvalHub describes in a file.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from biaswatch.integrations.amounts import NO_DISPARITY_SHARE
from biaswatch.integrations.evaluation_jobs import EvaluationJob, evaluated, scores_of
from biaswatch.integrations.formats import ALL_SUITES, ExportRequest
from biaswatch.integrations.mlflow import report_files
from biaswatch.integrations.scorers import peer_module
from biaswatch.integrations.sources import ReportedRun
from biaswatch.readers.suite_names import shipped_suites
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import SummaryWord, first_mistake
from biaswatch.shared.errors import BiaswatchError, UsageError
from biaswatch.shared.lookup import similar_name
from biaswatch.written_files import check_ending, write_atomically

PROVIDER = "biaswatch"
MODULE = ["python", "-m", "biaswatch.integrations.evalhub"]
SDK = "eval-hub-sdk[adapter]"
METRICS = [NO_DISPARITY_SHARE, "comparisons", *(word.value for word in SummaryWord)]
"""Numbers of every run; those of each comparison come with them."""


class JobParameters(BaseModel):
    """The parameters of a job."""

    model_config = ConfigDict(extra="forbid")

    repeats: PositiveInt = 1
    sets: PositiveInt | None = None
    """A pilot: only this number of whole sets."""


async def export(request: ExportRequest) -> str:
    """Write the definition of a provider whose benchmarks are suites of this package."""
    output = Path(request.destination)
    check_ending(output, (".yaml", ".yml"))
    shipped = shipped_suites()
    names = list(shipped) if request.source == ALL_SUITES else [request.source]
    if unknown := set(names) - set(shipped):
        known = similar_name(request.source, shipped)
        raise UsageError(
            f"Jobs of EvalHub name suites of this package, not {unknown.pop()}.{known}"
        )
    provider = provider_definition({name: shipped[name] for name in names})
    output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(output, yaml.safe_dump(provider, sort_keys=False, allow_unicode=True))
    return f"Wrote the provider {PROVIDER} with {len(names)} benchmarks to {output}."


def provider_definition(suites: Mapping[str, Path]) -> dict[str, Any]:
    """Return the definition of the provider."""
    return {
        "id": PROVIDER,
        "name": PROVIDER,
        "description": "Differences between groups in the answers of a model, with intervals.",
        "runtime": {
            "k8s": {"image": f"biaswatch-evalhub:{version('biaswatch')}", "entrypoint": MODULE},
            "local": {"command": " ".join(MODULE)},
        },
        "benchmarks": [_benchmark(name, path) for name, path in suites.items()],
    }


def _benchmark(name: str, path: Path) -> dict[str, Any]:
    suite = load_suite(path)
    return {
        "id": name,
        "name": name,
        "description": suite.about or f"Differences between groups, by the suite {name}.",
        "category": "bias",
        "metrics": [*METRICS],
        "dataset_size": len(suite.probes),
        "tags": ["bias", "fairness"],
        "primary_score": {"metric": NO_DISPARITY_SHARE, "lower_is_better": False},
    }


def job_of(spec: Any, key: str | None) -> EvaluationJob:
    """Return the job that EvalHub describes.

    Raises
    ------
    UsageError
        A parameter is unknown or invalid.
    """
    if spec.num_examples is not None:
        raise UsageError(
            "num_examples would cut sets apart. Give the parameter `sets`, a number of whole sets."
        )
    try:
        parameters = JobParameters.model_validate(spec.parameters)
    except ValidationError as error:
        raise UsageError(first_mistake(error).in_words("the parameters")) from None
    return EvaluationJob(
        spec.benchmark_id, spec.model.name, spec.model.url, key, **parameters.model_dump()
    )


def job_results(sdk: Any, spec: Any, reported: ReportedRun, seconds: float) -> Any:
    """Return the findings of a run as results of the job."""
    run = reported.results.run
    results = [
        sdk.EvaluationResult(
            metric_name=f"{score.comparison}/{score.name}" if score.comparison else score.name,
            metric_value=score.value,
            confidence_interval=None
            if score.low is None or score.high is None
            else (score.low, score.high),
        )
        for score in scores_of(reported)
    ]
    return sdk.JobResults(
        id=spec.id,
        benchmark_id=spec.benchmark_id,
        benchmark_index=spec.benchmark_index,
        model_name=spec.model.name,
        results=results,
        num_examples_evaluated=run.responses,
        duration_seconds=seconds,
        evaluation_metadata={"run": run.run_id, "warnings": reported.results.warnings},
    )


def run_benchmark_job(self: Any, config: Any, callbacks: Any) -> Any:
    """Run a job: the method of EvalHub's `FrameworkAdapter`."""
    sdk = peer_module("evalhub.adapter", SDK)
    job = job_of(config, sdk.resolve_model_credentials().api_key)
    running = sdk.JobStatusUpdate(
        status=sdk.JobStatus.RUNNING, phase=sdk.JobPhase.RUNNING_EVALUATION
    )
    callbacks.report_status(running)
    began = time.monotonic()
    reported = asyncio.run(evaluated(job))
    results = job_results(sdk, config, reported, time.monotonic() - began)
    artifact = peer_module("evalhub.adapter.mlflow", SDK).MlflowArtifact
    files = [artifact(name, content) for name, content in report_files(reported)]
    results.mlflow_run_id = callbacks.mlflow.save(results, config, artifacts=files)
    return results


def main() -> int:
    """Run the job of EvalHub's file, and report its results or the reason for its failure."""
    sdk = peer_module("evalhub.adapter", SDK)
    methods = {"run_benchmark_job": run_benchmark_job}
    adapter = type("BiaswatchAdapter", (sdk.FrameworkAdapter,), methods)()
    callbacks = sdk.DefaultCallbacks.from_adapter(adapter)
    try:
        callbacks.report_results(adapter.run_benchmark_job(adapter.job_spec, callbacks))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        message = sdk.MessageInfo(message=str(error), message_code="evaluation_failed")
        callbacks.report_status(
            sdk.JobStatusUpdate(status=sdk.JobStatus.FAILED, error_message=message)
        )
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
