"""A run with its results, read from the gateway; run ids by their beginning."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from biaswatch.checks import CheckRule, checked_diagnoses, measurement_warnings
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.readers.run_tables import RunTable
from biaswatch.shared.contracts import Assessment, Correction, Diagnosis, Evaluation, Suite, is_id
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.presentation.run_summary import mostly_missing, without_calls
from biaswatch.shared.requests.labels import RunCorrections
from biaswatch.shared.requests.run_sources import GroupValues, RunProvenance
from biaswatch.shared.requests.run_views import RunImpact, RunProgress, RunState, StudyResults
from biaswatch.shared.requests.runs import LATEST, NAME_PATTERN, RunRequest

MOST_SPREADS = 4
"""Number of findings whose distribution of answers is drawn."""
POWER = 0.8
"""Share of runs that find the smallest findable gap."""
MAX_REFUSALS = 3
"""A run stops waiting for a target after as many refusals: its key must be corrected."""


@dataclass(frozen=True)
class InterpretedGap:
    """One comparison of a run, interpreted in writing and graded."""

    about: str
    """The target, the feature and the groups."""
    evaluation: Evaluation


@dataclass(frozen=True)
class FindableGap:
    """The smallest gap that a run could have found, for one target and feature."""

    target: str
    feature: str
    dimension: str
    a: str
    b: str
    units: int
    """Sets with both groups, or prompts of the smaller group."""
    repeats: int
    gap: float | None
    """Found by `POWER` of such runs; None if the largest possible gap is found less often."""
    family: int

    def in_words(self) -> str:
        """Return the gap as a sentence."""
        where = f"{self.a} against {self.b}, {self.feature}, {self.units} units"
        if self.gap is None:
            return f"{where}: not even the largest possible gap would have been found reliably."
        return (
            f"{where}: a gap of about {self.gap:.2g} would have been found in {POWER:.0%} of such"
            f" runs, smaller ones more rarely."
        )

    def as_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return {**asdict(self), "power": POWER}


@dataclass(frozen=True)
class RunResults:
    """A run and its findings."""

    run: RunProgress
    diagnoses: Sequence[Diagnosis]
    assessments: Sequence[Assessment] = ()
    studies: StudyResults | None = None
    """Scores, pairs and judges."""
    interpretations: Sequence[InterpretedGap] = ()
    """Interpretations of comparisons, if requested."""
    impact: Sequence[RunImpact] = ()
    """Rates and impact ratios, if requested."""
    provenance: RunProvenance | None = None
    """Origin of the numbers, if requested."""
    values: Mapping[str, GroupValues] = field(default_factory=dict)
    """Values by group, for plots of their distribution, by the id of the finding."""
    corrections: Sequence[Correction] = ()
    """Corrections of the findings by labels of people."""
    findable: Sequence[FindableGap] = ()
    """Smallest findable gaps of a run without disparities, if requested."""

    @property
    def incomplete(self) -> str | None:
        """A sentence with the state of an incomplete run; None for a complete one."""
        run = self.run
        if run.state is RunState.COMPLETE:
            return None
        return f"The run is {run.state}: {run.responses:,} of {run.probes:,} answers arrived."

    @property
    def warnings(self) -> list[str]:
        """Sentences on missing answers, and on verdicts that they could overturn."""
        missing = mostly_missing(self.diagnoses)
        warnings = measurement_warnings(checked_diagnoses(self.diagnoses), CheckRule())
        return [*([missing] if missing else []), *without_calls(self.diagnoses), *warnings]

    def as_json(self) -> dict[str, Any]:
        """Return the results as a JSON object, without optional parts that are empty."""
        fields = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
        fields["warnings"] = self.warnings
        if self.studies and self.studies.scores:
            fields["studies"] = self.studies
        if self.corrections:
            fields["corrections"] = self.corrections
        if self.findable:
            fields["findable_gaps"] = [gap.as_json() for gap in self.findable]
        if self.interpretations:
            fields["interpretations"] = [
                {"about": written.about, **written.evaluation.model_dump()}
                for written in self.interpretations
            ]
        if self.provenance:
            fields["provenance"] = self.provenance
        return dict(to_jsonable_python(fields))


Watch = Callable[[GatewayClient, str, int], Awaitable[None]]
"""Waits for the end of a run."""


async def ended(client: GatewayClient, run_id: str, opening: int) -> None:
    """Wait for the end of a run.

    Raises
    ------
    TransientError
        All answers left are of targets that refuse again and again.
    """
    async for progress in client.follow(run_id, opening):
        check_not_refused(progress)


async def ended_run(
    client: GatewayClient, suite: Suite, request: RunRequest, watch: Watch = ended
) -> str:
    """Ask a suite and wait for the end of the run; return its id.

    Raises
    ------
    TransientError
        All answers left are of targets that refuse again and again.
    """
    await client.upload_suite(suite)
    started = await client.start(request)
    await watch(client, started.run.id, started.opening)
    return started.run.id


def check_not_refused(progress: RunProgress) -> None:
    """Raise TransientError where all answers left are of targets that refuse again and again."""
    left = progress.probes - progress.responses
    tried = all(paused.refusals >= MAX_REFUSALS for paused in progress.paused)
    if progress.paused and tried and 0 < left == progress.held:
        raise TransientError(
            f"{left} of {progress.probes} answers of the run {progress.run_id} wait, and the same"
            f" command goes on once they come: {progress.paused[0].in_words()}"
        )


async def run_results(
    client: GatewayClient, run_id: str, *, count_failed: bool = False
) -> RunResults:
    """Read a run and its findings; `count_failed` counts the votes of judges that failed."""
    return RunResults(
        await client.progress(run_id),
        await client.diagnoses(run_id),
        await client.assessments(run_id),
        await client.studies(run_id, count_failed=count_failed),
        corrections=(await corrections_of(client, run_id)).corrections,
    )


async def with_background(client: GatewayClient, results: RunResults) -> RunResults:
    """Add the origin of the numbers, and the values of the strongest findings."""
    run_id = results.run.run_id
    strongest = dict.fromkeys(row.diagnosis.id for row in comparisons(results.diagnoses))
    values = {
        finding_id: await client.read(
            GroupValues, path("runs", run_id, "diagnoses", finding_id, "values")
        )
        for finding_id in list(strongest)[:MOST_SPREADS]
    }
    provenance = await client.read(RunProvenance, path("runs", run_id, "provenance"))
    return replace(results, provenance=provenance, values=values)


async def corrections_of(client: GatewayClient, run_id: str) -> RunCorrections:
    """Return the corrections of a run's findings by labels of people."""
    return await client.read(RunCorrections, path("runs", run_id, "corrections"))


async def run_table(
    client: GatewayClient,
    run_id: str,
    total: Callable[[int], None] = lambda answers: None,
    advance: Callable[[], None] = lambda: None,
) -> RunTable:
    """Return all planned answers of a run, measured or not.

    `total` receives the number of answers; `advance` is called after each of them.
    """
    table = RunTable(await client.analysis(run_id))
    total(table.declared.answers)
    async for answer in client.measurements(run_id):
        table.add(answer)
        advance()
    return table


_NAME, _BEGINNING = re.compile(NAME_PATTERN), re.compile(r"[0-9a-f]{4,32}")


def may_name_run(written: str) -> bool:
    """Return whether a text can be an id, the beginning of one, a name, or `latest`."""
    return bool(_NAME.fullmatch(written) or _BEGINNING.fullmatch(written))


def neither_run_nor_file(written: str) -> UsageError:
    """Return the error for a text that names neither a run nor a file."""
    return UsageError(
        f"There is no file {written}, and no run has this id or name: `biaswatch runs` lists them."
    )


def _check_no_file(written: str) -> None:
    """Raise UsageError if a text in place of a run is the name of a file."""
    with suppress(OSError):  # no file can have this name
        if Path(written).is_file():
            raise UsageError(
                f"{written} is a file, and this command is about runs. `biaswatch diagnose`,"
                " `ll144` and `table` read files. To compare two files, put both into one with a"
                " column that names the version, and give `biaswatch diagnose` a --group for it."
            )


async def whole_run_id(client: GatewayClient, written: str, *, or_file: bool = False) -> str:
    """Return the id of the run with this id, its beginning or its name, or of the latest run.

    Raises
    ------
    UsageError
        No run matches, or several do. With `or_file`, the message also says that no file has this
        name.
    """
    if is_id(written):
        return written
    try:
        return (await client.progress(written)).run_id
    except NotFoundError:
        if or_file and written != LATEST:
            raise neither_run_nor_file(written) from None
        _check_no_file(written)
        raise
