"""Remarks beside impact ratios: how often chance alone causes one, and what they allow for."""

import numpy as np
import pytest

from biaswatch.render.ll144 import ImpactFormat, case_document
from biaswatch.shared.stats.studies.local_law_144 import Labels, impact_tables

TABLES = 250


def document(
    scores: list[float | None], labels: dict[str, Labels], least: float | None = None
) -> str:
    tables = impact_tables(scores, labels, selected_at_least=least)
    return case_document("tool", "score", [tables], applicant="a row").as_text(ImpactFormat.MD)


def remarks(text: str) -> list[str]:
    """Return the last cells of the rows of all tables."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row.strip("| ").split("|")[-1].strip() for row in rows]


def counts(selected: dict[str, tuple[int, int]]) -> tuple[list[float | None], dict[str, Labels]]:
    """Return the scores and labels of categories with (applicants, selected)."""
    scores: list[float | None] = [float(k < m) for n, m in selected.values() for k in range(n)]
    return scores, {"race": [name for name, (n, _) in selected.items() for _ in range(n)]}


@pytest.mark.parametrize(
    ("sizes", "rate"),
    [
        ([180] * 10, 0.35),
        ([40, 60, 80, 100, 150, 200, 300, 400, 600, 900], 0.35),
        ([400] + [15] * 13, 0.7),
    ],
    ids=["even", "uneven", "one large"],
)
def test_of_tables_without_any_difference_at_most_5_percent_have_a_remark(
    sizes: list[int], rate: float
) -> None:
    rng = np.random.default_rng(144)
    labels: dict[str, Labels] = {
        "race": [f"c{k}" for k, size in enumerate(sizes) for _ in range(size)]
    }
    false = sum(
        any("more than chance" in remark for remark in remarks(document(scores, labels)))
        for scores in (
            (rng.random(sum(sizes)) < rate).astype(float).tolist() for _ in range(TABLES)
        )
    )
    noise = 2 * np.sqrt(0.05 * 0.95 / TABLES)
    assert false / TABLES <= 0.05 + noise


def test_a_gap_that_two_categories_establish_may_be_chance_among_ten() -> None:
    pair = {"a": (200, 100), "b": (200, 78)}
    among = {**pair, **{f"c{n}": (200, 90) for n in range(8)}}
    two, ten = (document(*counts(selected)) for selected in (pair, among))
    assert "below 0.80; more than chance" in remarks(two)
    assert "below 0.80; may be chance" in remarks(ten)
    assert "| b | 200 | 78 | 39.0 % | 0.78 | 0.62\u20130.97 |" in ten
    assert "allows for comparing every pair of categories" in ten
    large = document(*counts({**among, "b": (200, 40)}))
    assert "below 0.80; more than chance" in remarks(large)


@pytest.mark.parametrize(("applicants", "is_uncertain"), [(1, True), (99, True), (100, False)])
def test_a_highest_rate_of_few_applicants_is_called_uncertain(
    applicants: int, is_uncertain: bool
) -> None:
    text = document(*counts({"a": (applicants, applicants), "b": (30, 10)}))
    plural = "s" * (applicants > 1)
    warning = (
        f"All ratios are to the rate of a. That rate rests on {applicants} applicant{plural}, so"
        " every ratio in this table is uncertain."
    )
    assert (warning in text) is is_uncertain


def test_categories_that_tie_have_the_highest_rate_both() -> None:
    text = document(*counts({"a": (100, 50), "b": (300, 150), "c": (100, 45)}))
    assert remarks(text) == ["remark", "highest rate", "highest rate", "may be chance"]
