"""Corrections against statsmodels and the recorded values."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from biaswatch.shared.stats.comparisons.multiplicity import CORRECTIONS, adjust, holm_of_families
from tests.support.golden import golden_cases

NAMES = {"holm": "holm", "bh": "fdr_bh", "by": "fdr_by", "bonferroni": "bonferroni"}
p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_an_undefined_member_never_poisons_the_family() -> None:
    (case,) = golden_cases("multipletests with NaN")
    family = [float(p) for p in case["input"]]
    for correction in CORRECTIONS:
        adjusted = adjust(family, correction)
        present = adjust([p for p in family if not math.isnan(p)], correction)
        assert [p for p in adjusted if p is not None] == present
        assert [p is None for p in adjusted] == [math.isnan(p) for p in family]


@pytest.mark.parametrize("correction", NAMES)
@settings(deadline=None, max_examples=60)
@given(p_lists)
def test_a_correction_is_statsmodels(correction: str, p_values: list[float]) -> None:
    expected = multipletests(p_values, method=NAMES[correction])[1]
    assert adjust(p_values, correction) == pytest.approx(list(expected), abs=1e-12)


def test_a_family_of_nothing_is_nothing() -> None:
    for correction in CORRECTIONS:
        assert adjust([], correction) == []
        assert adjust([None, float("nan")], correction) == [None, None]


def test_mistakes_are_sentences() -> None:
    with pytest.raises(ValueError, match="there is no correction called 'sidak': choose one of"):
        adjust([0.1], "sidak")
    with pytest.raises(ValueError, match=r"between 0 and 1, not at 1\.5"):
        adjust([0.1, 1.5], "bh")


def test_families_are_corrected_by_holms_method() -> None:
    assert holm_of_families([[0.01], [0.04], [0.02]]) == [[0.03], [0.04], [0.04]]
    assert holm_of_families([[0.01, 0.6], [0.02]]) == [[0.02, 0.6], [0.04]]
    assert holm_of_families([[0.3, 0.2]]) == [[0.3, 0.2]]
