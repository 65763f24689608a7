"""Shares of alpha of tests and attempts that may go on for ever."""

from math import isclose

import pytest

from biaswatch.shared.stats.anytime.judging import (
    alpha_of_gap_test,
    alpha_of_search,
    share_left,
    share_of_attempt,
    share_of_test,
)


def test_the_shares_of_all_tests_and_of_all_attempts_sum_to_one() -> None:
    assert sum(map(share_of_test, range(1, 100_000))) == pytest.approx(1, abs=1e-5)
    assert sum(map(share_of_attempt, range(1, 100_000))) == pytest.approx(1, abs=2e-5)


def test_what_is_left_is_the_sum_of_the_shares_to_come() -> None:
    assert share_left(1) == pytest.approx(1 - 0.6079, abs=1e-4)
    later = sum(map(share_of_test, range(53, 1_000_000)))
    assert share_left(52) == pytest.approx(later, abs=1e-6)
    assert share_left(10_000) > 0


def test_gaps_and_changes_of_a_family_never_get_more_than_alpha() -> None:
    family, tests = 7, range(1, 5000)
    gaps = sum(alpha_of_gap_test(0.05, test) for test in tests)
    searches = 4 * family * sum(alpha_of_search(0.05, family, test) for test in tests)
    assert 0.049 < gaps + searches <= 0.05
    assert isclose(gaps, searches)


def test_what_is_no_number_of_a_test_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1"):
        share_of_test(0)
    with pytest.raises(ValueError, match="from 1"):
        share_of_attempt(0)
