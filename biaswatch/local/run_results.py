"""A run with everything that was found in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from services.gateway.dashboard.run_findings import strongest_first
from services.gateway.labels.views import RunCorrections
from services.gateway.runs.group_values import GroupValues
from services.gateway.runs.provenance import RunProvenance
from services.gateway.runs.views import RunImpact, RunProgress, StudyResults
from shared.contracts import Assessment, Correction, Diagnosis, Evaluation

if TYPE_CHECKING:
    from biaswatch.run_planning.findable_gap import FindableGap

MOST_SPREADS = 4
"""So many findings have the spread of their answers drawn."""


@dataclass(frozen=True)
class InterpretedGap:
    """One comparison of a run, interpreted in writing and graded."""

    about: str
    """The target, the feature and the groups."""
    evaluation: Evaluation


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
    findable: "Sequence[FindableGap]" = ()
    """How small a gap it could have found, where it found none and that was asked."""

    def as_json(self) -> dict[str, Any]:
        """Return everything as one object; what was not requested or is not there is left out."""
        found = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
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
