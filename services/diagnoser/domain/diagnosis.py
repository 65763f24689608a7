"""What a closed run shows: groups, gaps between them, and what may be concluded."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from services.diagnoser.domain.cases import Case, Plan, Question
from services.diagnoser.domain.groups import Group
from shared.contracts import Estimate, Gap, GroupSummary, Verdict
from shared.stats import estimate
from shared.stats.comparisons import means, shares
from shared.stats.comparisons.multiplicity import holm

Groups = dict[str, Group]


@dataclass(frozen=True)
class Finding:
    """The answer to one question."""

    question: Question
    groups: tuple[GroupSummary, ...]
    gaps: tuple[Gap, ...]
    family: int


def diagnose(cases: Sequence[Case], plan: Plan) -> list[Finding]:
    """Answer every question the cases allow; all comparisons together are one family."""
    asked = {question: groups for question, groups in _questions(cases, plan).items() if groups}
    compared = {
        question: {pair: _difference(groups, *pair, plan.alpha) for pair in _pairs(groups)}
        for question, groups in asked.items()
    }
    all_pairs = [(q, pair) for q, differences in compared.items() for pair in differences]
    adjusted = dict(
        zip(all_pairs, holm([compared[q][p].p_value for q, p in all_pairs]), strict=True)
    )
    family = sum(p is not None for p in adjusted.values())
    return [
        Finding(
            question,
            tuple(_summary(name, group, question, plan) for name, group in sorted(groups.items())),
            tuple(
                _gap(pair, found, adjusted[question, pair], groups, question, plan)
                for pair, found in compared[question].items()
            ),
            family,
        )
        for question, groups in asked.items()
    ]


def _questions(cases: Sequence[Case], plan: Plan) -> dict[Question, Groups]:
    """Sort values and their absence under every question they belong to."""
    names = _feature_names(cases, plan)
    sorted_: dict[Question, Groups] = defaultdict(dict)
    for case in cases:
        for feature in names[case.extractor]:
            for dimension, name in case.groups.items():
                question = Question(case.target, case.scaffold, case.extractor, feature, dimension)
                group = sorted_[question].setdefault(name, Group())
                group.add(case, case.values.get(feature))
    return dict(sorted(sorted_.items(), key=lambda item: str(item[0])))


def _feature_names(cases: Sequence[Case], plan: Plan) -> dict[str, list[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        names[case.extractor] |= set(case.values) | set(plan.measured.get(case.extractor, ()))
    chosen = set(plan.features)
    return {e: sorted(n & chosen if chosen else n) for e, n in names.items()}


def _pairs(groups: Groups) -> list[tuple[str, str]]:
    return list(combinations(sorted(groups), 2))


def _difference(groups: Groups, a: str, b: str, alpha: float) -> means.Difference:
    """Compare within counterfactual sets where both groups have them, else between prompts."""
    in_sets = [groups[name].by_set() for name in (a, b)]
    shared = sorted(in_sets[0].keys() & in_sets[1].keys())
    if len(shared) >= 2:
        pairs = [(in_sets[0][s], in_sets[1][s]) for s in shared]
        return means.difference([x for x, _ in pairs], [y for _, y in pairs], alpha, paired=True)
    return means.difference(groups[a].by_unit(), groups[b].by_unit(), alpha, paired=False)


def _summary(name: str, group: Group, question: Question, plan: Plan) -> GroupSummary:
    units = group.by_unit()
    return GroupSummary(
        group=name,
        responses=len(group.values) + group.missing.total(),
        missing=group.missing.total(),
        missing_reasons=dict(sorted(group.missing.items())),
        units=len(units),
        mean=_as_sent(means.mean_of(units, plan.alpha)),
        selection_rate=_selection_rate(group, question, plan),
    )


def _selection_rate(group: Group, question: Question, plan: Plan) -> Estimate | None:
    threshold = (plan.selected_at_least or {}).get(question.feature)
    if threshold is None:
        return None
    return _as_sent(shares.share_of(group.selected(threshold).by_unit(), plan.alpha))


def _gap(
    pair: tuple[str, str],
    found: means.Difference,
    p_adjusted: float | None,
    groups: Groups,
    question: Question,
    plan: Plan,
) -> Gap:
    threshold = (plan.selected_at_least or {}).get(question.feature)
    impact = None
    if threshold is not None:
        a, b = (groups[name].selected(threshold).by_unit() for name in pair)
        impact = _as_sent(shares.ratio(a, b, plan.alpha))
    return Gap(
        a=pair[0],
        b=pair[1],
        gap=_as_sent(found.estimate),
        p_value=found.p_value,
        p_adjusted=p_adjusted,
        impact_ratio=impact,
        verdict=_verdict(found.estimate, p_adjusted, plan),
    )


def _verdict(gap: estimate.Estimate, p_adjusted: float | None, plan: Plan) -> Verdict:
    if gap.low is None or gap.high is None or p_adjusted is None:
        return Verdict.NOT_ENOUGH
    beyond = gap.low > plan.tolerance or gap.high < -plan.tolerance
    if p_adjusted <= plan.alpha and beyond:
        return Verdict.DISPARITY
    within = -plan.tolerance <= gap.low and gap.high <= plan.tolerance
    return Verdict.NO_DISPARITY if within and plan.tolerance > 0 else Verdict.NOT_ENOUGH


def _as_sent(found: estimate.Estimate) -> Estimate:
    return Estimate(**asdict(found))
