"""Plans for users who are matched in time."""

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.matched_planning import Arrivals, plan_matched
from biaswatch.shared.stats.anytime.planning import PlannedUnits
from biaswatch.shared.stats.anytime.two_groups_planning import plan_two_groups


def plan(effect: float = 0.1, level: float = 0.3, **fields: object) -> PlannedUnits:
    means = level + effect, level
    first, second = ((mean * (1 - mean)) ** 0.5 for mean in means)
    arguments = {"alpha": 0.025, "family": 2, "rng": np.random.default_rng(1), **fields}
    return plan_matched(effect, (first, second), level, **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
def test_no_more_users_are_needed_than_where_all_are_pooled() -> None:
    rates = (0.24**0.5, 0.21**0.5)
    pooled = plan_two_groups(0.1, rates, 0.3, np.random.default_rng(1), alpha=0.025, family=2).units
    assert pooled is not None
    assert 0.7 * pooled < (plan().units or 0) < 1.05 * pooled


def test_unequal_groups_need_about_as_many_as_their_variances_say() -> None:
    equal, unequal = plan().units, plan(arrivals=Arrivals(0.15)).units
    assert equal is not None
    assert unequal is not None
    assert unequal / equal == pytest.approx((1 / 0.15 + 1 / 0.85) / 4, rel=0.2)


def test_who_comes_rarely_finds_fewer_neighbours() -> None:
    assert (plan(arrivals=Arrivals(0.15, 1.0)).units or 0) > 1.2 * (
        plan(arrivals=Arrivals(0.15)).units or 0
    )
    with pytest.raises(ValueError, match="hardly any user has a neighbour"):
        plan(arrivals=Arrivals(0.5, 1e-5))


def test_users_that_cannot_come_are_refused() -> None:
    for share, neighbours in ((0.0, 1.0), (1.0, 1.0), (0.5, 0.0)):
        with pytest.raises(ValueError, match=r"share|without any user"):
            Arrivals(share, neighbours)
    with pytest.raises(ValueError, match="within the tolerance"):
        plan(tolerance=0.2)


def test_values_that_do_not_vary_have_a_plan_too() -> None:
    result = plan_matched(0.25, (0.0, 0.0), 0.5, np.random.default_rng(1), alpha=0.05)
    assert result.units is not None
    assert 10 < result.units < 100
