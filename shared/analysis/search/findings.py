"""Findings of a search: regions in words, and what fresh twins show of them."""

import numpy as np

from biaswatch.shared.analysis.search.replay import Confirmation, SearchState, contrasts_of
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.requests.searches import Confirmed, FoundRegion, SearchFinding
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.joint_exchange import joint_exchange
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import undefined
from biaswatch.shared.stats.search.hypotheses import Region

LARGEST_LOG_E = 700.0
"""Log e-values beyond are shown as this: their exponential has no larger value."""
OTHERS = "the others"
SHOWN_LEADING = 3


def findings_of(state: SearchState) -> list[SearchFinding]:
    """Return the findings, strongest first, each with the regions that overlap it."""
    overlaps = [number for number in state.discovery_rounds if number not in state.findings]
    overlaps.sort(key=lambda number: -state.evidence.largest_log_e[number])
    overlapping: dict[int, list[FoundRegion]] = {finding: [] for finding in state.findings}
    for number in overlaps:
        overlapping[_strongest(state, number)].append(_region(state, number))
    return [_finding(state, finding, overlapping[finding]) for finding in state.findings]


def _strongest(state: SearchState, number: int) -> int:
    """Return the finding that shares most sets of evidence with a hypothesis."""
    shared = [
        sum(
            int((state.sizes.contains(number, b.cells) & inside).sum())
            for b in state.batches
            if (inside := state.sizes.contains(finding, b.cells)).any()
        )
        for finding in state.findings
    ]
    return state.findings[int(np.argmax(shared))]


def leading_of(state: SearchState) -> list[FoundRegion]:
    """Return the regions not found yet with the most evidence, nearest to a finding first."""
    log_e, thresholds = state.evidence.log_e, state.sizes.log_thresholds(state.search.alpha)
    nearest = np.argsort(thresholds - log_e, kind="stable").tolist()
    leading = [n for n in nearest if log_e[n] > 0 and n not in state.discovery_rounds]
    return [_region(state, number) for number in leading[:SHOWN_LEADING]]


def _region(state: SearchState, number: int) -> FoundRegion:
    """Return the region of a hypothesis with its evidence."""
    region, place, contrast = state.sizes.region_of(number)
    topics, contexts = list(state.topics), list(state.contexts)
    topic = context = None
    if region is Region.TOPIC:
        topic = topics[place]
    elif region is Region.SCENARIO:
        topic = topics[state.sizes.topics + place]
    elif region is Region.CONTEXT:
        context = contexts[place]
    elif region is Region.CROSSING:
        topic, context = topics[place // len(contexts)], contexts[place % len(contexts)]
    group, other = _sides(state, contrast)
    is_lower = state.evidence.past.sums[number] < 0
    return FoundRegion(
        title=_title(topic, context, f"{group} {'lower' if is_lower else 'higher'} than {other}"),
        region=region,
        topic=topic,
        context=context,
        group=group,
        e_value=float(np.exp(min(state.evidence.largest_log_e[number], LARGEST_LOG_E))),
        share_of_alpha=float(state.sizes.weights[number]),
    )


def _sides(state: SearchState, contrast: int) -> tuple[str, str]:
    """Return the group of a contrast, and the other side."""
    groups = list(state.search.space.groups)
    return groups[contrast], groups[1 - contrast] if len(groups) == 2 else OTHERS


def _finding(state: SearchState, number: int, overlapping: list[FoundRegion]) -> SearchFinding:
    region, contrast = _region(state, number), state.sizes.region_of(number)[2]
    round_ = state.discovery_rounds[number]
    level = state.search.alpha / len(state.findings)
    gaps = contrasts_of(_answers(state, number))[:, contrast]
    confirmed, p_value = _confirmed(state, number, contrast, level)
    sets = [drawn for sets in state.rounds[: round_ + 1] for drawn in sets]
    return SearchFinding(
        **region.model_dump(),
        other=_sides(state, contrast)[1],
        p_value=float(np.exp(-max(state.evidence.largest_log_e[number], 0.0))),
        sets=int(state.evidence.past.sets[number]),
        round=round_,
        calls=len(sets) * state.sizes.groups,
        effect=_effect(state, state.confirmations[number], gaps, level),
        confirmed=confirmed,
        confirmation_sets=len(gaps),
        confirmation_p=p_value,
        confirmation_level=level,
        overlapping=overlapping,
    )


def _title(topic: str | None, context: str | None, direction: str) -> str:
    """Return the region and the direction of the gap, in words."""
    parts = [f"topic {topic}"] * (topic is not None)
    parts += [f"context {context}"] * (context is not None)
    return f"{', '.join(parts) or 'all topics and contexts'}: {direction}"


def _answers(state: SearchState, number: int) -> Floats:
    """Return [sets, groups]: complete answers of confirmation twins."""
    complete = [values for values in state.confirmations[number].answers if None not in values]
    return np.array(complete, dtype=np.float64).reshape(len(complete), state.sizes.groups)


def _effect(state: SearchState, confirmation: Confirmation, gaps: Floats, level: float) -> Estimate:
    """Return the gap of the confirmation twins with its interval."""
    if confirmation.pending:
        return undefined(
            f"{len(confirmation.answers)} of {confirmation.needed} confirmation sets were sent;"
            " a larger budget continues"
        )
    space = state.search.space
    if not len(gaps):
        return undefined("no confirmation set has an answer of every twin")
    return mean_interval(gaps, (space.low - space.high, space.high - space.low), level)


def _confirmed(
    state: SearchState, number: int, contrast: int, level: float
) -> tuple[Confirmed, float | None]:
    """Return whether all confirmation sets together confirm a finding, and their p-value."""
    answers = _answers(state, number)
    if state.confirmations[number].pending or not len(answers):
        return Confirmed.NOT_ASKED, None
    gaps = contrasts_of(answers)[:, contrast]
    if state.sizes.contrasts == 1:
        p_value = sign_flip_p(gaps)
    else:
        rng = np.random.default_rng([state.search.seed, number])
        tests = joint_exchange(answers[:, :, None], against_rest=True, rng=rng)
        p_value = float(tests.p_values[contrast, 0])
    if p_value is None:
        return Confirmed.NOT_ASKED, None
    is_same_direction = gaps.mean() * state.evidence.past.sums[number] > 0
    confirmed = Confirmed.YES if p_value <= level and is_same_direction else Confirmed.NO
    return confirmed, p_value
