"""The evaluator's settings: a team's own rubric and words, and how long it waits."""

from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class EvaluatorSettings(Settings):
    """What can be set on the evaluator, beyond what every service has."""

    evaluator_rubric_folder: Path | None = None
    """Dimensions of one's own, a YAML file each; one named like a shipped one replaces it."""
    evaluator_profile_folder: Path | None = None
    """Profiles of one's own, a YAML file each."""
    evaluator_deadline_s: float = Field(default=1800.0, gt=0)
    """How long a writer, and then all judges together, may take; what is missing is not scored."""
    evaluator_reconcile_s: float = Field(default=30, gt=0)
    """How often to look for briefs, questions and evaluations that the bus has lost."""
    evaluator_slots: int = Field(default=16, ge=1, le=1000)
    """Replies that are noted at once."""
