"""A run with everything that was found in it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic_core import to_jsonable_python

from biaswatch.checks import CheckRule, checked_diagnoses, measurement_warnings
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.readers.run_tables import RunTable
from biaswatch.services.gateway.runs.measurements import GroupValues
from biaswatch.services.gateway.runs.provenance import RunProvenance
from biaswatch.shared.contracts import Assessment, Correction, Diagnosis, Evaluation
from biaswatch.shared.contracts.identity import is_id
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.requests.labels import RunCorrections
from biaswatch.shared.requests.run_views import RunImpact, RunProgress, RunState, StudyResults

MOST_SPREADS = 4
"""So many findings have the spread of their answers drawn."""
POWER = 0.8
"""The share of runs that a gap is found in which they are said to find."""


@dataclass(frozen=True)
class InterpretedGap:
    """One comparison of a run, interpreted in writing and graded."""

    about: str
    """The target, the feature and the groups."""
    evaluation: Evaluation


@dataclass(frozen=True)
class FindableGap:
    """What a run could have found of one feature, at one model."""

    target: str
    feature: str
    dimension: str
    a: str
    b: str
    units: int
    """Sets that both groups have, or prompts of the smaller group."""
    repeats: int
    gap: float | None
    """Found in `POWER` of runs like it; None where not even the widest possible gap is."""
    family: int

    def in_words(self) -> str:
        """Say it in a sentence."""
        where = f"{self.a} against {self.b}, {self.feature}, {self.units} units"
        if self.gap is None:
            return f"{where}: not even the largest possible gap would have been found reliably."
        return (
            f"{where}: a gap of about {self.gap:.2g} would have been found in {POWER:.0%} of such"
            f" runs, smaller ones more rarely."
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as an object."""
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
    """Where they were requested."""
    impact: Sequence[RunImpact] = ()
    """Rates and impact ratios, where they were requested."""
    provenance: RunProvenance | None = None
    """Where the numbers come from, where it was requested."""
    values: Mapping[str, GroupValues] = field(default_factory=dict)
    """By the id of a finding: values of its number by group, of which their spread is drawn."""
    corrections: Sequence[Correction] = ()
    """What labels of people make of the findings, where there are any."""
    findable: Sequence[FindableGap] = ()
    """How small a gap it could have found, where it found none and that was asked."""

    @property
    def incomplete(self) -> str | None:
        """Why the run is not complete, in a sentence; None for a complete one."""
        run = self.run
        if run.state is RunState.COMPLETE:
            return None
        return f"The run is {run.state}: {run.responses:,} of {run.probes:,} answers came."

    @property
    def warnings(self) -> list[str]:
        """What missing answers do to the verdicts, a sentence each."""
        return list(measurement_warnings(checked_diagnoses(self.diagnoses), CheckRule()))

    def as_json(self) -> dict[str, Any]:
        """Return everything as one object; what was not requested or is not there is left out."""
        found = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
        found["warnings"] = self.warnings
        if self.studies and self.studies.scores:
            found["studies"] = self.studies
        if self.corrections:
            found["corrections"] = self.corrections
        if self.findable:
            found["findable_gaps"] = [each.as_json() for each in self.findable]
        if self.interpretations:
            found["interpretations"] = [
                {"about": each.about, **each.evaluation.model_dump()}
                for each in self.interpretations
            ]
        if self.provenance:
            found["provenance"] = self.provenance
        return dict(to_jsonable_python(found))


async def run_results(
    client: GatewayClient, run_id: str, *, count_failed: bool = False
) -> RunResults:
    """Ask the gateway for all of it; failed judges' votes count where that is asked for."""
    return RunResults(
        await client.progress(run_id),
        await client.diagnoses(run_id),
        await client.assessments(run_id),
        await client.studies(run_id, count_failed=count_failed),
        corrections=(await corrections_of(client, run_id)).corrections,
    )


async def with_background(client: GatewayClient, results: RunResults) -> RunResults:
    """Add where the numbers come from, and the values of the findings that say the most."""
    run_id = results.run.run_id
    strongest = dict.fromkeys(row.diagnosis.id for row in comparisons(results.diagnoses))
    values = {
        each: await client.read(GroupValues, path("runs", run_id, "diagnoses", each, "values"))
        for each in list(strongest)[:MOST_SPREADS]
    }
    provenance = await client.read(RunProvenance, path("runs", run_id, "provenance"))
    return replace(results, provenance=provenance, values=values)


async def corrections_of(client: GatewayClient, run_id: str) -> RunCorrections:
    """Return what labels of people make of the findings of a run."""
    return await client.read(RunCorrections, path("runs", run_id, "corrections"))


async def run_table(
    client: GatewayClient,
    run_id: str,
    total: Callable[[int], None] = lambda answers: None,
    advance: Callable[[], None] = lambda: None,
) -> RunTable:
    """Return every answer that a run asked for, measured or not.

    `total` receives the number of answers, and `advance` is called after each of them.
    """
    table = RunTable(await client.analysis(run_id))
    total(table.declared.answers)
    async for answer in client.measurements(run_id):
        table.add(answer)
        advance()
    return table


_BEGINNING = re.compile(r"[0-9a-f]{4,32}")
MOST_SHOWN = 4
"""Runs that are named where several begin so."""


def may_name_run(written: str) -> bool:
    """Tell whether this is a run's id, or could be the beginning of one."""
    return _BEGINNING.fullmatch(written) is not None


def neither_run_nor_file(written: str) -> UsageError:
    """Return what to tell who named a run or a file, and there is none of either."""
    return UsageError(
        f"There is no file {written}, and no run's id begins so: `biaswatch runs` lists the runs."
    )


async def whole_run_id(client: GatewayClient, written: str, *, or_file: bool = False) -> str:
    """Return the id of the one run whose id begins so; with `or_file`, where no file is called so.

    Raises
    ------
    UsageError
        No run's id begins so, or several do.
    """
    if is_id(written):
        return written
    check_beginning(written)
    found = await client.runs(MOST_SHOWN + 1, begins=written)
    if or_file and not found:
        raise neither_run_nor_file(written)
    return the_one(written, [(run.run_id, run.suite) for run in found])


def check_beginning(written: str) -> None:
    """Raise UsageError where this can be the beginning of no run's id."""
    if not may_name_run(written):
        raise UsageError(f"{written!r} is no run's id: `biaswatch runs` lists them.")


def the_one(written: str, found: Sequence[tuple[str, str]]) -> str:
    """Return the id of the one run that was found, each with its suite's name.

    Raises
    ------
    UsageError
        None was found, or several.
    """
    if not found:
        raise UsageError(f"No run's id begins with {written}: `biaswatch runs` lists them.")
    if len(found) > 1:
        some = "".join(f"\n  {run_id}  {suite}" for run_id, suite in found[:MOST_SHOWN])
        raise UsageError(f"Several runs begin with {written}; write more of the id:{some}")
    return found[0][0]
