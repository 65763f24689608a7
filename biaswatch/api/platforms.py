"""`bw.run` and `bw.connect`: a local or remote platform, with and without `await`."""

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic_core import to_jsonable_python

from biaswatch.api.frames import html_of, native_frame, text_of
from biaswatch.checks import CheckResult, CheckRule, check_result, checked_diagnoses
from biaswatch.exporting.answers import exported_rows, in_store, runs_named
from biaswatch.exporting.gaps import gap_rows
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import connected
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import RunResults, ended_run, run_results, run_table
from biaswatch.local.searches import AnySpace, finished_search, search_request
from biaswatch.readers.run_tables import RunTable
from biaswatch.readers.suite_names import suite_path
from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import read_target, with_file
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Suite, SummaryWord
from biaswatch.shared.errors import TransientError
from biaswatch.shared.presentation.conclusions import conclusions
from biaswatch.shared.presentation.correction_rows import correction_rows
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.requests.run_sources import RunProvenance
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.requests.search_views import SearchView
from biaswatch.shared.requests.traffic import MAX_BATCH, AcceptedBatch

T = TypeVar("T")
Targets = str | Sequence[str]
AnySuite = Suite | str | Path


@dataclass(frozen=True, repr=False)
class FinishedRun:
    """A run and its results."""

    results: RunResults
    rows: list[Mapping[str, Any]]
    """Answers with their groups and measurements, as in `biaswatch export`."""
    table: RunTable | None = None
    """All planned answers, measured or not; None for a window of traffic."""

    @property
    def id(self) -> str:
        """The run's id, for the command line and the dashboard."""
        return self.results.run.run_id

    @property
    def sentences(self) -> list[str]:
        """Conclusions by the readings and by labels of people, and problems of the run."""
        return [
            *conclusions(self.results.diagnoses),
            *correction_sentences(self.results.corrections),
            *self.problems,
        ]

    @property
    def warnings(self) -> list[str]:
        """Sentences on verdicts that missing answers could overturn."""
        return self.results.warnings

    def check(self, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE) -> CheckResult:
        """Return the result of `--fail-on`: its `code` 0, 1 or 3, and its `reasons`."""
        compared = checked_diagnoses(self.results.diagnoses)
        return check_result(compared, CheckRule(least, min_measured), self.results.incomplete)

    @property
    def problems(self) -> list[str]:
        """Distinct reasons for an early end and for missing answers."""
        return self.results.run.problems()

    @property
    def has_disparity(self) -> bool:
        """True if a gap is a disparity by the readings; `corrections` has the corrected gaps.

        False does not exclude a disparity: `check` reports whether enough was measured.
        """
        return any(
            gap.summary is SummaryWord.DISPARITY
            for diagnosis in self.results.diagnoses
            for gap in diagnosis.gaps
        )

    def answers(self, backend: Any = pd) -> Any:
        """Return the answers as a frame of `pandas`, `polars` or `pyarrow`."""
        return native_frame(self.rows, backend)

    def gaps(self, backend: Any = pd) -> Any:
        """Return the gaps with their intervals and verdicts as a frame.

        Columns `corrected...` hold the values corrected by labels; null without labels.
        """
        return native_frame(gap_rows(self.results), backend)

    def corrections(self, backend: Any = pd) -> Any:
        """Return the gaps corrected by labels, with ratios and the bias of the instrument."""
        return native_frame(correction_rows(self.results.corrections), backend)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.warnings])

    def __repr__(self) -> str:
        lead = f"<FinishedRun {self.id}: {run_summary(self.results.diagnoses).lead}>"
        return text_of(lead, str(self).splitlines())

    def _repr_html_(self) -> str:
        return html_of([*self.sentences, *self.warnings], {"Gaps": gap_rows(self.results)})


class AsyncPlatform:
    """A platform behind a gateway; all methods are coroutines."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._client = partial(connected, url, token)

    async def run(
        self,
        suite: AnySuite,
        target: Targets,
        *,
        repeats: int = 1,
        scaffolds: Sequence[str] = (),
        nonce: str = "",
    ) -> FinishedRun:
        """Run a suite on models and wait for the end; an existing run is resumed or read.

        Raises
        ------
        UsageError
            The suite or a target cannot be used.
        TransientError
            The run ended before all answers arrived; the same call resumes it.
        """
        loaded = suite if isinstance(suite, Suite) else load_suite(suite_path(Path(suite)))
        targets = [target] if isinstance(target, str) else list(target)
        for name in targets:
            read_target(name)
        request = RunRequest(
            suite_hash=loaded.hash, targets=[with_file(name) for name in targets],
            repeats=repeats, scaffolds=list(scaffolds), nonce=nonce,
        )  # fmt: skip
        async with self._client(with_models=True) as client:
            return await _finished(client, await ended_run(client, loaded, request))

    async def search(self, target: str, space: AnySpace, **options: Any) -> SearchView:
        """Search a space for bias and wait for the end; see `biaswatch.search`."""
        request = search_request(target, space, **options)
        async with self._client(with_models=True) as client:
            return await finished_search(client, request)

    async def results(self, run_id: str) -> FinishedRun:
        """Return an existing run, with its answers."""
        async with self._client(with_models=False) as client:
            return await _finished(client, run_id)

    async def answers(
        self, source: str, *, since: datetime | None = None, backend: Any = pd
    ) -> Any:
        """Return the rows of `biaswatch export` of a run, monitor or live system as a frame."""
        async with self._client(with_models=False) as client:
            runs, left_out = in_store(await runs_named(client, source, since))
            if left_out:
                warnings.warn(left_out, stacklevel=2)
            return native_frame([row async for row in exported_rows(client, runs)], backend)

    async def ingest(
        self, source: str, answers: Iterable[Mapping[str, Any]]
    ) -> list[AcceptedBatch]:
        """Send answers of a live system in the form of the API; repeated answers count once."""
        rows = [dict(to_jsonable_python(answer)) for answer in answers]
        async with self._client(with_models=False) as client:
            return [
                await client.ingest(source, rows[start : start + MAX_BATCH])
                for start in range(0, len(rows), MAX_BATCH)
            ]


async def _finished(client: GatewayClient, run_id: str) -> FinishedRun:
    results = await run_results(client, run_id)
    if results.run.state not in {RunState.COMPLETE, RunState.CANCELLED}:
        raise TransientError(
            f"The run {run_id} is {results.run.state}: {results.run.responses} of"
            f" {results.run.probes} answers arrived. The same call resumes it."
        )
    runs = await runs_named(client, run_id, None)
    rows: list[Mapping[str, Any]] = [row async for row in exported_rows(client, runs)]
    provenance = await client.read(RunProvenance, path("runs", run_id, "provenance"))
    is_window = provenance.suite_hash is None
    return FinishedRun(results, rows, None if is_window else await run_table(client, run_id))


class ConnectedPlatform:
    """A platform behind a gateway; methods block until done, also in a notebook."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._platform = AsyncPlatform(url, token)

    def run(
        self,
        suite: AnySuite,
        target: Targets,
        *,
        repeats: int = 1,
        scaffolds: Sequence[str] = (),
        nonce: str = "",
    ) -> FinishedRun:
        """See `AsyncPlatform.run`."""
        return _waited(
            lambda: self._platform.run(
                suite, target, repeats=repeats, scaffolds=scaffolds, nonce=nonce
            )
        )

    def search(self, target: str, space: AnySpace, **options: Any) -> SearchView:
        """See `biaswatch.search`."""
        return _waited(lambda: self._platform.search(target, space, **options))

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
    """Run a coroutine on a separate event loop, since a notebook already runs one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def connect(url: str, token: str | None = None) -> ConnectedPlatform:
    """Return the platform behind a gateway, `http://host:8080`."""
    return ConnectedPlatform(url, token)


def connect_async(url: str, token: str | None = None) -> AsyncPlatform:
    """Return the platform behind a gateway, with coroutine methods."""
    return AsyncPlatform(url, token)


def run(suite: AnySuite, target: Targets, **options: Any) -> FinishedRun:
    """Run a suite on models, on the platform of this machine; start one if none is running.

    The options are those of `ConnectedPlatform.run`.
    """
    return ConnectedPlatform().run(suite, target, **options)


async def run_async(suite: AnySuite, target: Targets, **options: Any) -> FinishedRun:
    """Like `run`, as a coroutine."""
    return await AsyncPlatform().run(suite, target, **options)
