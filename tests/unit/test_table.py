"""The verb `table` as a person types it."""

import json
import sys
from typing import Any

import pytest

from biaswatch.main import main

ESTIMATES = ("odds_ratio", "odds_ratio_conditional", "relative_risk", "risk_difference")


@pytest.fixture
def biaswatch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("COLUMNS", "160")

    def typed(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["biaswatch", "table", *words])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return typed


def test_json_has_every_key_a_reader_may_count_on(biaswatch: Any) -> None:
    code, out, _ = biaswatch("10", "20", "30", "40", "--json")
    body = json.loads(out)
    assert code == 0
    assert body["n"] == 100
    for name in ESTIMATES:
        assert set(body[name]) == {"estimate", "ci", "method", "reason"}
        assert body[name]["ci"][0] < body[name]["estimate"] < body[name]["ci"][1]
    assert {"statistic", "dof", "p_value", "yates", "min_expected"} <= set(body["chi_square"])
    assert body["fisher"]["p_value"] == pytest.approx(0.5044757698516285, abs=1e-9)
    assert set(body["impact_ratio"]) == {"estimate", "ci", "reason"}
    assert body["warnings"] == []


def test_options_reach_the_statistics(biaswatch: Any) -> None:
    words = ("10", "20", "30", "40", "--json", "--yates", "--alpha", "0.2", "--min-cases", "31")
    _, out, _ = biaswatch(*words)
    body = json.loads(out)
    assert body["chi_square"]["yates"] is True
    assert body["chi_square"]["statistic"] == pytest.approx(0.4464285714285714, abs=1e-9)
    assert body["odds_ratio"]["ci"][0] > 0.3  # narrower than at 0.05
    assert body["warnings"] == ["Fewer than 31 cases of group 1 (30): too few for a finding."]


def test_an_undefined_number_is_null_with_a_reason(biaswatch: Any) -> None:
    code, out, _ = biaswatch("0", "10", "0", "10", "--json")
    body = json.loads(out)
    assert code == 0
    assert body["odds_ratio"]["estimate"] is None
    assert body["odds_ratio"]["ci"] is None
    assert body["impact_ratio"]["reason"] == "no case is selected in either group"
    assert body["fisher"]["p_value"] is None


def test_an_infinite_bound_is_null_within_the_interval(biaswatch: Any) -> None:
    _, out, _ = biaswatch("15", "0", "7", "8", "--json")
    low, high = json.loads(out)["odds_ratio_conditional"]["ci"]
    assert low == pytest.approx(2.583369069748059, rel=1e-6)
    assert high is None


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        (("10", "20", "30", "40"), ("0.778", "0.438 to 1.38", "chi-square (counts)")),
        (("5", "5", "0", "10"), ("∞", "infinite", "Fisher, exact (counts)", "of group 1 (10)")),
        (("0", "0", "3", "2"), ("group 1 has no cases",)),
    ],
)
def test_people_read_tables(
    biaswatch: Any, counts: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    code, out, _ = biaswatch(*counts)
    assert code == 0
    for words in shown:
        assert words in out


def test_the_verdict_and_every_sentence_name_the_groups(biaswatch: Any) -> None:
    _, out, _ = biaswatch("40", "60", "20", "80", "--groups", "women,men")
    text = " ".join(out.split())
    assert "women 0.4 against men 0.2: a disparity (risk difference 0.2 [0.0731, 0.319]" in text
    assert "rate of women" in text
    _, out, _ = biaswatch("4", "6", "0", "0", "--groups", "women,men")
    text = " ".join(out.split())
    assert "women 0.4 against men -: inconclusive" in text
    assert "men has no cases" in text
    assert "group 1" not in text.lower()


def test_a_p_value_too_small_to_be_computed_is_never_zero(biaswatch: Any) -> None:
    counts = ("4000", "0", "0", "8000")
    _, out, _ = biaswatch(*counts)
    assert "p < 0.0001" in out
    body = json.loads(biaswatch(*counts, "--json")[1])
    assert body["chi_square"]["p_value"] is None
    assert "smaller than 1e-300" in body["chi_square"]["p_value_reason"]
    assert body["verdict"] == "disparity"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "A table needs four counts A B C D, but got 0."),
        (("1", "2", "3"), "A table needs four counts A B C D, but got 3."),
        (("1", "2", "3.5", "4"), "C must be a whole number, not '3.5'."),
        (("-1", "2", "3", "4"), "A is -1, but a count cannot be negative."),
        (("1", "2", "3", "nan"), "D must be a whole number, not 'nan'."),
        (("1", "2", "3", "4", "--alpha", "0"), "alpha is 0, but"),
        (("1", "2", "3", "4", "--alpha", "nan"), "alpha is nan, but"),
        (("1", "2", "3", "4", "--alpha", "five"), "--alpha: this must be a number."),
        (("1", "2", "3", "4", "--min-cases", "-1"), "The minimum of cases is -1, but"),
        (("1", "2", "3", "4", "--min-cases", "x"), "--min-cases: this must be a whole number."),
        (("1", "2", "3", "4", "--yate"), "There is no option --yate"),
        (("1" + "0" * 30, "2", "3", "4"), "A is 1000000000000000000000000000000, but"),
    ],
)
def test_a_mistake_ends_in_one_sentence(
    biaswatch: Any, words: tuple[str, ...], sentence: str
) -> None:
    code, out, text = biaswatch(*words)
    assert code == 2
    assert out == ""
    assert text.startswith(f"biaswatch: {sentence}")
    assert text.count("\n") == 1
