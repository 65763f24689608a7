"""Seeded simulation: tests of 2x2 tables reject and intervals cover as often as they say."""

from collections.abc import Callable, Iterator
from math import log

import numpy as np
import pytest

from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.studies.answer_pairs import mcnemar_p
from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin
from biaswatch.shared.stats.tables.independence import (
    FEW_EXPECTED,
    boschloo,
    chi_square,
    declared,
    fisher,
)
from biaswatch.shared.stats.tables.odds_ratio import conditional_odds_ratio, sample_odds_ratio
from biaswatch.shared.stats.tables.risks import relative_risk, risk_difference, selection_rate
from biaswatch.shared.stats.tables.stratified import stratified

ALPHA = 0.05
MOST_REJECTED = ALPHA + 0.015
NULLS = 1_000
FEW_NULLS = 300
COVERED = 2_000
LEAST_COVERED, MOST_COVERED = 0.93, 0.97

DESIGNS = [(15, 15, 0.3), (20, 60, 0.1), (50, 50, 0.5), (200, 100, 0.25), (1000, 400, 0.6)]
"""Cases of group 1, of group 2, and the rate of both."""


def simulated(
    n_1: int, n_2: int, p_1: float, p_2: float, times: int, seed: int
) -> Iterator[ContingencyTable]:
    rng = np.random.default_rng(seed)
    for a, c in zip(rng.binomial(n_1, p_1, times), rng.binomial(n_2, p_2, times), strict=True):
        yield ContingencyTable(int(a), n_1 - int(a), int(c), n_2 - int(c))


def declared_p_value(table: ContingencyTable) -> float | None:
    return (fisher if declared(table) == "fisher" else chi_square)(table).p_value


def rejected(
    tables: list[ContingencyTable], test: Callable[[ContingencyTable], float | None]
) -> float:
    """Return the share of tables rejected; one without a p-value is not."""
    p_values = [test(table) for table in tables]
    return sum(p is not None and p <= ALPHA for p in p_values) / len(tables)


@pytest.mark.parametrize(("n_1", "n_2", "p"), DESIGNS)
def test_the_declared_test_keeps_its_level(n_1: int, n_2: int, p: float) -> None:
    tables = list(simulated(n_1, n_2, p, p, NULLS, 1))
    assert rejected(tables, declared_p_value) <= MOST_REJECTED


@pytest.mark.parametrize(("n_1", "n_2", "p"), DESIGNS)
def test_fishers_test_keeps_its_level(n_1: int, n_2: int, p: float) -> None:
    tables = list(simulated(n_1, n_2, p, p, NULLS, 2))
    assert rejected(tables, lambda table: fisher(table).p_value) <= MOST_REJECTED


@pytest.mark.parametrize("yates", [False, True])
@pytest.mark.parametrize(("n_1", "n_2", "p"), DESIGNS)
def test_chi_square_keeps_its_level_where_five_are_expected(
    n_1: int, n_2: int, p: float, yates: bool
) -> None:
    tables = [
        table
        for table in simulated(n_1, n_2, p, p, NULLS, 3)
        if (table.min_expected or 0) >= FEW_EXPECTED
    ]
    if len(tables) > NULLS / 2:  # a design that seldom has five expected says nothing of it
        assert rejected(tables, lambda table: chi_square(table, yates=yates).p_value) <= (
            MOST_REJECTED
        )


@pytest.mark.parametrize(("n_1", "n_2", "p"), [(15, 15, 0.3), (12, 40, 0.1), (50, 50, 0.5)])
def test_boschloos_test_keeps_its_level(n_1: int, n_2: int, p: float) -> None:
    tables = list(simulated(n_1, n_2, p, p, FEW_NULLS, 4))
    assert rejected(tables, lambda table: boschloo(table).p_value) <= MOST_REJECTED


def test_strata_with_different_rates_keep_the_level_where_their_sum_does_not() -> None:
    rng = np.random.default_rng(5)
    within = pooled = 0
    for _ in range(NULLS):
        strata = []
        for (n_1, n_2), p in zip([(80, 20), (50, 50), (20, 80)], [0.6, 0.3, 0.1], strict=True):
            a, c = int(rng.binomial(n_1, p)), int(rng.binomial(n_2, p))
            strata.append((a, n_1 - a, c, n_2 - c))
        p_value = stratified(strata).cmh.p_value
        within += p_value is not None and p_value <= ALPHA
        crude = chi_square(
            ContingencyTable(*(int(count) for count in np.sum(strata, axis=0)))
        ).p_value
        pooled += crude is not None and crude <= ALPHA
    assert within / NULLS <= MOST_REJECTED
    assert pooled / NULLS > 0.9


def test_strata_with_one_odds_ratio_are_seldom_called_different() -> None:
    rng = np.random.default_rng(6)
    result = 0
    for _ in range(NULLS):
        strata = []
        for p in (0.2, 0.4, 0.5):
            q = 2 * p / (1 - p) / (1 + 2 * p / (1 - p))  # twice the odds
            a, c = int(rng.binomial(80, q)), int(rng.binomial(80, p))
            strata.append((a, 80 - a, c, 80 - c))
        p_value = stratified(strata).tarone.p_value
        result += p_value is not None and p_value <= ALPHA
    assert result / NULLS <= MOST_REJECTED


def test_pairs_without_a_difference_are_seldom_called_different() -> None:
    rng = np.random.default_rng(7)
    result = 0
    for _, first, second, _ in rng.multinomial(60, (0.4, 0.15, 0.15, 0.3), NULLS):
        p_value = mcnemar_p(first, second)
        result += p_value is not None and p_value <= ALPHA
    assert result / NULLS <= MOST_REJECTED


RATES = [(100, 100, 0.3, 0.2), (200, 60, 0.5, 0.4), (500, 500, 0.1, 0.15), (60, 60, 0.4, 0.6)]
"""Cases and rates of two groups, with 10 or more expected in every cell and 100 cases or more."""

SMALL = [(15, 15, 0.3, 0.5), (15, 40, 0.1, 0.2), (20, 20, 0.8, 0.6), (10, 10, 0.5, 0.5)]

Interval = Callable[[ContingencyTable], Estimate]


def logit(p: float) -> float:
    return log(p / (1 - p))


INTERVALS: dict[str, tuple[Interval, Callable[[float, float], float]]] = {
    "Woolf": (
        lambda table: sample_odds_ratio(table, ALPHA),
        lambda p, q: np.exp(logit(p) - logit(q)),
    ),
    "Katz": (lambda table: relative_risk(table, ALPHA), lambda p, q: p / q),
    "Newcombe": (lambda table: risk_difference(table, ALPHA), lambda p, q: p - q),
    "Wilson": (lambda table: selection_rate(table.a, table.n_1, ALPHA), lambda p, _: p),
}


def coverage(interval: Interval, truth: float, tables: Iterator[ContingencyTable]) -> float:
    """Return the share of defined intervals that hold the truth; infinity holds anything."""
    held = [
        (item.low is not None and item.low <= truth) and (item.high is None or truth <= item.high)
        for table in tables
        if not no_margin(table)
        for item in [interval(table)]
    ]
    return float(np.mean(held))


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize(("n_1", "n_2", "p", "q"), RATES)
def test_an_interval_of_a_large_table_covers_what_it_says(
    name: str, n_1: int, n_2: int, p: float, q: float
) -> None:
    interval, truth = INTERVALS[name]
    share = coverage(interval, truth(p, q), simulated(n_1, n_2, p, q, COVERED, 8))
    assert LEAST_COVERED <= share <= MOST_COVERED


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize(("n_1", "n_2", "p", "q"), SMALL)
def test_an_interval_of_a_small_table_covers_no_less(
    name: str, n_1: int, n_2: int, p: float, q: float
) -> None:
    interval, truth = INTERVALS[name]
    share = coverage(interval, truth(p, q), simulated(n_1, n_2, p, q, COVERED, 9))
    assert share >= LEAST_COVERED


@pytest.mark.parametrize(("n_1", "n_2", "p", "q"), SMALL + RATES[:1])
def test_the_exact_interval_covers_at_least_what_it_says(
    n_1: int, n_2: int, p: float, q: float
) -> None:
    tables = simulated(n_1, n_2, p, q, NULLS, 10)
    truth = float(np.exp(logit(p) - logit(q)))
    assert coverage(lambda table: conditional_odds_ratio(table, ALPHA), truth, tables) >= 0.935


@pytest.mark.parametrize(("n_1", "n_2", "p", "q"), [(15, 15, 0.97, 0.9), (30, 12, 0.05, 0.9)])
def test_the_score_interval_covers_where_rates_are_near_zero_and_one(
    n_1: int, n_2: int, p: float, q: float
) -> None:
    tables = simulated(n_1, n_2, p, q, COVERED, 11)
    share = coverage(lambda table: relative_risk(table, ALPHA), p / q, tables)
    assert share >= LEAST_COVERED
