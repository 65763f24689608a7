"""A run with everything that was found in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from biaswatch.local.client import GatewayClient
from services.gateway.runs.views import RunImpact, RunProgress, StudyResults
from shared.contracts import Assessment, Diagnosis, Evaluation


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

    def as_json(self) -> dict[str, Any]:
        """Return everything as one object; studies and interpretations only where there are any."""
        found = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
        if self.studies and self.studies.scores:
            found["studies"] = self.studies
        if self.interpretations:
            found["interpretations"] = [
                {"about": each.about, **each.evaluation.model_dump()}
                for each in self.interpretations
            ]
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
    )
