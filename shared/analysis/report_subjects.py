"""Subjects of written reports: a 2x2 table, or one comparison of a run, with its measures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.shared.contracts import Diagnosis, Gap, GroupSummary, Measure, Subject
from biaswatch.shared.formatting import COULD_UNDO
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.tables.contingency import ratio_agreement

RATIOS = {
    "odds_ratio": ("Odds Ratio", 1.0),
    "odds_ratio_conditional": ("Conditional Odds Ratio", 1.0),
    "relative_risk": ("Relative Risk", 1.0),
    "risk_difference": ("Risk Difference", 0.0),
    "impact_ratio": ("Impact Ratio", 1.0),
}
EXACT_TESTS = {"fisher": "Fisher's exact test", "boschloo": "Boschloo's exact test"}
SMALL_CELL = 5
"""Counts below it make approximations unreliable."""
SAYS = {
    "disparity": "a disparity beyond the tolerance",
    "no_disparity": "no disparity beyond the tolerance",
    "inconclusive": "inconclusive",
}


def table_subject(
    table: Mapping[str, Any],
    counts: Sequence[int],
    *,
    outcome: str,
    value: str,
    groups: tuple[str, str],
    alpha: float,
    least: int,
    strata: Mapping[str, Any] | None = None,
    adjusted: Measure | None = None,
    notes: Sequence[str] = (),
    limitations: Sequence[str] = (),
) -> Subject:
    """Return the subject of a 2x2 table, from the table's JSON."""
    measures = [
        _estimated(name, label, neutral, _with_bounds(table[name]))
        for name, (label, neutral) in RATIOS.items()
    ]
    measures += [
        _estimated(f"rate_{number}", f"Rate of {group}", None, _with_bounds(rate))
        for number, (group, rate) in enumerate(zip(groups, table["rates"], strict=True), start=1)
    ]
    measures.append(_test("chi_square", "Chi-Square Test", table["chi_square"]))
    measures += [_exact_test(name, label, table[name]) for name, label in EXACT_TESTS.items()]
    messages = [*notes, *(_with_names(warning, groups) for warning in table["warnings"])]
    caveats = _table_caveats(counts, least)
    both = [_with_bounds(table[name]) for name in ("odds_ratio", "relative_risk")]
    if ratio_agreement(*both).says == "conflicting":
        messages.append(
            "Odds ratio and relative risk are in conflict: each alone would be read differently."
        )
        caveats.append("conflict")
    if strata:
        odds_ratio = Estimate(**strata["odds_ratio"])
        label = "Odds Ratio within strata (Mantel-Haenszel)"
        measures.append(_estimated("odds_ratio_within", label, 1.0, odds_ratio))
        label = "Cochran-Mantel-Haenszel test within strata"
        measures.append(_test("cmh", label, strata["cmh"]))
        if strata["note"]:
            messages.insert(0, strata["note"])
            caveats.append("reversed")
    measures += [adjusted] if adjusted else []
    return Subject(
        outcome=outcome,
        value=value,
        groups=groups,
        counts=tuple(counts),
        cases=sum(counts),
        cases_least=least,
        alpha=alpha,
        measures=tuple(measures),
        notes=tuple(messages),
        limitations=tuple(limitations),
        caveats=tuple(caveats),
        test=table.get("declared", {}).get("test"),
    )


def _table_caveats(counts: Sequence[int], least: int) -> list[str]:
    """Return the caveats that the counts alone require."""
    caveats = []
    if min(sum(counts[:2]), sum(counts[2:])) < least:
        caveats.append("few_cases")
    if min(counts) < SMALL_CELL:
        caveats.append("small_cells")
    return caveats


def _with_names(warning: str, groups: tuple[str, str]) -> str:
    """Return a warning of a table with its groups by name."""
    return re.sub(r"\bgroup ([12])\b", lambda match: groups[int(match[1]) - 1], warning)


def _with_bounds(statistic: Mapping[str, Any]) -> Estimate:
    low, high = statistic["ci"] or (None, None)
    return Estimate(statistic["estimate"], low, high, reason=statistic["reason"])


def _exact_test(name: str, label: str, test: Mapping[str, Any]) -> Measure:
    p_value, reason = test["p_value"], test["reason"]
    return Measure(name=name, label=label, value=p_value, p_value=p_value, reason=reason)


def _test(name: str, label: str, test: Mapping[str, Any]) -> Measure:
    value, p_value, reason = test["statistic"], test["p_value"], test["reason"]
    return Measure(name=name, label=label, value=value, p_value=p_value, reason=reason)


def gap_subject(diagnosis: Diagnosis, gap: Gap) -> Subject:
    """Return the subject of one comparison of a run."""
    groups = {summary.group: summary for summary in diagnosis.groups}
    one, two = groups[gap.a], groups[gap.b]
    measures = [
        _estimated("gap", "Difference of Means", 0.0, gap.gap),
        Measure(
            name="gap_test",
            label="Test of the difference, corrected for the number of comparisons",
            value=gap.comparable_p(gap.p_adjusted),
            p_value=gap.comparable_p(gap.p_adjusted),
            reason=gap.reason,
        ),
    ]
    if gap.effect_size:
        measures.append(_estimated("effect_size", "Effect Size", 0.0, gap.effect_size))
    if gap.impact_ratio:
        measures.append(_estimated("impact_ratio", "Impact Ratio", 1.0, gap.impact_ratio))
    conclusion = _conclusion(diagnosis, gap)
    notes = [
        f"The platform's conclusion is {conclusion}, tolerance {diagnosis.tolerance:g}.",
        f"The conclusion is about {diagnosis.claim}.",
        f"It is one of {diagnosis.family} comparisons, corrected together (Bonferroni).",
    ]
    notes += [
        f"{summary.group}: {summary.units} prompts, {summary.responses} answers asked for,"
        f" {summary.missing} of them missing."
        for summary in (one, two)
    ]
    measures += [_estimated(f"mean_{n}", f"Mean of {summary.group}", None, summary.mean)
                 for n, summary in ((1, one), (2, two))]  # fmt: skip
    return Subject(
        outcome=diagnosis.feature,
        value=f"the mean {diagnosis.feature} of answers by {diagnosis.target}",
        groups=(gap.a, gap.b),
        cases=one.units + two.units,
        alpha=diagnosis.alpha,
        measures=tuple(measures),
        notes=tuple(notes),
        caveats=tuple(_gap_caveats(diagnosis, gap, one, two)),
        units=(one.units, two.units),
        asked=(one.responses, two.responses),
        missing=(one.missing, two.missing),
        tolerance=diagnosis.tolerance,
        comparisons=diagnosis.family,
        test="gap_test",
        conclusion="unmeasured" if diagnosis.is_unmeasured(gap) else gap.summary.value,
    )


def _gap_caveats(
    diagnosis: Diagnosis, gap: Gap, one: GroupSummary, two: GroupSummary
) -> Iterator[str]:
    """Yield the caveats of a comparison of a run."""
    yield "unit"
    if one.missing or two.missing:
        yield "missing"
    if diagnosis.is_unmeasured(gap):
        yield "unmeasured"


def _conclusion(diagnosis: Diagnosis, gap: Gap) -> str:
    """Return the conclusion, with a note if missing answers could change it."""
    if diagnosis.is_unmeasured(gap):
        return "that one group was not measured"
    doubt = f", but {COULD_UNDO}" if gap.survives_missing is False else ""
    return f"{SAYS[gap.summary]}{doubt}"


def _estimated(name: str, label: str, neutral: float | None, estimate: Estimate) -> Measure:
    return Measure(
        name=name,
        label=label,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        no_difference=neutral,
        reason=estimate.reason,
    )
