"""What a run came to: how it stands, and everything that was found in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biaswatch.client import Client

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A run and its findings, as the gateway gives them."""

    run: Found
    diagnoses: Sequence[Found]
    assessments: Sequence[Found] = ()
    studies: Found = field(default_factory=dict)
    """Scores, pairs and judges, where the suite is such a study."""

    def as_json(self) -> dict[str, Any]:
        """Give everything as one object; the study only where there is one."""
        found = {"run": self.run, "diagnoses": self.diagnoses, "assessments": self.assessments}
        return found | ({"studies": self.studies} if self.studies.get("scores") else {})


async def outcome_of(client: Client, run_id: str) -> Outcome:
    """Ask the gateway for all of it."""
    return Outcome(
        await client.progress(run_id),
        await client.diagnoses(run_id),
        await client.assessments(run_id),
        await client.studies(run_id),
    )
