"""What a run came to: how it stands, and everything that was found in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biaswatch.local.client import GatewayClient

Found = Mapping[str, Any]


@dataclass(frozen=True)
class RunResults:
    """A run and its findings, as the gateway gives them."""

    run: Found
    diagnoses: Sequence[Found]
    assessments: Sequence[Found] = ()
    studies: Found = field(default_factory=dict)
    """Scores, pairs and judges, where the suite is such a study."""
    interpretations: Sequence[Found] = ()
    """What was written about the findings, and how it was graded, where that was asked for."""

    def as_json(self) -> dict[str, Any]:
        """Return everything as one object; studies and interpretations only where there are any."""
        found = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
        studies = {"studies": self.studies} if self.studies.get("scores") else {}
        said = {"interpretations": list(self.interpretations)} if self.interpretations else {}
        return found | studies | said


async def run_results(client: GatewayClient, run_id: str) -> RunResults:
    """Ask the gateway for all of it."""
    return RunResults(
        await client.progress(run_id),
        await client.diagnoses(run_id),
        await client.assessments(run_id),
        await client.studies(run_id),
    )
