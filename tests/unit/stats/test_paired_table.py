"""McNemar's test against scipy's binomial test and statsmodels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from biaswatch.shared.stats.studies.answer_pairs import paired_table

counts = st.integers(0, 80)


@given(counts, counts, counts, counts)
@settings(deadline=None, max_examples=60)
def test_mcnemars_tests_are_the_libraries(both: int, first: int, second: int, neither: int) -> None:
    paired = paired_table(both, first, second, neither, alpha=0.05)
    if first + second == 0:
        assert paired.reason == paired.odds_ratio.reason == "no pair differs in the outcome"
        assert paired.exact_p_value is paired.p_value is paired.corrected_p_value is None
        return
    exact = stats.binomtest(first, first + second, 0.5).pvalue
    assert paired.exact_p_value == pytest.approx(exact, rel=1e-9)
    table = [[both, first], [second, neither]]
    plain = mcnemar(table, exact=False, correction=False)
    assert (paired.statistic, paired.p_value) == pytest.approx((plain.statistic, plain.pvalue))
    if first != second:  # there, the library's correction goes past zero
        other = mcnemar(table, exact=False, correction=True)
        assert paired.corrected_statistic == pytest.approx(other.statistic)
        assert paired.corrected_p_value == pytest.approx(other.pvalue)
    else:
        assert paired.corrected_p_value == 1


def test_the_odds_ratio_of_discordant_pairs_has_the_binomial_tests_interval() -> None:
    paired = paired_table(50, 12, 25, 40, alpha=0.05).odds_ratio
    share = stats.binomtest(12, 37).proportion_ci(0.95, method="exact")
    assert paired.value == pytest.approx(12 / 25)
    assert paired.low == pytest.approx(share.low / (1 - share.low))
    assert paired.high == pytest.approx(share.high / (1 - share.high))


def test_an_infinite_odds_ratio_keeps_its_lower_bound() -> None:
    paired = paired_table(5, 7, 0, 4, alpha=0.05).odds_ratio
    assert paired.value is None
    assert paired.high is None
    assert paired.low is not None
    assert paired.low > 1
    assert paired.reason == "infinite: no pair has it in the second only"


def test_no_pairs_have_no_difference() -> None:
    assert paired_table(0, 0, 0, 0, alpha=0.05).difference is None


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="B is -1"):
        paired_table(1, -1, 1, 1, alpha=0.05)
