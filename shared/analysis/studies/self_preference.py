"""Self-preference of judges: verdicts on answers of their own model against those of others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from biaswatch.shared.contracts import PairVerdict
from biaswatch.shared.contracts.judge_votes import is_bad
from biaswatch.shared.contracts.judged_items import TEMPLATE
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.run_views import SelfPreference
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.studies.clusters import jackknife_t

PairKey = tuple[str, str, int]
"""Set, scaffold, repeat."""
Shares = Mapping[str, Mapping[PairKey, Mapping[str, float]]]
"""By judge, pair and target: the share of good replies."""


def self_preferences(verdicts: Sequence[PairVerdict], alpha: float) -> list[SelfPreference]:
    """Return how much better each judge rates its own model than it rates other models.

    The difference is over the same questions. Where other judges rated the same answers, theirs is
    subtracted: better answers are not a preference. Judges without ratings of both their own and
    another model are left out.
    """
    shares = _shares(verdicts)
    clusters = {_pair(v): v.facts.get(TEMPLATE, v.set_id) for v in verdicts if not v.control}
    preferences = []
    for judge in sorted(shares):
        other_judges = [name for name in shares if _model(name) != _model(judge)]
        own = _differences(shares[judge], _model(judge))
        rated = [_differences(shares[name], _model(judge)) for name in other_judges]
        rated = [differences for differences in rated if differences]
        values = dict(_beyond(own, rated))
        if values:
            estimate = _estimate(values, clusters, alpha)
            preferences.append(
                SelfPreference(
                    judge=judge, pairs=len(values), other_judges=len(rated), difference=estimate
                )
            )
    return preferences


def _shares(verdicts: Iterable[PairVerdict]) -> Shares:
    shares: dict[str, dict[PairKey, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for verdict in verdicts:
        replies = grouped(
            (check.judge, not is_bad(check))
            for check in verdict.checks
            if not verdict.control and check.said is not None
        )
        for judge, good in replies.items():
            shares[judge][_pair(verdict)][verdict.target] = float(np.mean(good))
    return shares


def _differences(
    by_pair: Mapping[PairKey, Mapping[str, float]], model: str
) -> Mapping[PairKey, float]:
    """Return the share of good replies on a model's answers minus that on the others' answers."""
    differences = {}
    for pair, by_target in by_pair.items():
        own = [share for target, share in by_target.items() if _model(target) == model]
        other = [share for target, share in by_target.items() if _model(target) != model]
        if own and other:
            differences[pair] = float(np.mean(own) - np.mean(other))
    return differences


def _beyond(
    own: Mapping[PairKey, float], rated: Sequence[Mapping[PairKey, float]]
) -> Iterator[tuple[PairKey, float]]:
    """Yield the differences of a judge beyond those of the other judges of the same pairs."""
    for pair, difference in own.items():
        other_differences = [differences[pair] for differences in rated if pair in differences]
        if other_differences or not rated:
            yield pair, difference - float(np.mean(other_differences or [0.0]))


def _estimate(
    values: Mapping[PairKey, float], clusters: Mapping[PairKey, str], alpha: float
) -> Estimate:
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
    for pair, value in values.items():
        sums[clusters[pair]] += (value, 1)
    return jackknife_t(np.array(list(sums.values())), lambda s: s[:, 0] / s[:, 1], alpha)


def _pair(verdict: PairVerdict) -> PairKey:
    return verdict.set_id, verdict.scaffold, verdict.repeat


def _model(name: str) -> str:
    """Return provider and model of a target, without its parameters."""
    return name.partition("?")[0]
