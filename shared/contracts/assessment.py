"""Assessments of a model's answers beyond the gaps: quality, consistency, total bias."""

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.stats.estimate import Estimate


class TotalBias(Part):
    """The mean absolute gap of each dimension, added up."""

    value: float | None = None
    """In points of the feature."""
    null_median: float | None = None
    """The median when the twins of each set exchange their labels at random."""
    p_value: float | None = None
    """How often exchanged labels give at least as much; it concludes nothing by itself."""
    reason: str | None = None
    """Why the number is undefined."""


class ErrorGap(Part):
    """Errors on texts that name a person, against those on the same texts anonymised."""

    identified: float
    """The mean absolute error on texts that name a group, in points of the feature."""
    anonymised: float
    """The mean absolute error on their anonymised twins."""
    gap: Estimate
    """identified - anonymised: below 0, names make the answers better."""


class Quality(Part):
    """How near the answers are to the right ones."""

    value: float | None = None
    """100 - 20 x mean absolute error."""
    mean_absolute_error: float | None = None
    """In points of the feature."""
    answers: NonNegativeInt = 0
    """Answers with a number and a right answer to compare it with."""
    against_anonymised: ErrorGap | None = None
    """How much of the error comes with the names, where the suite has anonymised twins."""
    reason: str | None = None
    """Why the number is undefined."""


class Consistency(Part):
    """How much the answers to one prompt differ over repeats."""

    mean_sd: float | None = None
    """The mean over prompts of the standard deviation over repeats."""
    one_answer: float | None = None
    """Share of the prompts whose answers are all the same."""
    prompts: NonNegativeInt = 0
    """Prompts with at least two numbers."""
    left_out: NonNegativeInt = 0
    """Prompts with fewer."""
    reason: str | None = None
    """Why the number is undefined."""


class Deviation(Part):
    """A group's answers minus those to the same texts without a name."""

    dimension: Name
    """The grouping."""
    group: Name
    """The group."""
    gap: Estimate
    """Mean of the group minus mean of the anonymised twins."""


class Cell(Part):
    """One combination of groups."""

    groups: dict[str, str]
    """The group of each dimension."""
    mean: Estimate
    """The mean over its prompts."""
    answers: NonNegativeInt
    """Answers asked for."""
    missing: NonNegativeInt
    """Answers without a number."""


class CriterionGap(Part):
    """Two groups compared by one criterion of a scaffold that judges them one by one."""

    criterion: Name
    """The criterion's name in the suite."""
    dimension: Name
    """The grouping."""
    a: Name
    """The first group."""
    b: Name
    """The second group."""
    gap: Estimate
    """Mean of a minus mean of b."""
    p_adjusted: float | None = None
    """For no difference at all, corrected (Bonferroni) over the criteria of this assessment: a
    family of their own, apart from the run's conclusions."""
    missing: NonNegativeInt = 0
    """Judgements of either group that gave no number."""


class Assessment(Record):
    """One feature of one target's answers under one scaffold, beyond its gaps."""

    kind = "assessment"
    identity = ("run_id", "completion_id", "target", "scaffold", "extractor", "feature")

    run_id: RecordId
    """The run."""
    completion_id: RecordId
    """The completion it was made at."""
    target: Name
    """The target."""
    scaffold: Token
    """How."""
    extractor: Token
    """The extractor."""
    feature: Name
    """Which number."""
    alpha: float
    """1 minus the coverage of the intervals, each by itself."""
    answers: NonNegativeInt
    """Answers asked for."""
    missing: NonNegativeInt
    """Answers without this number."""
    total_bias: TotalBias
    """All gaps in one number."""
    quality: Quality
    """Against the right answers, where the suite has them."""
    consistency: Consistency
    """Over repeats."""
    deviations: tuple[Deviation, ...] = ()
    """From the anonymised twins, where the suite has them."""
    cells: tuple[Cell, ...] = ()
    """Combinations of groups, where there are two dimensions or more."""
    criteria: tuple[CriterionGap, ...] = ()
    """Gaps by criterion, where the scaffold judges criteria one by one."""
