"""Strata on a page: added up over windows, with intervals that stay within what is possible."""

from biaswatch.shared.analysis.monitors.strata_views import StrataView, strata_view
from biaswatch.shared.contracts import Described, Estimate, StratumUsers
from biaswatch.shared.presentation.monitor_tables import strata_table, strata_table_of
from biaswatch.shared.presentation.plots import strata_plot
from tests.support.records import make_evidence

LAST = 128
"""The place of the largest difference."""


def described(*strata: StratumUsers) -> Described:
    return Described(
        extractor="rating", feature="rating", dimension="race", groups=(), strata=strata
    )


def users(topic: str, first: int, second: int, matches: int = 0) -> StratumUsers:
    return StratumUsers(
        facts=(topic, "en") if topic else (),
        first={64: first} if first else {},
        second={0: second} if second else {},
        matched=(matches, matches),
        differences={LAST: matches} if matches else {},
    )


def view(*windows: Described) -> StrataView:
    evidence = make_evidence(unadjusted=Estimate(value=0.4, low=0.1, high=0.7))
    return strata_view(evidence, "rating", ("topic", "language"), windows, (3, 7), 0.05)


def test_windows_add_up_and_the_largest_stratum_stands_first() -> None:
    strata = view(
        described(users("billing", 2, 3, 1)),
        described(users("returns", 9, 9, 8), users("billing", 1, 0)),
    )
    returns, billing = strata.strata
    assert returns.facts == {"topic": "returns", "language": "en"}
    assert (billing.first_users, billing.second_users, billing.matches) == (3, 3, 1)
    assert (strata.since_round, strata.last_round) == (3, 7)
    assert returns.first_mean.value == 100
    assert returns.second_mean.value == 0


def test_equal_values_have_an_interval_that_stays_within_the_range() -> None:
    [strata] = view(described(users("billing", 12, 12, 12))).strata
    for gap in (strata.adjusted, strata.unadjusted):
        assert gap.value == 100
        assert gap.low is not None
        assert gap.high is not None
        assert -100 <= gap.low < 100
        assert gap.high == 100


def test_a_stratum_without_neighbours_says_so_and_has_no_zero() -> None:
    [strata] = view(described(users("billing", 4, 0))).strata
    assert strata.adjusted.value is None
    assert strata.adjusted.reason == "no users of both groups were neighbours"
    assert strata.unadjusted.value is None
    [row] = strata_table([view(described(users("billing", 4, 0)))]).rows
    assert row[0].note == strata.adjusted.reason
    assert row[7].plain is None


def test_smaller_strata_together_stand_last_and_the_picture_holds_all() -> None:
    strata = view(described(users("", 50, 50, 3), users("billing", 2, 3, 2)))
    assert [row.facts for row in strata.strata][-1] == {}
    plot = strata_plot(strata)
    assert [row.name for row in plot.rows] == ["all strata", "billing, en", "all smaller strata"]
    ends = [end for row in plot.rows for end in (row.low, row.value, row.high, row.ring)]
    assert all(0 <= end <= 1000 for end in ends if end is not None)


def test_the_columns_of_one_comparison_are_called_by_its_groups() -> None:
    strata = view(described(users("billing", 4, 5, 2)))
    a, b = strata.groups
    titles = [row.title for row in strata_table_of(strata).columns]
    assert titles[1:3] == [f"{a}, users", f"{b}, users"]
    assert titles[5:7] == [f"mean of {a}", f"mean of {b}"]
    assert [row.title for row in strata_table([strata]).columns][1:3] == [
        *("first group", "second group")
    ]
