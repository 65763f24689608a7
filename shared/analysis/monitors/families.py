"""The merged evidence of a monitor's family: bets on the whole vector of answers of each set."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from biaswatch.shared.analysis.monitors.blocks import shuffled
from biaswatch.shared.analysis.monitors.count_columns import CountColumns
from biaswatch.shared.analysis.monitors.pair_counts import GAPS
from biaswatch.shared.analysis.monitors.round_answers import RoundAnswers
from biaswatch.shared.analysis.monitors.same_treatment import same_treatment_bound
from biaswatch.shared.analysis.monitors.set_bounds import feature_values
from biaswatch.shared.contracts import (
    Comparison,
    Evidence,
    MergedEvidence,
    Method,
    MonitorPlan,
    Round,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.evidence_rows import ComparisonRows
from biaswatch.shared.stats.anytime.bets import middles
from biaswatch.shared.stats.anytime.exchanges import (
    exchange_group,
    exchange_log_factors,
    vector_scores,
)
from biaswatch.shared.stats.anytime.merged import (
    COMMON_BETS,
    OWN_BETS,
    PastDifferences,
    merged_log_e,
    stands_out,
    vector_bets,
)
from biaswatch.shared.stats.arrays import Floats, Ints
from biaswatch.shared.stats.estimate import DIFFERS, NOT_SHOWN

SETS_AT_ONCE = 8
"""Sets after which bets learn of them; more in rounds of very many."""
MAX_STEPS = 64
"""How often bets learn within a round."""
MAX_LABELS = 64
"""Answers of a set whose labels are exchanged; larger sets bet nothing on vectors."""
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SetVectors:
    """The answers of sets whose answers have the same labels."""

    labels: tuple[Labels, ...]
    answers: Floats
    """[sets, labels, features], as shares of the ranges; missing ones are the set's mean."""


@dataclass(frozen=True)
class RoundVectors:
    """The sets of a round, in steps after which bets learn."""

    comparisons: tuple[Comparison, ...] = ()
    """The comparisons of twins, in the order of their bets."""
    features: tuple[WatchedFeature, ...] = ()
    steps: tuple[tuple[SetVectors, ...], ...] = ()

    @cached_property
    def feature_positions(self) -> Ints:
        """The place of each comparison's feature in `features`."""
        places = {watched: place for place, watched in enumerate(self.features)}
        return np.array([places[comparison.watched] for comparison in self.comparisons])


UnitKey = tuple[Labels, str]
UnitMeans = Mapping[str, Mapping[UnitKey, Floats]]
"""By set and unit: the mean of each feature as a share of its range; nan where none is known."""


def round_vectors(comparisons: Sequence[Comparison], answers: RoundAnswers) -> RoundVectors:
    """Return the answers of a round for bets on whole sets, whichever comparisons they concern."""
    twins = tuple(one for one in comparisons if one.watched.method is Method.PAIRS)
    if len(twins) < 2:
        return RoundVectors()
    features = tuple(dict.fromkeys(comparison.watched for comparison in twins))
    dimensions = {comparison.pair.dimension for comparison in twins}
    sets = _unit_means(features, dimensions, answers)
    new = sets.keys() - answers.repeated_sets
    names = sorted((name for name in new if 2 <= len(sets[name]) <= MAX_LABELS), key=shuffled)
    size = max(SETS_AT_ONCE, -(-len(names) // MAX_STEPS))
    steps = [names[start : start + size] for start in range(0, len(names), size)]
    vectors = tuple(tuple(_vectors([sets[name] for name in step])) for step in steps)
    return RoundVectors(twins, features, vectors)


def _unit_means(
    features: Sequence[WatchedFeature], dimensions: set[str], answers: RoundAnswers
) -> UnitMeans:
    sets: dict[str, dict[UnitKey, int]] = defaultdict(dict)
    rows, units = list[int](), list[int]()
    for row, answer in enumerate(answers.planned):
        labels = tuple(sorted((d, g) for d, g in answer.groups.items() if d in dimensions))
        if labels:
            rows.append(row)
            place = len(units)
            units.append(sets[answer.set].setdefault((labels, answer.unit), place))
    shares = feature_values(features, answers).shares[rows]
    known = np.isfinite(shares)
    sums, counts = np.zeros_like(shares), np.zeros(shares.shape)
    places_of_rows = np.array(units, dtype=np.int64)
    np.add.at(sums, places_of_rows, np.where(known, shares, 0.0))
    np.add.at(counts, places_of_rows, known)
    means = np.divide(sums, counts, out=np.full(shares.shape, np.nan), where=counts > 0)
    return {
        name: {key: means[place] for key, place in places.items()} for name, places in sets.items()
    }


def _vectors(sets: Sequence[Mapping[UnitKey, Floats]]) -> Iterator[SetVectors]:
    by_labels: dict[tuple[Labels, ...], list[Floats]] = defaultdict(list)
    for units in sets:
        keys = sorted(units)
        by_labels[tuple(labels for labels, _ in keys)].append(np.array([units[k] for k in keys]))
    for labels, arrays in by_labels.items():
        yield SetVectors(labels, _filled(np.stack(arrays)))


def _filled(answers: Floats) -> Floats:
    """Return answers with the mean of their set where they are missing: no label changes that."""
    known = np.isfinite(answers)
    sums = np.where(known, answers, 0.0).sum(axis=1, keepdims=True)
    means = sums / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.where(known, answers, means)


def merged_evidence(
    vectors: RoundVectors,
    evidence: ComparisonRows[Evidence],
    last: ComparisonRows[Evidence] | None,
    closed: Round,
    before: Round | None,
    plan: MonitorPlan,
) -> MergedEvidence | None:
    """Return the merged evidence after a round; None with fewer than two comparisons of twins.

    Parameters
    ----------
    evidence
        After the round.
    last
        Of the round before; None before the first.
    before
        The round before.
    """
    if len(vectors.comparisons) < 2:
        return None
    same_epoch = before is not None and before.epoch == closed.epoch
    earlier = before.merged if before is not None and same_epoch else None
    own = np.array(earlier.own if earlier else np.zeros(OWN_BETS))
    common = np.array(earlier.common if earlier else np.zeros(COMMON_BETS))
    past = _past(vectors.comparisons, last if same_epoch else None)
    for step in vectors.steps:
        own_bets, common_bets = vector_bets(past)
        for sets in step:
            weights = side_weights(sets.labels, vectors)
            own += _log_wealth(own_bets, weights, sets, vectors)
            common += _log_wealth(common_bets, weights, sets, vectors)
            past = _after(past, weights, sets, vectors)
    logs = evidence.numbers("log_e_same_treatment", missing=0.0).tolist()
    by_key = dict(zip(evidence.keys, logs, strict=True))
    log_es = np.array([by_key.get(comparison.key, 0.0) for comparison in vectors.comparisons])
    log_e, bound = merged_log_e(log_es, own, common), same_treatment_bound(plan, closed.epoch)
    alpha = len(plan.all_comparisons) * float(np.exp(-bound))
    is_shown = log_e >= -np.log(alpha)
    since = earlier.since_round if earlier else None
    chosen = stands_out(log_es, log_e, alpha).tolist()
    keys = [one.key for one in compress(vectors.comparisons, chosen)]
    known = earlier.stands_out if earlier else ()
    return MergedEvidence(
        log_e=log_e,
        bound=-float(np.log(alpha)),
        answer=DIFFERS if is_shown or since is not None else NOT_SHOWN,
        since_round=closed.round if since is None and is_shown else since,
        stands_out=tuple(dict.fromkeys([*known, *keys])),
        own=tuple(own.tolist()),
        common=tuple(common.tolist()),
    )


def _past(
    comparisons: Sequence[Comparison], last: ComparisonRows[Evidence] | None
) -> PastDifferences:
    """Return the differences of earlier rounds, from the histograms that evidence keeps."""
    moments = np.zeros((3, len(comparisons)))
    places = {key: place for place, key in enumerate(last.keys)} if last is not None else {}
    known = [n for n, one in enumerate(comparisons) if one.key in places]
    if last is not None and known:
        rows = last.of_rows(np.array([places[comparisons[n].key] for n in known]))
        counts = CountColumns.of(rows.columns["counts"], len(known)).histogram(GAPS, new=True)
        bins = middles(counts.shape[1])
        moments[:, known] = [counts @ bins**power for power in range(3)]
    return PastDifferences(*moments)


def side_weights(labels: Sequence[Labels], vectors: RoundVectors) -> Floats:
    """Return [comparisons, labels]: what each answer weighs in the difference of its set."""
    pairs: dict[WatchedPair, Floats] = {}
    for comparison in vectors.comparisons:
        if comparison.pair not in pairs:
            pairs[comparison.pair] = _pair_weights(labels, comparison.pair)
    return np.array([pairs[comparison.pair] for comparison in vectors.comparisons])


def _pair_weights(labels: Sequence[Labels], pair: WatchedPair) -> Floats:
    groups = [dict(label).get(pair.dimension) for label in labels]
    first = np.array([group == pair.a for group in groups], dtype=np.float64)
    compared = [
        None if group == pair.a or pair.b not in (None, group) else group for group in groups
    ]
    names = {group for group in compared if group is not None}
    if not first.any() or not names:
        return np.zeros(len(labels))
    second = np.array(
        [0.0 if group is None else 1 / compared.count(group) / len(names) for group in compared]
    )
    return np.asarray(first / first.sum() - second, dtype=np.float64)


def _log_wealth(bets: Floats, weights: Floats, sets: SetVectors, vectors: RoundVectors) -> Floats:
    """Return [bets]: what bets on the comparisons' differences earn on sets of the same labels."""
    places = vectors.feature_positions
    by_answer = np.zeros((len(bets), weights.shape[1], len(vectors.features)))
    for place in range(len(vectors.features)):
        own = places == place
        by_answer[:, :, place] = bets[:, own] @ weights[own]
    exchanges = exchange_group(weights.shape[1])
    scores = [vector_scores(by_answer, answers, exchanges) for answers in sets.answers]
    return np.asarray(exchange_log_factors(np.array(scores)).sum(axis=0), dtype=np.float64)


def _after(
    past: PastDifferences, weights: Floats, sets: SetVectors, vectors: RoundVectors
) -> PastDifferences:
    places = vectors.feature_positions
    differences = np.einsum("cl,slc->sc", weights, sets.answers[:, :, places])
    has_sides = weights.any(axis=1) * float(len(differences))
    return PastDifferences(
        past.sets + has_sides,
        past.sums + differences.sum(axis=0),
        past.squares + (differences**2).sum(axis=0),
    )
