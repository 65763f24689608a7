"""The whole of a 2x2 table: what is declared, warned of, refused, and written as JSON."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biaswatch.shared.stats.tables.risks import risk_difference
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

counts = st.integers(0, 40)


@given(counts, counts, counts, counts)
@settings(deadline=None, max_examples=60)
def test_every_table_gives_numbers_or_reasons_and_valid_json(
    a: int, b: int, c: int, d: int
) -> None:
    statistics = as_json(two_by_two(a, b, c, d))
    json.dumps(statistics, allow_nan=False)
    for name in ("odds_ratio", "odds_ratio_conditional", "relative_risk", "impact_ratio"):
        assert (statistics[name]["estimate"] is None) == (statistics[name]["reason"] is not None)
    assert (statistics["fisher"]["p_value"] is None) == (statistics["fisher"]["reason"] is not None)


@given(counts, counts, counts, counts)
@settings(deadline=None, max_examples=40)
def test_renaming_the_groups_changes_no_p_value_and_no_impact_ratio(
    a: int, b: int, c: int, d: int
) -> None:
    one, other = two_by_two(a, b, c, d), two_by_two(c, d, a, b)
    assert one.declared == other.declared
    assert one.p_value == pytest.approx(other.p_value, abs=1e-12)
    assert one.boschloo.p_value == pytest.approx(other.boschloo.p_value, abs=1e-9)
    assert one.impact_ratio.value == pytest.approx(other.impact_ratio.value)
    assert one.rates == other.rates[::-1]


def test_the_declared_p_value_is_that_of_the_declared_test() -> None:
    plain, few, empty = two_by_two(30, 70, 20, 80), two_by_two(8, 2, 1, 5), two_by_two(0, 5, 0, 5)
    assert (plain.declared, plain.p_value) == ("chi_square", plain.chi_square.p_value)
    assert (few.declared, few.p_value) == ("fisher", few.fisher.p_value)
    assert (empty.declared, empty.p_value) == (None, None)


def test_a_small_group_is_warned_of_but_computed() -> None:
    statistics = two_by_two(10, 4, 30, 40)
    assert statistics.warnings == (
        "Fewer than 15 cases of group 1 (14): too few for a finding.",
        "A cell is below 5: prefer the conditional odds ratio, whose interval is exact.",
    )
    assert statistics.p_value is not None
    for enough in (two_by_two(10, 5, 30, 40), two_by_two(10, 4, 30, 40, min_cases=14)):
        assert "too few" not in " ".join(enough.warnings)


def test_a_zero_cell_and_few_expected_are_warned_of() -> None:
    warnings = " ".join(two_by_two(0, 20, 5, 15).warnings)
    assert "A cell is zero: the odds ratio counts it as 0.5." in warnings
    assert "Fisher's p-value counts" in warnings


def test_a_table_that_shows_nothing_says_so() -> None:
    assert two_by_two(0, 20, 0, 20).warnings == (
        "The table shows no association at all: nobody has the outcome in either group.",
    )


def test_numpys_integers_are_counts_too() -> None:
    assert two_by_two(*np.array([9, 6, 4, 11])) == two_by_two(9, 6, 4, 11)


@pytest.mark.parametrize(
    ("cells", "options", "sentence"),
    [
        ((-1, 2, 3, 4), {}, "A is -1, but a count cannot be negative."),
        ((1, 2.0, 3, 4), {}, "B is 2.0, but a count is a whole number."),
        ((1, 2, float("nan"), 4), {}, "C is nan, but a count is a whole number."),
        ((1, 2, 3, 10**13), {}, "D is 10000000000000, but counts are taken up to"),
        ((1, 2, 3, 4), {"alpha": 0}, "alpha is 0, but it has to lie between 0 and 1."),
        ((1, 2, 3, 4), {"alpha": float("nan")}, "alpha is nan, but"),
        ((1, 2, 3, 4), {"min_cases": -1}, "The minimum of cases is -1, but"),
        ((1, 2, 3, 4), {"min_cases": 1.5}, "The minimum of cases is 1.5, but"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(
    cells: tuple[Any, ...], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match="but") as raised:
        two_by_two(*cells, **options)
    assert str(raised.value).startswith(sentence)


def test_counts_beyond_every_machine_integers_product_are_computed() -> None:
    statistics = two_by_two(4_000_000_000, 3_000_000_000, 4_000_000_100, 3_000_000_000)
    assert statistics.p_value is not None
    assert 0.9 < statistics.p_value < 1
    assert statistics.odds_ratio.value == pytest.approx(4_000_000_000 / 4_000_000_100, rel=1e-12)


CONTRADICTED = ((3, 0, 0, 3), (7, 3, 2, 8), (8, 2, 3, 7))
"""Newcombe's interval leaves 0 out, and Fisher's test finds too little."""
FOUND_ANYWAY = ((20, 8, 30, 3), (139, 19, 44, 13))
"""Newcombe's interval holds 0, and the chi-square test finds a gap."""


@pytest.mark.parametrize(
    "given", [*CONTRADICTED, *FOUND_ANYWAY, (40, 0, 0, 40), (30, 70, 50, 50), (5, 5, 5, 5)]
)
def test_the_interval_of_the_gap_never_contradicts_the_test_that_counts(
    given: tuple[int, int, int, int],
) -> None:
    statistics = two_by_two(*given)
    gap, plain = statistics.risk_difference, risk_difference(statistics.table, 0.05)
    assert gap.low is not None
    assert gap.high is not None
    assert gap.value is not None
    is_disparity = statistics.p_value is not None and statistics.p_value <= 0.05
    assert is_disparity == (gap.low > 0 or gap.high < 0)
    assert gap.low <= gap.value <= gap.high
    assert (gap != plain) == (given in CONTRADICTED + FOUND_ANYWAY)
