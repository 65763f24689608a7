"""McNemar's exact test against statsmodels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from biaswatch.shared.stats.studies.answer_pairs import mcnemar_p

counts = st.integers(0, 80)


@given(counts, counts)
@settings(deadline=None, max_examples=60)
def test_mcnemars_test_is_the_librarys(first: int, second: int) -> None:
    if first + second == 0:
        assert mcnemar_p(first, second) is None
        return
    expected = mcnemar([[0, first], [second, 0]], exact=True).pvalue
    assert mcnemar_p(first, second) == pytest.approx(expected, rel=1e-9)
