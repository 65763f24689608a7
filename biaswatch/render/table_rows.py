"""Diagnosis of a table as rows for JSON and files, and its sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.checks import is_unmeasured_row
from biaswatch.render.error_rates import error_rate_rows
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis
from biaswatch.shared.contracts import Claim, Verdicts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import (
    INCONCLUSIVE,
    TOO_SMALL,
    by_evidence,
    computed_p,
    interval,
    number,
    p_equals,
    undetected_gaps,
    verdict_lead,
    verdict_words,
)
from biaswatch.shared.presentation.conclusions import overall_sentence
from biaswatch.shared.presentation.correction_rows import bounds
from biaswatch.shared.presentation.interactions import interaction_rows
from biaswatch.shared.presentation.verdicts import (
    VERDICT_COLUMNS,
    verdict_columns,
    verdict_reason,
    verdict_remarks,
)
from biaswatch.shared.stats.estimate import Estimate

Row = dict[str, Any]
Parts = dict[str, list[Row]]
OVERALL = (
    *("feature", "dimension", "domain", "groups", "units", "statistic", "p_value"),
    *("permutations", "method", "reason"),
)
DISPARITY = (
    *("feature", "statistic", "dimension", "domain", "metric", "value", "group"),
    *("null_median", "reason"),
)
GROUP_MEAN = (
    *("feature", "dimension", "domain", "group", "mean", "shrunken_mean"),
    *("shrunken_method", "shrunken_reason", "rank"),
)
NO_UNIT = "row"
"""Name of the unit where the user names none."""


def result_rows(diagnosis: TableDiagnosis, unit: str | None) -> Parts:
    """Return the rows of every part for JSON; `unit` names the independent unit."""
    description = diagnosis.description
    return {
        "overall": [_attributes(row, OVERALL) for row in description.overall],
        "summary": [
            {
                "feature": row.feature,
                "statistic": row.statistic,
                "group": row.group,
                "domain": row.domain or None,
                "value": row.value,
                "ci": bounds(row.low, row.high),
                "ci_method": row.method or None,
                "n": row.n,
                "n_missing": row.n_missing,
                "reason": row.reason,
            }
            for row in description.statistics
        ],
        "disparity": [_attributes(row, DISPARITY) for row in description.disparities],
        "comparisons": comparison_rows(diagnosis, unit),
        "group_means": [
            _attributes(row, GROUP_MEAN)
            | {
                "shrunken_ci": bounds(row.shrunken_low, row.shrunken_high),
                "rank_ci": None if row.rank is None else [row.rank_low, row.rank_high],
                "rank_method": row.rank_method,
            }
            for row in description.means
        ],
        "missingness": [
            {
                "feature": row.feature,
                "dimension": row.dimension,
                "domain": row.domain or None,
                "groups": {
                    name: {
                        "units": group.total,
                        "units_missing": group.missing,
                        "share": group.share.value,
                        "ci": bounds(group.share.low, group.share.high),
                    }
                    for name, group in row.test.groups.items()
                },
                "statistic": row.test.statistic,
                "p_value": row.test.p_value,
                "method": row.test.method or None,
                "reason": row.test.reason,
            }
            for row in description.missingness
        ],
        **error_rate_rows(diagnosis),
        **interaction_rows(diagnosis),
    }


def comparison_rows(diagnosis: TableDiagnosis, unit: str | None) -> list[Row]:
    """Return a row for each comparison, the strongest evidence first."""
    rows = (_comparison_row(row) | {"unit": unit or NO_UNIT} for row in diagnosis.comparisons)
    return sorted(rows, key=_evidence_key)


SIGNED = ("gap", "summary_gap", "effect_size", "constant_shift")
"""Columns of a comparison that change their sign with its direction."""
SIGNED_INTERVALS = ("ci", "summary_ci", "ci_by_itself", "effect_size_ci", "constant_shift_ci")


def against(rows: Sequence[Row], reference: str | None) -> list[Row]:
    """Return comparisons with the reference group as the second group.

    Raises
    ------
    UsageError
        No comparison has the group.
    """
    groups = sorted({row[side] for row in rows for side in ("a", "b")})
    if reference is not None and reference not in groups:
        raise UsageError(f"No comparison has the group {reference!r}; it has {', '.join(groups)}.")
    return [turned(row) if row["a"] == reference else row for row in rows]


def turned(row: Row) -> Row:
    """Return a comparison with its groups exchanged."""
    turned = {name: row.get(_other_side(name)) for name in row}
    for name in SIGNED:
        turned[name] = negated(row[name])
    for name in SIGNED_INTERVALS:
        if row.get(name):
            low, high = row[name]
            turned[name] = [negated(high), negated(low)]
    return turned


def _other_side(column: str) -> str:
    """Return the column of the other group: `n_b` for `n_a`."""
    stem, _, side = column.rpartition("_")
    other = {"a": "b", "b": "a"}.get(side)
    return column if other is None else f"{stem}_{other}" if stem else other


def negated(value: float | None) -> float | None:
    """Return a number with the opposite sign; None of none."""
    return None if value is None else -value


def _attributes(record: Any, names: Sequence[str]) -> Row:
    """Return some attributes of a record as a row, with null for no domain."""
    return {name: getattr(record, name) for name in names} | {"domain": record.domain or None}


def _comparison_row(row: GroupComparison) -> Row:
    """Return a comparison as a row for JSON."""
    statistics: Row = {}
    for name, value in row.statistics.items():  # one with an interval has four columns
        if isinstance(value, Estimate):
            statistics[name], statistics[f"{name}_ci"] = value.value, bounds(value.low, value.high)
            statistics[f"{name}_method"] = value.method
            statistics[f"{name}_reason"] = value.reason
        else:
            statistics[name] = computed_p(value) if name.endswith("_p") else value
    conclusion = row.conclusion.reason if row.conclusion else None
    gap, verdicts = row.summary_gap, row.verdicts
    return {
        "feature": row.feature,
        "dimension": row.dimension,
        "domain": row.domain or None,
        "a": row.a,
        "b": row.b,
        "gap": row.gap.value,
        "ci": bounds(row.gap.low, row.gap.high),
        "method": row.gap.method,
        "summary_gap": gap.value,
        "summary_ci": bounds(gap.low, gap.high),
        "summary_method": gap.method,
        "p_summary": computed_p(verdicts.p_of_summary(row.p_adjusted)) if verdicts else None,
        "ci_by_itself": bounds(row.by_itself.low, row.by_itself.high),
        "p_value": computed_p(row.p_value),
        "p_adjusted": computed_p(row.p_adjusted),
        "p_equivalence": computed_p(row.p_equivalence_adjusted),
        "p_reason": TOO_SMALL if row.p_value == 0 else None,
        **statistics,
        "n_a": row.n_a,
        "n_b": row.n_b,
        "n_missing_a": row.n_missing_a,
        "n_missing_b": row.n_missing_b,
        "units_a": row.units_a,
        "units_b": row.units_b,
        **(verdict_columns(verdicts) if verdicts else dict.fromkeys(VERDICT_COLUMNS)),
        "survives_missing": row.survives_missing,
        "reason": gap.reason or (verdict_reason(verdicts, conclusion) if verdicts else conclusion),
    }


def verdicts_of(row: Mapping[str, Any]) -> Verdicts:
    """Return the answers to the three questions of a row."""
    return Verdicts.model_validate({name: row[name] for name in VERDICT_COLUMNS})


def comparison_row_remarks(
    rows: Sequence[Row], about: Row, *, everything: bool = True
) -> Iterator[str]:
    """Yield the subject of the verdicts, and with `everything` why questions are not answered."""
    verdicts = [verdicts_of(row) for row in rows if not is_unmeasured_row(row)]
    family, p_anywhere, alpha = about["family"], about["p_anywhere"], about["alpha"]
    yield from verdict_remarks(
        verdicts, family, p_anywhere, alpha, about["tolerance"],
        assigned=about["assigned"], reasons=everything, shifts=any(map(is_shift, rows)),
    )  # fmt: skip


def comparable_p(row: Mapping[str, Any]) -> float | None:
    """Return the adjusted p-value, 0 where it is too small to compute."""
    return 0.0 if row["p_reason"] else row["p_adjusted"]


def is_shift(row: Mapping[str, Any]) -> bool:
    """Return whether the interval is that of a constant shift of twins."""
    return bool(row["summary_method"] != row["method"])


def summary_gap_text(row: Mapping[str, Any]) -> str:
    """Return the gap with its interval, or with the reason for having none."""
    low, high = row["summary_ci"] or (None, None)
    return interval(row["summary_gap"], low, high, row["reason"])


def _evidence_key(row: Row) -> tuple[int, float, float]:
    """Return the sort key of a comparison: the strongest evidence first."""
    p = row["p_summary"] if row["p_summary"] is not None else comparable_p(row)
    return by_evidence(row["summary"] or "", p, row["gap"])


def row_verdict(row: Row) -> str:
    """Return the verdict of a comparison in words, with its doubts."""
    return verdict_words(row["summary"], row["survives_missing"], unmeasured=is_unmeasured_row(row))


def verdict_counts(rows: Sequence[Row]) -> str:
    """Return the number of comparisons by verdict, disparities first."""
    return verdict_lead(
        [(row["summary"], row["survives_missing"], is_unmeasured_row(row)) for row in rows],
        undetected_gaps(
            (row["feature"], *(row["summary_ci"] or (None, None)))
            for row in rows
            if row["summary"] == INCONCLUSIVE and not is_unmeasured_row(row)
        ),
    )


def overall_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tests over all groups in words."""
    for row in rows:
        where = f"{row['feature']} by {grouping_of(row)}, all {row['groups']} groups together"
        yield overall_sentence(where, row["p_value"], f"{row['units']} units", row["reason"])


def grouping_of(row: Row) -> str:
    """Return the grouping of a row within its domain."""
    return ", ".join(filter(None, [row["domain"], row["dimension"]]))


def unit_sentences(about: Row) -> Iterator[str]:
    """Yield the independent unit, and the subject of the conclusions."""
    if about["unit"] is None:
        kind = (
            "an independent unit" if about["set"] is None else f"a unit within its {about['set']}"
        )
        yield f"No unit was named: each of {about['rows']} rows is {kind}."
    elif about["unit"] == "unit":
        yield f"{about['units']} units in {about['rows']} rows."
    else:
        is_other = about["units"] < about["rows"] and about["claim"] != Claim.BANK
        means = "; means are over units" if is_other else ""
        yield f"The unit is {about['unit']}: {about['units']} in {about['rows']} rows{means}."
    if about["set"] not in (None, about["unit"]):
        yield f"Two groups are compared within each {about['set']} that has both."
    if about["claim"] == Claim.BANK:
        yield "The conclusions are about these prompts alone: each answer to them is a unit."
    if about["calibrated"]:
        yield "The values of the baseline are subtracted."


def conclusion_of(table: Mapping[str, Any], alpha: float) -> tuple[str, str]:
    """Return the verdict of a 2x2 table's declared test, and a sentence about both groups."""
    p, gap = table["declared"]["p_value"], table["risk_difference"]
    is_disparity = p is not None and p <= alpha
    first, second = (
        f"{group} {number(rate['estimate'])}"
        for group, rate in zip(table["groups"], table["rates"], strict=True)
    )
    low, high = gap["ci"] or (None, None)
    difference = interval(gap["estimate"], low, high, gap["reason"])
    test = f", {p_equals(p, 3)}" if p is not None else ""
    conclusion = "a disparity" if is_disparity else "inconclusive"
    sentence = f"{first} against {second}: {conclusion} (risk difference {difference}{test})."
    return "disparity" if is_disparity else "inconclusive", sentence
