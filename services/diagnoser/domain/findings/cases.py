"""What is diagnosed: measured responses, the questions to them, and what was declared before."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.contracts import Claim


@dataclass(frozen=True)
class MeasuredResponse:
    """One response as the diagnosis sees it."""

    target: str
    scaffold: str
    unit: str
    set: str | None
    groups: Mapping[str, str]
    extractor: str
    values: Mapping[str, float | None]
    why_missing: str | None
    """Why there is no value at all."""
    expected: str | None = None
    """The right answer, where there is one."""
    criteria: Mapping[str, float | None] = field(default_factory=dict)
    """What a scaffold that judges criteria one by one gave for each."""


@dataclass(frozen=True, order=True)
class FindingKey:
    """One feature over one dimension, for one target and scaffold."""

    target: str
    scaffold: str
    extractor: str
    feature: str
    dimension: str


@dataclass(frozen=True)
class AnalysisPlan:
    """What was declared before looking."""

    alpha: float = 0.05
    tolerance: float = 0.0
    features: tuple[str, ...] = ()
    """Which are diagnosed; all, unless named."""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each extractor measures: known even where it could measure nothing."""
    selected_at_least: Mapping[str, float] | None = None
    assessed: tuple[str, ...] = ()
    """Features that are looked at beyond their gaps."""
    claim: Claim = Claim.POPULATION
    permutations: int = 1000
    """How often labels are handed out at random, where three or more groups are compared."""
