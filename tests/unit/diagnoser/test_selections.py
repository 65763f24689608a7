"""The four-fifths rule counts units: several a set, with repeats, and with answers missing."""

import pytest

from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundScope,
)
from biaswatch.shared.analysis.monitors.selections import impact_ratio_of, selection_rates_of
from biaswatch.shared.contracts import (
    Claim,
    Comparison,
    SelectionRates,
    WatchedFeature,
    WatchedPair,
)

ALPHA = 0.05
RATING = WatchedFeature(extractor="x", feature="rating", low=1, high=5, selected_at_least=3)
COMPARISON = Comparison(watched=RATING, pair=WatchedPair(dimension="race", a="black", b="white"))
BANK = RoundScope(Claim.BANK, 0)
Rated = tuple[str, str, str, float | None]
"""Set, unit, group and rating; one line a repeat."""


def counts_of(
    *given: Rated, comparison: Comparison = COMPARISON, scope: RoundScope = BANK
) -> Counts:
    planned = [
        PlannedAnswer(set_, unit, {"race": group}, f"{number:032x}")
        for number, (set_, unit, group, _) in enumerate(given)
    ]
    values = [None if rating is None else {"rating": rating} for *_, rating in given]
    answers = RoundAnswers(planned, {"x": values})
    return counted([COMPARISON], answers, BANK)[0][COMPARISON.key].counts


def rates(*numbers: int) -> SelectionRates:
    names = ("first_selected", "first_units", "second_selected", "second_units")
    return SelectionRates(**dict(zip(names, numbers, strict=True)))


def demo_set(name: str, black: tuple[float, float], white: tuple[float, float]) -> list[Rated]:
    """Return one set of a suite that crosses race with another dimension: two units a race."""
    return [
        (name, f"{name}/{group}/{n}", group, rating)
        for group, ratings in (("black", black), ("white", white))
        for n, rating in enumerate(ratings)
    ]


def test_sets_with_several_units_a_group_are_counted_unit_by_unit() -> None:
    counts = counts_of(*demo_set("cv1", (2, 2), (3, 4)), *demo_set("cv2", (4, 1), (5, 2)))
    assert selection_rates_of(counts) == rates(1, 4, 3, 4)
    ratio = impact_ratio_of(counts, ALPHA)
    assert ratio is not None
    assert ratio.value == pytest.approx((1 / 4) / (3 / 4))
    assert ratio.reason is None


def test_repeats_of_a_prompt_are_one_unit_selected_by_their_mean() -> None:
    counts = counts_of(
        ("s", "u1", "black", 1), ("s", "u1", "black", 4), ("s", "u1", "black", 5),
        ("s", "u2", "white", 3), ("s", "u2", "white", 2), ("s", "u2", "white", 3),
    )  # fmt: skip
    assert selection_rates_of(counts) == rates(1, 1, 0, 1)
    ratio = impact_ratio_of(counts, ALPHA)
    assert ratio is not None
    assert (ratio.value, ratio.reason) == (
        None, "none of the second group's 1 units was selected"
    )  # fmt: skip


def test_a_missing_answer_is_neither_selected_nor_left_out_of_the_doubt() -> None:
    whole = [demo_set(f"cv{n}", (2, 3), (4, 4)) for n in range(60)]
    lacking = [(*item[:-1], (*item[-1][:-1], None)) for item in whole]
    full, less = (counts_of(*(row for item in sets for row in item)) for sets in (whole, lacking))
    assert selection_rates_of(less) == rates(60, 120, 60, 60)
    with_all, with_some = impact_ratio_of(full, ALPHA), impact_ratio_of(less, ALPHA)
    assert with_all is not None
    assert with_some is not None
    assert with_some.value == pytest.approx(0.5)
    assert with_all.high is not None
    assert with_some.high is not None
    assert with_some.high > with_all.high
    # The missing units may all have been refused: then the rates are equal.
    assert with_some.high >= 1.0


def test_a_repeat_that_is_missing_leaves_a_unit_open_only_where_it_could_decide() -> None:
    sure = counts_of(
        ("s", "u1", "black", 5), ("s", "u1", "black", None), ("s", "u2", "white", 4)
    )  # fmt: skip
    open_ = counts_of(
        ("s", "u1", "black", 4), ("s", "u1", "black", None), ("s", "u2", "white", 4)
    )  # fmt: skip
    assert "selection_shares_first_most" not in sure
    assert "selection_shares_first_most" in open_
    assert selection_rates_of(open_) == rates(1, 1, 1, 1)


def test_groups_without_any_answer_have_no_ratio_and_a_reason() -> None:
    ratio = impact_ratio_of(counts_of(("s", "u1", "black", None), ("s", "u2", "white", 4)), ALPHA)
    assert ratio is not None
    assert (ratio.value, ratio.reason) == (None, "no unit of the first group has an answer")
    assert impact_ratio_of({"counts": (0, 1, 0)}, ALPHA) is None


def test_sets_with_one_group_are_in_no_ratio() -> None:
    counts = counts_of(("alone", "u0", "black", 1), *demo_set("cv1", (3, 3), (3, 3)))
    assert selection_rates_of(counts) == rates(2, 2, 2, 2)


def test_where_sets_differ_in_units_the_interval_holds_the_ratio_of_units() -> None:
    """Sets weigh the same in the interval: one large set alone would be another number."""
    small = [demo_set(f"s{n}", (3, 3), (1, 1)) for n in range(200)]
    large = [
        ("large", f"large/{group}/{n}", group, 1.0 if group == "black" else 5.0)
        for group in ("black", "white")
        for n in range(4000)
    ]
    counts = counts_of(*(row for item in small for row in item), *large)
    ratio = impact_ratio_of(counts, ALPHA)
    assert ratio is not None
    assert ratio.value is not None
    assert ratio.low is not None
    assert ratio.low <= ratio.value
