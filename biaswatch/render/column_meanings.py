"""The meanings of the columns of a diagnosis in files, for workbooks and the reference."""

from collections.abc import Iterable, Iterator

COMPARISONS = {
    "feature": "The number that is compared.",
    "dimension": "The grouping; several columns are joined.",
    "domain": "The part of the table within which groups are compared, such as a model.",
    "a, b": "The two groups; every gap is a minus b.",
    "summary_gap": "The gap of the question that decides `summary`.",
    "summary_ci_low, summary_ci_high": "Its interval.",
    "summary_method": "The method of that interval.",
    "p_summary": "The p-value of that question, corrected for all comparisons.",
    "summary": "The conclusion: disparity, no_disparity, inconclusive or not_measured.",
    "same_treatment": "Are twins treated differently? `differs` or `not shown`.",
    "p_same_treatment": "Its corrected p-value.",
    "same_treatment_reason": "The reason for no answer.",
    "group_effect": "Does the group matter beyond the names and texts of the study?",
    "p_group_effect": "Its corrected p-value.",
    "group_effect_reason": "The reason for no answer.",
    "gap": "The gap of the means (over units) of a and b.",
    "ci_low, ci_high": "Its interval, corrected for all comparisons if Bonferroni's correction is"
    " used. It ends at the tolerance where `p_adjusted` shows no gap beyond.",
    "ci_by_itself_low, ci_by_itself_high": "The interval for this comparison alone.",
    "method": "The method of the intervals of `gap`.",
    "p_value": "The p-value of `gap`, uncorrected.",
    "p_adjusted": "The p-value of `gap`, corrected.",
    "p_equivalence": "The corrected p-value for a gap within the tolerance.",
    "p_reason": "The reason for an empty p-value, such as a value too small to compute.",
    "verdict": "The conclusion about `gap` alone.",
    "survives_missing": "False if the missing answers could overturn the conclusion.",
    "reason": "The reason for the conclusion.",
    "findable_gap": "The gap that about 80 % of studies of this size find.",
    "units_a, units_b, unit": "Numbers of independent units, and what a unit is.",
    "n_a, n_b": "Rows with a number.",
    "n_missing_a, n_missing_b": "Rows without one.",
    "effect_size, effect_size_ci_low, effect_size_ci_high": "The gap in standard deviations.",
    "effect_size_method, effect_size_reason": "Its method, or the reason for no value.",
    "constant_shift, constant_shift_ci_low, constant_shift_ci_high": "The gap if it were the same"
    " in every set; it decides nothing.",
    "constant_shift_method, constant_shift_reason": "Its method, or the reason for no value.",
    "mann_whitney_p, permutation_p": "Uncorrected p-values of two more tests, for reference.",
    "headline": "The question that decides `summary`: same_treatment, group_effect or gap.",
    "scope": "What the conclusion is about.",
    "twin_rate, placebo_rate": "Shares of twins, and of placebo twins, that were answered"
    " differently.",
}
CASES = {
    "case": "The set, or the unit, behind the gap.",
    "group": "The group of a unit; empty for sets, which have both.",
    "mean_a, mean_b": "The means of a and b in this case; for a unit, one is that of all units of"
    " the other group.",
    "difference": "mean_a minus mean_b.",
    "text_a.*, text_b.*": "The texts of `--config text=COLUMN`.",
}
SUMMARY = {
    "statistic": "Mean, median, and the others that were asked for.",
    "group.*": "The group, by grouping.",
    "value": "The statistic. Means and selection rates are over units, others over rows.",
    "ci_low, ci_high": "Its interval, for this group alone.",
    "n, n_missing": "Rows with a number, and without one.",
}
GROUP_MEANS = {
    "mean": "The mean over units.",
    "shrunken_mean": "The mean drawn towards that of all groups; no conclusion uses it.",
    "rank, rank_ci_low, rank_ci_high": "1 for the largest mean, with all ranks it may have.",
}
DISPARITY = {
    "metric": "How far three or more groups lie apart: Max-Min, Min/Max, Z-scores, Dixon Q.",
    "null_median": "The metric's median under random labels.",
}
MISSINGNESS = {
    "groups.GROUP.units, groups.GROUP.units_missing": "Units, and those with missing answers.",
    "groups.GROUP.share": "Their share.",
    "p_value": "For answers that are missing alike in each group.",
}
OVERALL = {"p_value": "For equal means of all groups, by random labels; no conclusion uses it."}
MEANINGS = {
    "comparisons": COMPARISONS,
    "cases": CASES,
    "summary": SUMMARY,
    "group_means": GROUP_MEANS,
    "disparity": DISPARITY,
    "missingness": MISSINGNESS,
    "overall": OVERALL,
}
"""Columns by the part of a diagnosis; those of the comparisons are not repeated for others."""


def meanings_of(parts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield part, columns and meaning for some parts of a diagnosis."""
    for part in parts:
        yield from ((part, *meaning) for meaning in MEANINGS.get(part, {}).items())
