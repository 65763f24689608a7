"""Sources of a run's numbers: suite, models, instruments, and sampled values by group."""

from datetime import datetime

from pydantic import BaseModel


class AnsweringModel(BaseModel):
    """A target, and the model versions that its answers report."""

    target: str
    versions: list[str]
    """Each with its fingerprint, if the provider gives one; from the first and last answers."""
    parameters: str
    system_prompt: str | None


class RunInstrument(BaseModel):
    """An extractor of a run, with its version."""

    name: str
    version: str
    instrument: str
    """The model or word list that it measures with."""


class RunProvenance(BaseModel):
    """Sources of a run's numbers."""

    suite: str
    suite_hash: str | None
    """Null for a window of production traffic, which has no suite."""
    about: str
    claim: str | None
    """The population that conclusions are about."""
    questions: int
    repeats: int
    scaffolds: list[str]
    models: list[AnsweringModel]
    judges: list[str]
    instruments: list[RunInstrument]
    ranges: dict[str, tuple[float, float]]
    """Minimum and maximum of a feature, if the suite declares them."""
    seed: str
    """Seed of the statistics."""
    judging_seed: int | None
    begun: datetime
    concluded: datetime | None
    tokens: int | None
    cost: float | None
    software: str
    """The version of biaswatch that answers this request."""


class GroupValues(BaseModel):
    """Values of a feature by group, from a sample of the answers."""

    values: dict[str, list[float]]
    answers: int
    """Size of the sample."""
    of: int
    """Number of all answers."""
