"""The comparisons of `diagnose` in a terminal: no number is broken, however wide it is."""

import io
from typing import Any

import pytest
from rich.console import Console

from biaswatch.render.table_diagnosis import comparison_table


def row(**fields: Any) -> dict[str, Any]:
    columns = {
        "feature": "score", "domain": None, "a": "female", "b": "nonbinary", "gap": -0.2164,
        "ci": [-0.3191, -0.0994], "p_adjusted": 1.5e-5, "p_reason": None, "effect_size": -0.8251,
        "effect_size_ci": [-1.1234, -0.5294], "summary": "inconclusive", "reason": None,
        "survives_missing": None, "n_a": 30, "n_b": 30,
        "same_treatment": None, "p_same_treatment": None, "same_treatment_reason": "no sets",
        "group_effect": None, "p_group_effect": None, "group_effect_reason": "no factor",
        "verdict": "inconclusive", "headline": "gap", "scope": "", "twin_rate": None,
        "placebo_rate": None, "effect_size_reason": None, "method": "t", "summary_method": "t",
        "p_summary": None,
        **fields,
    }  # fmt: skip
    return columns | {"summary_gap": columns["gap"], "summary_ci": columns["ci"]}


def printed(width: int, *rows: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    table = comparison_table(rows, "95 %", width, everything=True)
    Console(file=out, width=width).print(table)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_gap_and_effect_size_stand_whole_beside_their_intervals(width: int) -> None:
    lines = printed(width, row())
    assert any("-0.216 [-0.319, -0.0994]" in line for line in lines)
    assert any("-0.825 [-1.12, -0.529]" in line for line in lines)
    assert any("< 0.0001" in line for line in lines)
    assert max(map(len, lines)) <= width


def test_a_wide_terminal_gives_each_comparison_one_line() -> None:
    assert len(printed(160, row(), row())) == 4  # the heading has two


def test_why_there_is_no_interval_folds_at_words() -> None:
    reason = "nothing varies, and the range of values is not declared: declare it with --range"
    lines = printed(80, row(gap=None, ci=None, reason=reason, effect_size=None))
    assert max(map(len, lines)) <= 80
    assert "declared:" in " ".join(lines)


def test_the_verdict_says_what_missing_answers_could_undo_and_what_was_not_measured() -> None:
    doubted = row(summary="disparity", survives_missing=False)
    output = " ".join(" ".join(printed(160, doubted, row(gap=None, ci=None, n_b=0))).split())
    assert "disparity, but the missing answers could undo it" in output
    assert "not measured" in output


@pytest.mark.parametrize("width", [80, 120])
def test_each_question_with_an_answer_has_a_column_with_its_own_p_value(width: int) -> None:
    answered = row(same_treatment="differs", p_same_treatment=0.012, group_effect="not shown",
                   p_group_effect=0.34, twin_rate=0.6, placebo_rate=0.2)  # fmt: skip
    output = " ".join(" ".join(printed(width, answered)).split())
    for part in ("twins", "p = 0.012", "placebo 20 %", "not shown", "p = 0.34"):
        assert part in output
    assert "twins" not in " ".join(printed(width, row()))
