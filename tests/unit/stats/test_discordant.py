"""McNemar's comparison, anytime."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.discordant import DiscordantPairs, share
from tests.support.golden import golden_cases


def test_discordant_pairs_have_the_recorded_evidence() -> None:
    for case in golden_cases("McNemar beta"):
        first, discordant = case["input"]["d1"], case["input"]["d"]
        pairs = DiscordantPairs(first, discordant - first)
        assert pairs.log_e() == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("null", [0.0, 0.7, -1.2])
def test_an_e_value_has_expectation_one_under_its_null(null: float) -> None:
    p = share(null)
    expected = sum(
        comb(12, k) * p**k * (1 - p) ** (12 - k) * exp(DiscordantPairs(k, 12 - k).log_e(null))
        for k in range(13)
    )
    assert expected == pytest.approx(1, abs=1e-9)


def test_an_interval_leaves_out_nothing_that_is_not_rejected() -> None:
    for first, second in product((0, 1, 12, 300), repeat=2):
        pairs = DiscordantPairs(first, second)
        low, high = pairs.interval(0.05)
        for null in np.linspace(-10, 10, 401).tolist():
            if pairs.log_e(null) < log(20):
                assert low is None or low <= null
                assert high is None or null <= high
    assert DiscordantPairs().interval(0.05) == (None, None)


def test_rounds_add_up_and_agreeing_pairs_are_counted() -> None:
    total = DiscordantPairs(3, 1, 10) + DiscordantPairs(2, 2, 5)
    assert total == DiscordantPairs(5, 3, 15)
    assert total.units == 23
    assert total.log_e() == DiscordantPairs(5, 3).log_e()
    with pytest.raises(ValueError, match="at least 0"):
        DiscordantPairs(-1)
