"""Jobs of evaluation services: run a suite against a model server, and return its scores.

`python -m biaswatch.integrations.evaluation_jobs --help` is the command of NeMo Evaluator.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from biaswatch.integrations.amounts import amounts_of
from biaswatch.integrations.mlflow import report_files
from biaswatch.integrations.sources import ReportedRun
from biaswatch.local.connections import connected
from biaswatch.local.runs import ended_run, run_results, with_background
from biaswatch.readers.suite_names import suite_path
from biaswatch.readers.suites import load_suite, pilot_of
from biaswatch.readers.targets import read_target
from biaswatch.shared.errors import BiaswatchError, TransientError, UsageError
from biaswatch.shared.presentation.run_summary import mostly_missing
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.written_files import write_atomically

SCORES = "scores.json"
ENDPOINT = "/chat/completions"


@dataclass(frozen=True)
class Score:
    """A number about a comparison, or about the whole run."""

    comparison: str
    """Empty for the whole run."""
    name: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class EvaluationJob:
    """A suite, and the model to evaluate."""

    suite: str
    model: str
    url: str
    """Address of an OpenAI-compatible server."""
    key: str | None = field(default=None, repr=False)
    repeats: int = 1
    sets: int | None = None
    """A pilot: only this number of whole sets."""

    @property
    def target(self) -> str:
        """The target of the run.

        Raises
        ------
        UsageError
            The address is not an HTTP URL.
        """
        if urlsplit(self.url).scheme not in {"http", "https"}:
            raise UsageError(f"The model's address is http://HOST/v1, not {self.url!r}.")
        return f"openai:{self.model}@{self.url.rstrip('/').removesuffix(ENDPOINT)}"


@contextmanager
def own_state(job: EvaluationJob) -> Iterator[None]:
    """Keep the platform of a job, and the key of its server, in a folder of their own."""
    with TemporaryDirectory(prefix="biaswatch-") as folder:
        variables = {"BIASWATCH_STATE_DIR": folder}
        if job.key:
            keys = Path(folder) / "keys"
            keys.mkdir(mode=0o700)
            (keys / (urlsplit(job.url).hostname or "")).write_text(job.key)
            variables["BIASWATCH_KEYS_DIR"] = str(keys)
        os.environ |= variables  # noqa: TID251 - settings of the platform that the job starts
        yield


async def evaluated(job: EvaluationJob) -> ReportedRun:
    """Ask the suite of a job, and return the run with its findings.

    Raises
    ------
    UsageError
        The suite or the model cannot be used.
    TransientError
        The run ended before all answers arrived, or most of them could not be measured.
    """
    suite = load_suite(suite_path(Path(job.suite)))
    suite = suite if job.sets is None else pilot_of(suite, job.sets)
    read_target(job.target)
    request = RunRequest(suite_hash=suite.hash, targets=[job.target], repeats=job.repeats)
    with own_state(job):
        async with connected(None, None, with_models=True) as client:
            run_id = await ended_run(client, suite, request)
            results = await with_background(client, await run_results(client, run_id))
            flagged = await client.flagged(run_id)
    if why := results.incomplete or mostly_missing(results.diagnoses):
        raise TransientError(why)
    return ReportedRun(results, flagged)


def scores_of(reported: ReportedRun) -> list[Score]:
    """Return the numbers of a run; an undefined number is left out."""
    return [
        Score(
            comparison,
            name,
            value,
            *((amounts["ci_low"], amounts["ci_high"]) if name == "gap" else (None, None)),
        )
        for comparison, amounts in amounts_of(reported.results)
        for name, value in amounts.items()
        if value is not None
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Run a job, and write its scores and reports to a folder."""
    parser = argparse.ArgumentParser(prog="evaluation_jobs", description=main.__doc__)
    parser.add_argument("suite", help="its name, or its file")
    parser.add_argument("--model", required=True)
    parser.add_argument("--url", required=True, help="an OpenAI-compatible server")
    parser.add_argument("--output", required=True, type=Path, help="a folder")
    parser.add_argument("--key-variable", help="the variable that holds the server's key")
    parser.add_argument("--repeats", type=int, default=1, help="how often to ask each question")
    parser.add_argument("--sets", type=int, help="a pilot: only this number of whole sets")
    options = parser.parse_args(words)
    name = options.key_variable
    key = os.environ.get(name) if name else None  # noqa: TID251 - a name that the user has chosen
    job = EvaluationJob(
        options.suite, options.model, options.url, key, options.repeats, options.sets
    )
    try:
        if name and not key:
            raise UsageError(f"The variable {name} holds no key.")
        reported = asyncio.run(evaluated(job))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return error.exit_code
    options.output.mkdir(parents=True, exist_ok=True)
    for name, content in report_files(reported):
        (options.output / name).parent.mkdir(exist_ok=True)
        (options.output / name).write_bytes(content)
    scores = [asdict(score) for score in scores_of(reported)]
    write_atomically(options.output / SCORES, json.dumps({"suite": job.suite, "scores": scores}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
