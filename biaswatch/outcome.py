"""All that is known of a run, as the command line shows it."""

from dataclasses import dataclass
from typing import Any

from biaswatch.client import Client


@dataclass(frozen=True)
class Outcome:
    """How a run stands, what was diagnosed, and the results of its study."""

    run: dict[str, Any]
    diagnoses: list[dict[str, Any]]
    studies: dict[str, Any]

    @property
    def fields(self) -> dict[str, Any]:
        """As one JSON object; the study only where there is one."""
        found: dict[str, Any] = {"run": self.run, "diagnoses": self.diagnoses}
        return found | ({"studies": self.studies} if self.studies.get("scores") else {})


async def outcome_of(client: Client, run_id: str) -> Outcome:
    """Ask for all that is known of a run."""
    return Outcome(
        await client.progress(run_id),
        await client.diagnoses(run_id),
        await client.studies(run_id),
    )
