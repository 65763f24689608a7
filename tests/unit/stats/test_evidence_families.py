"""Families of e-values."""

from math import log
from typing import Any

from biaswatch.shared.stats.anytime.judging import e_bh
from tests.support.golden import golden_cases

Case = dict[str, Any]


def test_recorded_families_come_out() -> None:
    for case in golden_cases("e-BH"):
        assert e_bh([log(e) for e in case["input"]], 0.05) == case["expected"]


def test_flags_follow_their_definitions() -> None:
    assert e_bh([log(40)] * 3, 0.05) == [True] * 3
    assert e_bh([], 0.05) == []
