"""Statistics of one feature over the groups of one dimension, for one target and scaffold."""

from functools import cached_property

from pydantic import NonNegativeInt, computed_field

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.measured_share import GroupAnswerCounts, MeasuredAnswers
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.stats.estimate import Estimate, Question, SummaryWord, Verdict, summary_of


class Verdicts(Part):
    """The answers to the three questions about a comparison, each with its p-value."""

    same_treatment: str | None = None
    """Are twins treated differently? `differs` or `not shown`, about these names and texts."""
    p_same_treatment: float | None = None
    """For twins that are treated alike, corrected within its family; by exchange of labels."""
    same_treatment_reason: str | None = None
    """Why the question is not answered."""
    group_effect: str | None = None
    """Does the group matter beyond these names and texts? `differs`, `not shown`, or `too few` of
    a random factor."""
    p_group_effect: float | None = None
    """For a group that does not matter, corrected within its family; random factors are
    clusters."""
    group_effect_reason: str | None = None
    """Why the question is not answered."""
    verdict: Verdict
    """The gap against the tolerance, at the declared level."""
    headline: Question = Question.GAP
    """The question of the headline, fixed by the plan."""
    scope: str = ""
    """Scope of the headline: `about these names and texts`, `beyond these names and texts`;
    empty for a gap."""
    twin_rate: float | None = None
    """The share of twins of the two groups that were answered differently."""
    placebo_rate: float | None = None
    """The share of placebo twins, which differ in something else, answered differently."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def summary(self) -> SummaryWord:
        """The one word for the verdicts, of a comparison with measured answers."""
        return summary_of(
            self.headline,
            verdict=self.verdict,
            same_treatment=self.same_treatment,
            group_effect=self.group_effect,
        )

    def p_of_summary(self, p_of_gap: float | None) -> float | None:
        """Return the corrected p-value of the headline question; `p_of_gap` is that of the gap."""
        if self.headline is Question.SAME_TREATMENT:
            return self.p_same_treatment
        return self.p_group_effect if self.headline is Question.GROUP_EFFECT else p_of_gap


class GroupSummary(Part):
    """One group's own numbers."""

    group: Name
    """The group's name within its dimension."""
    responses: NonNegativeInt
    """Responses asked for."""
    missing: NonNegativeInt
    """Responses without this number: failed, refused, or not to be read."""
    missing_reasons: dict[str, int] = {}
    """Why they are missing, with counts."""
    reservations: dict[str, int] = {}
    """Numbers that count with a reservation, by its kind: `cut_off`, `constrained`."""
    units: NonNegativeInt
    """Prompts with at least one number."""
    mean: Estimate
    """The mean over prompts."""
    answer_sd: float | None = None
    """Standard deviation of the answers to one prompt, pooled; null where each has one answer."""
    selection_rate: Estimate | None = None
    """The share of prompts selected, where the suite says what a selection is."""
    statistics: dict[str, float | None] = {}
    """Other statistics of the answers, by name."""
    shrunken_mean: Estimate | None = None
    """The mean drawn towards those of the other groups, where there are three or more; for looking,
    for no verdict."""
    rank: Estimate | None = None
    """1 for the largest mean, where there are three groups or more; all groups' ranks lie between
    their two ends at once."""


class Gap(Verdicts):
    """One group compared with another."""

    a: Name
    """The first group."""
    b: Name
    """The second group, or `the rest`: all other groups together."""
    gap: Estimate
    """Mean of a minus mean of b, with an interval that covers together with all others of the
    family: the verdict is read from it."""
    by_itself: Estimate | None = None
    """The same gap, with the interval that it has without a family."""
    p_value: float | None = None
    """For a gap of at most the tolerance, in either direction."""
    p_adjusted: float | None = None
    """After Bonferroni's correction over the run's whole family of comparisons."""
    p_equivalence: float | None = None
    """For a gap of at least the tolerance, after the same correction; none at tolerance 0."""
    p_reason: str | None = None
    """Why p-values are null although there was a test: they are too small to be computed."""
    impact_ratio: Estimate | None = None
    """Selection rate of the less selected over that of the more selected."""
    effect_size: Estimate | None = None
    """Hedges' g, or Cohen's d of the differences where sets are compared."""
    constant_shift: Estimate | None = None
    """The shift of every set that sign flips do not reject, by itself; null without twins. It
    decides nothing."""
    twin_shift: Estimate | None = None
    """The gap with the interval of a constant shift, at the level of `p_same_treatment`, where the
    treatment of twins decides the summary; null elsewhere."""
    mann_whitney_p: float | None = None
    """The rank test over units, beside the declared one."""
    by_set: Estimate | None = None
    """The gap with sets as units, where the declared claim is about these prompts alone."""
    by_set_p: float | None = None
    """Its p-value, not corrected: it is shown, and concludes nothing."""
    instrument: Estimate | None = None
    """The extractor's gap between the two names, where it was calibrated: its own gap
    on sentences that differ in the name alone."""
    survives_missing: bool | None = None
    """False if the missing answers could overturn the verdict."""
    reason: str | None = None
    """Why it is this verdict."""

    @property
    def summary_gap(self) -> Estimate:
        """The gap with the interval that answers the headline question."""
        return self.twin_shift or self.gap

    @property
    def p_summary(self) -> float | None:
        """The corrected p-value of the headline question; 0 where it is too small."""
        return self.p_of_summary(self.comparable_p(self.p_adjusted))

    def comparable_p(self, p: float | None) -> float | None:
        """Return one of its p-values to compare or to sort by: 0 where it is too small."""
        return 0.0 if p is None and self.p_reason is not None else p


class GroupDisparity(Part):
    """How far three or more groups lie apart in one statistic, in one way of saying it."""

    statistic: Name = "mean"
    """The statistic: mean, median, standard_deviation, selection_rate."""
    metric: Name
    """Which way: Max-Min, Min/Max, Std, Max Z-Score, Dixon Q, and others."""
    value: float | None = None
    """The number."""
    group: str | None = None
    """The group that holds the extreme."""
    null_median: float | None = None
    """The median under random exchanges of labels, of ranges and ratios of means and rates."""
    reason: str | None = None
    """Why the number is undefined."""


class GroupParity(Part):
    """How far the groups are from equal rates of decisions, or of errors against the truth."""

    parity: Name
    """Which rates: demographic_parity, equalized_odds, and others."""
    metric: Name
    """`difference` of the largest and the smallest rate, or their `ratio`."""
    estimate: Estimate
    """The number, with its interval."""
    verdict: Verdict | None = None
    """A disparity in any comparison of these rates, or no disparity in all."""


class GroupInteraction(Part):
    """The difference of one dimension's effect between the groups of another."""

    dimensions: Name
    """Both of them: `gender x race`."""
    p_adjusted: float | None = None
    """P-value of the test that the effects add up, corrected over such tests (Bonferroni)."""
    contrast: Estimate
    """The largest difference of two gaps, or the reason for a missing test."""
    contrast_of: str | None = None
    """The two gaps: `black - white at old less that at new`."""


class OverallTest(Part):
    """The test of three or more groups for any difference in the mean; it decides nothing."""

    groups: NonNegativeInt
    """How many groups there are."""
    units: NonNegativeInt
    """Prompts with a number; a set within one group counts once."""
    statistic: float | None = None
    """How far the means lie apart, in units of their errors."""
    p_value: float | None = None
    """How often labels handed out at random give as much."""
    permutations: NonNegativeInt
    """How many times they were handed out."""
    method: str = ""
    """How it was tested."""
    reason: str | None = None
    """Why the test is missing."""


class MissingTest(Part):
    """The test of differences between groups in missing answers."""

    p_value: float | None = None
    """For the same share of prompts with a missing answer in every group."""
    method: str = ""
    """How it was tested."""
    reason: str | None = None
    """Why the test is missing."""


class Diagnosis(Record):
    """Statistics of one feature over one dimension of groups, for a closed run."""

    kind = "diagnosis"
    identity = (
        "run_id",
        "completion_id",
        "target",
        "scaffold",
        "extractor",
        "feature",
        "dimension",
    )

    run_id: RecordId
    """The run."""
    completion_id: RecordId
    """The completion it was made at; a run that was resumed has a later one."""
    target: Name
    """The target."""
    scaffold: Token
    """How."""
    extractor: Token
    """The extractor."""
    feature: Name
    """Which number."""
    dimension: Name
    """Which grouping: race, gender, concept."""
    stratum: bool = False
    """True if the grouping is one of questions and not of people: then nothing is compared, and
    there are no gaps."""
    alpha: float
    """The level of the family."""
    tolerance: float
    """The largest difference that does not matter."""
    family: NonNegativeInt
    """How many comparisons were corrected together."""
    error_rate: bool = False
    """True for an error rate against the truth: all error rates are a family of their own."""
    claim: str
    """The population of the conclusion."""
    p_anywhere: float | None = None
    """For no twins of the run that are treated differently, in any comparison; null without
    twins."""
    random: tuple[Name, ...] = ()
    """The random factors: stimuli whose values could have been drawn differently."""
    together: NonNegativeInt = 1
    """Number of records that the run's closing writes: diagnoses and assessments."""
    groups: tuple[GroupSummary, ...]
    """Each group by itself."""
    gaps: tuple[Gap, ...]
    """Each pair of groups."""
    disparities: tuple[GroupDisparity, ...] = ()
    """All groups together, where there are three or more."""
    parities: tuple[GroupParity, ...] = ()
    """How far the groups are from equal rates, of a feature with a truth."""
    interactions: tuple[GroupInteraction, ...] = ()
    """Tests with each other dimension after this one, in their order."""
    overall: OverallTest | None = None
    """The test for any difference between groups, for three or more."""
    missing: MissingTest | None = None
    """The test for equal shares of missing answers in all groups."""

    @cached_property
    def compared_groups(self) -> GroupAnswerCounts:
        """The groups with their counts of answers."""
        return GroupAnswerCounts(self.groups)

    def sides(self, gap: Gap) -> tuple[MeasuredAnswers, MeasuredAnswers]:
        """Return the answers of both sides of one of its gaps."""
        return self.compared_groups.sides(gap.a, gap.b)

    def is_unmeasured(self, gap: Gap) -> bool:
        """Return whether one side of one of its gaps has no measured answer."""
        return self.compared_groups.is_unmeasured(gap.a, gap.b)

    def summary(self, gap: Gap) -> SummaryWord:
        """Return the one word for the verdicts of one of its gaps."""
        return SummaryWord.NOT_MEASURED if self.is_unmeasured(gap) else gap.summary


class OwnGap(Part):
    """An extractor's gap between two groups, on sentences that differ in the name alone."""

    feature: Name
    """Which of its numbers."""
    dimension: Name
    """The grouping."""
    a: Name
    """The first group."""
    b: Name
    """The second group."""
    gap: Estimate
    """Mean of a minus mean of b, with its interval."""
