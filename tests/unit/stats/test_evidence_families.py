"""Families of e-values, k groups and quick looks."""

from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from shared.stats.anytime.batches import Batch
from shared.stats.anytime.families import (
    anytime_p,
    bonferroni_on_suprema,
    by_on_suprema,
    e_bh,
    e_bh_on_suprema,
    log_adjusted,
)
from shared.stats.anytime.k_groups import OneVersusRest, batches_against_rest
from shared.stats.anytime.moments import (
    Moments,
    interval_of_moments,
    log_e_of_moments,
    screened,
)
from shared.stats.anytime.universal import log_e_of_rates
from tests.support.golden import golden_cases

Case = dict[str, Any]


def moments(given: dict[str, float]) -> tuple[Moments, Moments]:
    a, b = (Moments(int(given["n" + g]), given["m" + g], given["v" + g]) for g in "ab")
    return a, b


def test_recorded_families_come_out() -> None:
    for case in golden_cases("e-BH"):
        assert e_bh([log(e) for e in case["input"]], 0.05) == case["expected"]
    for case in golden_cases("sup-adjuster"):
        found = [exp(log_adjusted(log(s))) for s in case["input"]]
        assert found == pytest.approx(case["expected"], rel=1e-9)


def test_recorded_quick_looks_come_out() -> None:
    for case in golden_cases("mSPRT"):
        found = log_e_of_moments(*moments(case["input"]), scale=case["input"]["tau"])
        assert found == pytest.approx(case["expected"], abs=1e-9)
    for case in golden_cases("asymptotic CS"):
        given = case["input"]
        found_2 = interval_of_moments(*moments(given), alpha=given["alpha"], scale=given["tau"])
        assert found_2 == pytest.approx(case["expected"], abs=1e-9)
    for case in golden_cases("UI beta"):
        assert log_e_of_rates(*case["input"]) == pytest.approx(case["expected"], abs=1e-9)


def test_the_price_of_a_supremum_integrates_to_one() -> None:
    """Over s of A(s) / s^2: what makes it an e-value; in x = ln s the integrand is A e^-x."""
    total = quad(lambda x: exp(log_adjusted(x) - x), 0, 200, limit=500)[0]
    tail = 1 / 200  # beyond, A(s) / s is 1 / x^2
    assert total + tail == pytest.approx(1, abs=1e-4)
    grid = np.linspace(0, 60, 6001)
    assert (np.diff([log_adjusted(float(x)) for x in grid]) > 0).all()
    with pytest.raises(ValueError, match="at least 1"):
        log_adjusted(-0.1)


def test_flags_follow_their_definitions() -> None:
    suprema = [log(s) for s in (1, 50, 300, 2, 900, 15)]
    assert bonferroni_on_suprema(suprema, 0.05) == [False, False, True, False, True, False]
    assert e_bh_on_suprema(suprema, 0.05) == [False] * 6
    assert by_on_suprema(suprema, 0.05) == [False, False, True, False, True, False]
    assert e_bh([log(40)] * 3, 0.05) == [True] * 3
    assert e_bh([], 0.05) == bonferroni_on_suprema([], 0.05) == []
    assert anytime_p(-3.0) == 1
    assert anytime_p(log(20)) == pytest.approx(0.05)


def test_k_groups_add_up_and_average() -> None:
    rng = np.random.default_rng(1)
    ids = [f"set-{i}" for i in range(400)]
    values = rng.beta(2, 5, (400, 4))
    values[:, 2] = np.clip(values[:, 2] + 0.08, 0, 1)
    groups = ["a", "b", "c", "d"]
    whole = OneVersusRest.of(groups, values, ids)
    parts = OneVersusRest.of(groups, values[250:], ids[250:])
    parts += OneVersusRest.of(groups, values[:250], ids[:250])
    assert parts == whole == whole + OneVersusRest.empty(groups)
    each = [one.log_e() for one in whole.pairs]
    assert whole.log_e() == pytest.approx(log(np.mean(np.exp(each))))
    assert e_bh(each, 0.05)[2]
    assert whole.log_e() > whole.log_e_beyond(0.02)
    with pytest.raises(ValueError, match="one finite value per group"):
        OneVersusRest.of(groups, values[:2] * np.nan, ids[:2])


def test_a_groups_gap_is_its_value_less_the_mean_of_the_others() -> None:
    values = np.array([[0.5, 0.25, 0.0, 1.0]] * 50)
    found = OneVersusRest.of(["a", "b", "c", "d"], values, [str(i) for i in range(50)])
    expected = [row - (1.75 - row) / 3 for row in values[0]]
    for one, gap in zip(found.pairs, expected, strict=True):
        assert one.estimate == pytest.approx(gap, abs=1 / 64)


def test_a_group_against_the_rest_is_a_batch() -> None:
    assert batches_against_rest([1, 2, 3], [4, 5, 6]) == [
        Batch(1, 4, 5, 11),
        Batch(2, 5, 4, 10),
        Batch(3, 6, 3, 9),
    ]


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_universal_evidence_expects_at_most_one(rate: float) -> None:
    expected = sum(
        np.prod([rate if x else 1 - rate for x in outcome])
        * exp(log_e_of_rates([sum(outcome[:3]), sum(outcome[3:5]), sum(outcome[5:])], [3, 2, 3]))
        for outcome in product((0, 1), repeat=8)
    )
    assert expected <= 1
    assert log_e_of_rates([0, 0], [0, 0]) == 0


def test_a_quick_interval_is_not_shown_from_few_units() -> None:
    few, many = Moments(199, 0.3, 0.2), Moments(5000, 0.25, 0.2)
    assert screened(few, many, alpha=0.05).low is None
    assert "fewer than 200" in (screened(few, many, alpha=0.05).reason or "")
    shown = screened(many, many, alpha=0.05)
    plain = interval_of_moments(many, many, alpha=0.05)
    assert shown.low is not None
    assert shown.low < plain[0]
    with pytest.raises(ValueError, match="without any variance"):
        log_e_of_moments(Moments(5, 0, 0), Moments(5, 0, 0))
