"""Statistics of the platform as subjects of a report: a 2x2 table, or a gap of a diagnosis."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, Measure, Subject
from shared.stats.estimate import IntervalEstimate
from shared.stats.tables.two_by_two import ratio_agreement

RATIOS = {
    "odds_ratio": ("Odds Ratio", 1.0),
    "relative_risk": ("Relative Risk", 1.0),
    "risk_difference": ("Risk Difference", 0.0),
    "impact_ratio": ("Impact Ratio", 1.0),
}
SAYS = {
    "disparity": "a disparity beyond the tolerance",
    "no_disparity": "no disparity beyond the tolerance",
    "not_enough_evidence": "not enough evidence for a conclusion",
}


def table_subject(
    found: Mapping[str, Any],
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
    """Return the subject of a 2x2 table, as `as_json` of the table gives it."""
    measures = [
        _estimated(name, label, neutral, _with_bounds(found[name]))
        for name, (label, neutral) in RATIOS.items()
    ]
    measures.append(_test("chi_square", "Chi-Square Test", found["chi_square"]))
    measures += list(_within(strata)) if strata else []
    measures += [adjusted] if adjusted else []
    said = [*notes, *found["warnings"], *_conflict(found)]
    if strata and strata["note"]:
        said.insert(0, strata["note"])
    return Subject(
        outcome=outcome,
        value=value,
        groups=groups,
        counts=tuple(counts),
        cases=sum(counts),
        cases_least=least,
        alpha=alpha,
        measures=tuple(measures),
        notes=tuple(said),
        limitations=tuple(limitations),
    )


def _with_bounds(found: Mapping[str, Any]) -> IntervalEstimate:
    low, high = found["ci"] or (None, None)
    return IntervalEstimate(found["estimate"], low, high, reason=found["reason"])


def _test(name: str, label: str, test: Mapping[str, Any]) -> Measure:
    return Measure(
        name=name,
        label=label,
        value=test["statistic"],
        p_value=test["p_value"],
        reason=test["reason"],
    )


def _within(strata: Mapping[str, Any]) -> Iterator[Measure]:
    label = "Odds Ratio within strata (Mantel-Haenszel)"
    yield _estimated("odds_ratio_within", label, 1.0, IntervalEstimate(**strata["odds_ratio"]))
    yield _test("cmh", "Cochran-Mantel-Haenszel test within strata", strata["cmh"])


def _conflict(found: Mapping[str, Any]) -> Iterator[str]:
    both = [_with_bounds(found[name]) for name in ("odds_ratio", "relative_risk")]
    if ratio_agreement(*both).says == "conflicting":
        yield "Odds ratio and relative risk are in conflict: each alone would be read differently."


def gap_subject(diagnosis: Diagnosis, gap: Gap) -> Subject:
    """Return the subject of one comparison of a run."""
    groups = {each.group: each for each in diagnosis.groups}
    one, two = groups[gap.a], groups[gap.b]
    measures = [
        _estimated("gap", "Difference of Means", 0.0, gap.gap),
        Measure(
            name="gap_test",
            label="Test of the difference, corrected for the number of comparisons",
            value=gap.p_adjusted,
            p_value=gap.p_adjusted,
            reason=gap.reason,
        ),
    ]
    if gap.effect_size:
        measures.append(_estimated("effect_size", "Effect Size", 0.0, gap.effect_size))
    if gap.impact_ratio:
        measures.append(_estimated("impact_ratio", "Impact Ratio", 1.0, gap.impact_ratio))
    measures += [_estimated(f"mean_{n}", f"Mean of {each.group}", None, each.mean)
                 for n, each in ((1, one), (2, two))]  # fmt: skip
    return Subject(
        outcome=diagnosis.feature,
        value=f"the mean {diagnosis.feature} of answers by {diagnosis.target}",
        groups=(gap.a, gap.b),
        cases=one.units + two.units,
        alpha=diagnosis.alpha,
        measures=tuple(measures),
        notes=tuple(_notes(diagnosis, gap, one, two)),
    )


def _estimated(
    name: str, label: str, neutral: float | None, estimate: Estimate | IntervalEstimate
) -> Measure:
    return Measure(
        name=name,
        label=label,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        no_difference=neutral,
        reason=estimate.reason,
    )


def _notes(diagnosis: Diagnosis, gap: Gap, one: GroupSummary, two: GroupSummary) -> Iterator[str]:
    verdict = SAYS[gap.verdict]
    yield f"The platform's conclusion is {verdict}, tolerance {diagnosis.tolerance:g}."
    yield f"The conclusion is about {diagnosis.claim}."
    yield f"It is one of {diagnosis.family} comparisons, corrected together (Holm)."
    for each in (one, two):
        yield (
            f"{each.group}: {each.units} prompts, {each.responses} answers asked for,"
            f" {each.missing} of them missing."
        )
