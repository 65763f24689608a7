"""`bw.run` and `bw.connect`: a platform in this process or elsewhere, with and without `await`."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic_core import to_jsonable_python

from biaswatch.api.frames import html_of, native_frame
from biaswatch.checks import CheckResult, CheckRule, check_result, checked_diagnoses
from biaswatch.exporting.answers import exported_rows, in_store, runs_named
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import connected
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import RunResults, run_results, run_table
from biaswatch.readers.run_tables import RunTable
from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import read_target, with_file
from biaswatch.services.gateway.runs.provenance import RunProvenance
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Suite, Verdict
from biaswatch.shared.errors import TransientError
from biaswatch.shared.presentation.conclusions import conclusions
from biaswatch.shared.presentation.correction_rows import (
    corrected_columns,
    corrected_gaps,
    correction_rows,
)
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.requests.traffic import MAX_BATCH, AcceptedBatch

T = TypeVar("T")
Targets = str | Sequence[str]
AnySuite = Suite | str | Path


@dataclass(frozen=True)
class FinishedRun:
    """A run and what was found."""

    results: RunResults
    rows: list[Mapping[str, Any]]
    """Every answer with its groups and measurements, as `biaswatch export` writes it."""
    table: RunTable | None = None
    """Every answer that was asked for, measured or not; None for a window of traffic."""

    @property
    def id(self) -> str:
        """The run's id, for the command line and the dashboard."""
        return self.results.run.run_id

    @property
    def sentences(self) -> list[str]:
        """What is concluded by the readings and by labels of people, and what went wrong."""
        return [
            *conclusions(self.results.diagnoses),
            *correction_sentences(self.results.corrections),
            *self.problems,
        ]

    @property
    def warnings(self) -> list[str]:
        """What missing answers do to the verdicts, a sentence each."""
        return self.results.warnings

    def check(self, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE) -> CheckResult:
        """Return how `--fail-on` would end: its `code` 0, 1 or 3, and its `reasons`."""
        compared = checked_diagnoses(self.results.diagnoses)
        return check_result(compared, CheckRule(least, min_measured), self.results.incomplete)

    @property
    def problems(self) -> list[str]:
        """Why the run was stopped early and why prompts have no answer, each said once."""
        return self.results.run.problems()

    @property
    def has_disparity(self) -> bool:
        """Whether any gap is a disparity by the readings; `corrections` has what labels say.

        False does not mean that there is none: `check` says whether enough was measured to tell.
        """
        return any(
            gap.verdict is Verdict.DISPARITY for each in self.results.diagnoses for gap in each.gaps
        )

    def answers(self, backend: Any = pd) -> Any:
        """Return the answers as a frame of `pandas`, `polars` or `pyarrow`."""
        return native_frame(self.rows, backend)

    def gaps(self, backend: Any = pd) -> Any:
        """Return every gap with its interval and verdict as a frame.

        By the readings, and beside them as labels correct it (`corrected...`; null without labels).
        """
        return native_frame(self._gaps(), backend)

    def corrections(self, backend: Any = pd) -> Any:
        """Return every gap that labels correct, with its ratio and the instrument's bias."""
        return native_frame(correction_rows(self.results.corrections), backend)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.warnings])

    def _repr_html_(self) -> str:
        return html_of([*self.sentences, *self.warnings], {"Gaps": self._gaps()})

    def _gaps(self) -> list[dict[str, Any]]:
        corrected = corrected_gaps(self.results.corrections)
        return [
            {
                "target": each.target, "scaffold": each.scaffold, "feature": each.feature,
                "dimension": each.dimension, "a": gap.a, "b": gap.b, "gap": gap.gap.value,
                "ci_low": gap.gap.low, "ci_high": gap.gap.high, "p_adjusted": gap.p_adjusted,
                "verdict": gap.verdict.value if gap.verdict else None,
                "survives_missing": gap.survives_missing,
                **corrected_columns(
                    corrected.get(
                        (each.target, each.scaffold, each.extractor, each.feature, each.dimension,
                         gap.a, gap.b)
                    )
                ),
            }
            for each in self.results.diagnoses
            for gap in each.gaps
        ]  # fmt: skip


class AsyncPlatform:
    """A platform behind a gateway; every method is awaited."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._url, self._token = url, token

    @asynccontextmanager
    async def _client(self, *, with_models: bool) -> AsyncIterator[GatewayClient]:
        async with connected(self._url, self._token, with_models=with_models) as client:
            yield client

    async def run(
        self,
        suite: AnySuite,
        target: Targets,
        *,
        repeats: int = 1,
        scaffolds: Sequence[str] = ("direct",),
        nonce: str = "",
    ) -> FinishedRun:
        """Put a suite to models; wait for the end. The same run again resumes, or is read.

        Raises
        ------
        UsageError
            The suite or a target cannot be used.
        TransientError
            The run ended before all was answered; the same call goes on.
        """
        loaded = suite if isinstance(suite, Suite) else load_suite(Path(suite))
        targets = [target] if isinstance(target, str) else list(target)
        for each in targets:
            read_target(each)
        request = RunRequest(
            suite_hash=loaded.hash, targets=[with_file(name) for name in targets],
            repeats=repeats, scaffolds=list(scaffolds), nonce=nonce,
        )  # fmt: skip
        async with self._client(with_models=True) as client:
            await client.keep(loaded)
            started = await client.start(request)
            async for _ in client.follow(started.run.id, started.opening):
                pass
            return await _finished(client, started.run.id)

    async def results(self, run_id: str) -> FinishedRun:
        """Return a run that is there, with its answers."""
        async with self._client(with_models=False) as client:
            return await _finished(client, run_id)

    async def answers(
        self, source: str, *, since: datetime | None = None, backend: Any = pd
    ) -> Any:
        """Return what `biaswatch export` writes of a run, monitor or live system, as a frame."""
        async with self._client(with_models=False) as client:
            runs, left_out = in_store(await runs_named(client, source, since))
            if left_out:
                warnings.warn(left_out, stacklevel=2)
            return native_frame([row async for row in exported_rows(client, runs)], backend)

    async def ingest(
        self, source: str, answers: Iterable[Mapping[str, Any]]
    ) -> list[AcceptedBatch]:
        """Send answers of a live system in, as the API takes them; each counts once."""
        given = [dict(to_jsonable_python(each)) for each in answers]
        async with self._client(with_models=False) as client:
            return [
                await client.ingest(source, given[start : start + MAX_BATCH])
                for start in range(0, len(given), MAX_BATCH)
            ]


async def _finished(client: GatewayClient, run_id: str) -> FinishedRun:
    found = await run_results(client, run_id)
    if found.run.state not in {RunState.COMPLETE, RunState.CANCELLED}:
        raise TransientError(
            f"The run {run_id} is {found.run.state}: {found.run.responses} of {found.run.probes}"
            " answers are there. The same call goes on."
        )
    runs = await runs_named(client, run_id, None)
    rows: list[Mapping[str, Any]] = [row async for row in exported_rows(client, runs)]
    provenance = await client.read(RunProvenance, path("runs", run_id, "provenance"))
    is_window = provenance.suite_hash is None
    return FinishedRun(found, rows, None if is_window else await run_table(client, run_id))


class ConnectedPlatform:
    """A platform behind a gateway; methods return when they are done, also in a notebook."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._platform = AsyncPlatform(url, token)

    def run(
        self,
        suite: AnySuite,
        target: Targets,
        *,
        repeats: int = 1,
        scaffolds: Sequence[str] = ("direct",),
        nonce: str = "",
    ) -> FinishedRun:
        """See `AsyncPlatform.run`."""
        return _waited(
            lambda: self._platform.run(
                suite, target, repeats=repeats, scaffolds=scaffolds, nonce=nonce
            )
        )

    def results(self, run_id: str) -> FinishedRun:
        """See `AsyncPlatform.results`."""
        return _waited(lambda: self._platform.results(run_id))

    def answers(self, source: str, *, since: datetime | None = None, backend: Any = pd) -> Any:
        """See `AsyncPlatform.answers`."""
        return _waited(lambda: self._platform.answers(source, since=since, backend=backend))

    def ingest(self, source: str, answers: Iterable[Mapping[str, Any]]) -> list[AcceptedBatch]:
        """See `AsyncPlatform.ingest`."""
        return _waited(lambda: self._platform.ingest(source, answers))


def _waited(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do it on an event loop of its own: a notebook has one that runs already."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def connect(url: str, token: str | None = None) -> ConnectedPlatform:
    """Return the platform behind a gateway, `http://host:8080`."""
    return ConnectedPlatform(url, token)


def connect_async(url: str, token: str | None = None) -> AsyncPlatform:
    """Return the platform behind a gateway, whose methods are awaited."""
    return AsyncPlatform(url, token)


def run(suite: AnySuite, target: Targets, **options: Any) -> FinishedRun:
    """Put a suite to models on the platform that runs on this machine, or on one started now.

    The options are those of `ConnectedPlatform.run`.
    """
    return ConnectedPlatform().run(suite, target, **options)


async def run_async(suite: AnySuite, target: Targets, **options: Any) -> FinishedRun:
    """Do as `run`, awaited."""
    return await AsyncPlatform().run(suite, target, **options)
