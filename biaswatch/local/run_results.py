"""A run with everything that was found in it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic_core import to_jsonable_python

from biaswatch.checks import CheckRule, checked_diagnoses, measurement_warnings
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.services.gateway.runs.measurements import GroupValues
from biaswatch.services.gateway.runs.provenance import RunProvenance
from biaswatch.shared.contracts import Assessment, Correction, Diagnosis, Evaluation
from biaswatch.shared.presentation.run_summary import strongest_first
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
        if run.stand is RunState.COMPLETE:
            return None
        return f"The run is {run.stand}: {run.responses:,} of {run.probes:,} answers came."

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
    pairs = ((each, gap) for each in results.diagnoses for gap in each.gaps)
    strongest = dict.fromkeys(each.id for each, _ in sorted(pairs, key=strongest_first))
    values = {
        each: await client.read(GroupValues, path("runs", run_id, "diagnoses", each, "values"))
        for each in list(strongest)[:MOST_SPREADS]
    }
    provenance = await client.read(RunProvenance, path("runs", run_id, "provenance"))
    return replace(results, provenance=provenance, values=values)


async def corrections_of(client: GatewayClient, run_id: str) -> RunCorrections:
    """Return what labels of people make of the findings of a run."""
    return await client.read(RunCorrections, path("runs", run_id, "corrections"))
