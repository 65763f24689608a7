"""Rates and impact ratios against plain fractions, and the example in the law's rules."""

from fractions import Fraction

import numpy as np
import pytest

from biaswatch.shared.stats.studies.local_law_144 import ImpactTable, applicant_score, impact_tables

EXAMPLES = {
    "by sex": ({"Male": (1390, 667), "Female": (1181, 555)}, ["48.0", "47.0"], ["1.00", "0.98"]),
    "by sex, proposed": (
        {"Male": (92, 50), "Female": (76, 34)},
        ["54.3", "44.7"],
        ["1.00", "0.82"],
    ),
    # The rules print 64.2 for 18 of 28: they cut off there, and round everywhere else.
    "by race, proposed": (
        {
            "Hispanic": (28, 18),
            "White": (40, 15),
            "Black": (32, 16),
            "NHPI": (8, 5),
            "Asian": (24, 10),
        },
        ["64.3", "37.5", "50.0", "62.5", "41.7"],
        ["1.00", "0.58", "0.78", "0.97", "0.65"],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_law_s_rules_come_out(name: str) -> None:
    counts, rates, ratios = EXAMPLES[name]
    labels = [group for group, (n, _) in counts.items() for _ in range(n)]
    scores = [float(k < selected) for n, selected in counts.values() for k in range(n)]
    [table] = impact_tables(scores, {"g": labels}, selected_at_least=1).tables
    rows = {row.categories[0]: row for row in table.rows}
    assert [f"{100 * rows[group].rate:.1f}" for group in counts] == rates
    assert [f"{rows[group].impact_ratio:.2f}" for group in counts] == ratios


def test_a_small_category_is_left_out_of_the_ratios_unless_that_is_switched_off() -> None:
    scores, labels = [1.0, *[1.0, 0.0] * 50], ["rare", *["large"] * 100]

    def rows(small_share: float) -> ImpactTable:
        arguments = impact_tables(
            scores, {"g": labels}, selected_at_least=1, small_share=small_share
        )
        return arguments.tables[0]

    large, rare = rows(0.02).rows
    assert (large.impact_ratio, rare.impact_ratio, rare.rate) == (1, None, 1)
    assert rare.reason == "left out: under 2 % of 101 applicants"
    large, rare = rows(0).rows
    assert (large.impact_ratio, rare.impact_ratio, rare.reason) == (0.5, 1, None)
    with pytest.raises(ValueError, match=r"not in \[0, 1\)"):
        rows(1)


@pytest.mark.parametrize("percent", [2, 7, 14, 29, 57])
def test_a_category_of_exactly_the_small_share_takes_part(percent: int) -> None:
    labels = ["small"] * percent + ["large"] * (100 - percent)
    [table] = impact_tables(
        [1.0] * 100, {"g": labels}, selected_at_least=1, small_share=percent / 100
    ).tables
    assert [row.reason for row in table.rows if row.categories == ("small",)] == [None]


def test_a_selection_in_a_small_category_alone_is_not_called_none() -> None:
    scores, labels = [1.0, *[0.0] * 100], ["rare", *["large"] * 100]
    [table] = impact_tables(scores, {"g": labels}, selected_at_least=1).tables
    large, rare = table.rows
    assert (rare.rate, rare.impact_ratio, large.impact_ratio) == (1.0, None, None)
    assert large.reason == "no applicant passes the threshold in any category that is large enough"
    [alone] = impact_tables([0.0, 1.0], {"g": ["a", "a"]}, selected_at_least=1).tables
    assert [(row.rate, row.impact_ratio) for row in alone.rows] == [(0.5, 1.0)]


@pytest.mark.parametrize("decision", [0.0, 1.0])
def test_decisions_that_are_all_the_same_are_selections(decision: float) -> None:
    tables = impact_tables([decision, decision, None], {"g": ["a", "b", "b"]})
    assert (tables.measure, tables.threshold) == ("selection", 1.0)
    assert [row.rate for row in tables.tables[0].rows] == [decision, decision]


def odd_people(rng: np.random.Generator) -> tuple[list[float | None], dict[str, list[str | None]]]:
    """Return any number of applicants: few categories or many, ties, nobody or everybody chosen."""
    n = int(rng.choice([1, 2, 7, 50, 150, 400]))
    few = rng.choice([1, 2, 3])
    tied = float(rng.choice([0, 1, 2])) if rng.random() < 0.2 else None
    scores = [
        None if rng.random() < 0.1 else tied if tied is not None else float(rng.integers(0, 3))
        for _ in range(n)
    ]
    kinds = {"sex": ["f", "m", "Unknown ", None][: few + 1], "race": [*"abcdefg", "N/A", None]}
    weights = {name: rng.dirichlet(np.full(len(of), 0.4)) for name, of in kinds.items()}
    labels: dict[str, list[str | None]] = {
        name: [of[int(k)] for k in rng.choice(len(of), n, p=weights[name])]
        for name, of in kinds.items()
    }
    return scores, labels


@pytest.mark.parametrize("seed", range(50))
def test_odd_tables_are_those_of_plain_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = odd_people(rng)
    least = None if seed % 2 else float(rng.integers(0, 4))
    share = Fraction(int(rng.choice([0, 2, 2, 7])), 100)
    tables = impact_tables(scores, labels, selected_at_least=least, small_share=float(share))
    present = sorted(score for score in scores if score is not None)
    if least is None and present and set(present) <= {0, 1}:
        least = 1.0
    middle = (
        (present[(len(present) - 1) // 2] + present[len(present) // 2]) / 2 if present else None
    )
    for table in tables.tables:
        counts: dict[tuple[str, ...], list[int]] = {}
        unknown = 0
        for place, score in enumerate(scores):
            categories = [labels[name][place] for name in table.dimensions]
            if score is None or middle is None:
                continue
            if any(item in {None, "Unknown ", "N/A"} for item in categories):
                unknown += 1
                continue
            own = counts.setdefault(tuple(str(item) for item in categories), [0, 0])
            own[0] += 1
            own[1] += score > middle if least is None else score >= least
        assert table.unknown == unknown
        total = sum(n for n, _ in counts.values())
        takes_part = {key: Fraction(n, total) >= share for key, (n, _) in counts.items()}
        rates = {key: Fraction(k, n) for key, (n, k) in counts.items()}
        highest = max((rates[key] for key, large in takes_part.items() if large), default=0)
        assert [row.categories for row in table.rows] == sorted(counts)
        for row in table.rows:
            assert [row.applicants, row.selected] == counts[row.categories]
            assert row.rate == float(rates[row.categories])
            if takes_part[row.categories] and highest:
                assert row.impact_ratio is not None
                exact = rates[row.categories] / highest
                assert row.impact_ratio == pytest.approx(float(exact), rel=1e-15)
                assert 0 <= row.impact_ratio <= 1
                assert row.reason is None
            else:
                assert row.impact_ratio is None
                assert row.reason


def test_an_unknown_category_is_counted_and_is_no_category() -> None:
    labels = ["a", " unknown", "Prefer not to say", None, "", "b", "x"]
    tables = impact_tables([1.0] * 7, {"g": labels}, selected_at_least=1, unknown_labels={"x"})
    assert [row.categories for row in tables.tables[0].rows] == [("a",), ("b",)]
    assert tables.tables[0].unknown == 5
    assert tables.unknown_labels == (" unknown", "Prefer not to say", "x")
    declined = impact_tables([1.0] * 7, {"g": labels}, selected_at_least=1)
    assert [row.categories for row in declined.tables[0].rows] == [("a",), ("b",), ("x",)]


def test_the_median_is_that_of_all_scores_also_of_unknown_categories() -> None:
    tables = impact_tables([1.0, 2.0, 9.0, 9.0, None], {"g": ["a", "b", None, None, "a"]})
    assert (tables.measure, tables.threshold, tables.without_score) == ("scoring", 5.5, 1)
    assert [row.selected for row in tables.tables[0].rows] == [0, 0]
    assert {row.reason for row in tables.tables[0].rows} == {
        "no applicant passes the threshold in any category"
    }
    empty = impact_tables([None], {"g": ["a"]})
    assert (empty.threshold, empty.tables[0].rows) == (None, ())


def test_scores_of_0_and_1_say_who_was_selected() -> None:
    tables = impact_tables([1.0, 1.0, 1.0, 0.0, None], {"g": ["a", "a", "b", "b", "b"]})
    assert (tables.measure, tables.threshold) == ("selection", 1)
    assert [(row.rate, row.impact_ratio) for row in tables.tables[0].rows] == [(1, 1), (0.5, 0.5)]


def test_a_mean_of_equal_scores_is_that_score_in_any_order() -> None:
    assert applicant_score([0.7] * 10) == 0.7
    assert applicant_score([0.1, 0.2, 0.3]) == applicant_score([0.3, 0.2, 0.1])
    assert applicant_score([None, float("nan")]) is None
    assert applicant_score([4.0, None, 2.0]) == 3


@pytest.mark.parametrize(
    "label", ["Decline to state", "declined", "Prefer not to answer", "I do not wish to say", "?"]
)
def test_applicants_who_decline_to_answer_are_of_no_category(label: str) -> None:
    result = impact_tables([1, 0, 1, 1], {"sex": ["Female", "Female", "Male", label]})
    [table] = result.tables
    assert [row.categories for row in table.rows] == [("Female",), ("Male",)]
    assert (table.unknown, result.unknown_labels) == (1, (label,))
