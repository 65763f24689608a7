"""Settings of the evaluator."""

from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class EvaluatorSettings(Settings):
    """Settings of the evaluator, in addition to those of every service."""

    evaluator_rubric_folder: Path | None = None
    """Folder of own dimensions, one YAML file each; equal names replace shipped ones."""
    evaluator_profile_folder: Path | None = None
    """Folder of own profiles, one YAML file each."""
    evaluator_deadline_s: float = Field(default=1800.0, gt=0)
    """Time limit for the writer, and then for all judges; missing replies are not scored."""
    evaluator_reconcile_s: float = Field(default=30, gt=0)
    """Interval between checks for records lost by the bus."""
    evaluator_slots: int = Field(default=16, ge=1, le=1000)
    """Replies processed concurrently."""
