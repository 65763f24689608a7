"""An assertion about a frame passes only where enough of every group was measured."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biaswatch as bw
from biaswatch.shared.errors import UsageError

ASKED: dict[str, Any] = {"group": "g", "feature": "score", "permutations": 0}


def frame(groups: str = "ab", rows: int = 40, **columns: Any) -> pd.DataFrame:
    """Make rows of scores between 0 and 1 that do not differ by group."""
    scores = {
        "g": list(groups) * rows,
        "score": np.repeat(np.arange(rows) / rows, len(groups)),
        "other": 1.0,
    }
    return pd.DataFrame({**scores, **columns})


def without(rows: pd.DataFrame, group: str, keep: int = 0) -> pd.DataFrame:
    """Return the rows with only `keep` scores of a group."""
    gone = rows.index[rows["g"] == group][keep:]
    return rows.assign(score=rows["score"].mask(rows.index.isin(gone)))


EMPTY = frame().assign(score=np.nan)


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        (EMPTY, {}, r"Nothing was measured in 1 comparison \(score: 0 of 40 answers about a"),
        (EMPTY.assign(score=None), {}, "Nothing was measured"),
        (pl.from_pandas(EMPTY), {}, "Nothing was measured"),
        (without(frame("abc"), "c"), {}, r"in 2 of 3 comparisons.*0 of 40 answers about c gave"),
        (without(frame(), "b", 31), {}, "31 of 40 answers about b gave a number"),
        (without(frame("abcdefgh"), "h"), {}, "0 of 40 answers about h gave a number"),
        (frame("a"), {}, "0 answers about any other group of g"),
        (frame(g=None), {}, "0 answers about any group of g"),
        (EMPTY, {"feature": ["other", "score"]}, r"in 1 of 2 comparisons.*score: 0 of 40"),
        (frame(h="x"), {"group": ["g", "h"]}, "0 answers about any other group of h"),
        (frame().assign(d=["m", "n"] * 40), {"domain": "d"}, "0 answers about any other"),
    ],
)
def test_what_was_not_measured_fails_with_the_reason(
    rows: Any, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(AssertionError, match=reason):
        bw.assert_no_disparity(rows, **{**ASKED, **options})


def test_a_fifth_of_a_groups_answers_may_be_missing_and_another_share_may_be_declared() -> None:
    assert not bw.assert_no_disparity(without(frame(), "b", 32), **ASKED).has_disparity
    few = bw.diagnose(without(frame(), "b", 31), **ASKED)
    assert bw.assert_no_disparity(few, min_measured=0.7) is few
    assert [few.check(min_measured=share).code for share in (0.7, 0.8)] == [0, 3]
    with pytest.raises(UsageError, match="pass tolerance to `bw"):
        bw.assert_no_disparity(few, tolerance=0.1)


def test_a_disparity_is_listed_with_the_groups_that_were_not_measured() -> None:
    shifted = frame("abc").assign(score=lambda rows: rows["score"] + 2.0 * (rows["g"] == "b"))
    with pytest.raises(AssertionError) as failed:
        bw.assert_no_disparity(without(shifted, "c"), **ASKED)
    lines = str(failed.value).split("\n")
    assert lines[0] == "1 of 3 comparisons are a disparity:"
    assert "a lower than b, score: a disparity" in lines[1]
    assert "0 of 40 answers about c gave a number" in lines[-1]


def test_a_disparity_that_missing_answers_could_undo_says_so_everywhere() -> None:
    whole = frame(rows=300)
    partial = whole.assign(score=whole["score"].mask((whole["g"] == "b") & (whole["score"] > 0.81)))
    options = {**ASKED, "ranges": {"score": (0.0, 1.0)}}
    diagnosis = bw.diagnose(partial, **options)
    [sentence] = diagnosis.sentences
    assert sentence.endswith(", but the missing answers could undo it.")
    [warning] = diagnosis.warnings
    assert warning == (
        "The missing answers could undo the disparity, were they the least favourable ones: score,"
        " a against b (56 of 600 answers missing)."
    )
    assert "could undo" in str(diagnosis)
    assert "could undo" in diagnosis._repr_html_()
    with pytest.raises(AssertionError, match="but the missing answers could undo it"):
        bw.assert_no_disparity(partial, **options)
    assert diagnosis.check().sentence == (
        "Gate failed: 1 of 1 comparison shows a disparity, but the missing answers could undo it."
    )


def test_a_comparison_with_an_empty_side_is_called_not_measured() -> None:
    sentences = bw.diagnose(without(frame("abc"), "c"), **ASKED).sentences
    assert sum("not measured, no row of c has a value" in sentence for sentence in sentences) == 2


@pytest.mark.parametrize("least", [-1, float("nan"), float("inf")])
def test_a_size_that_no_gap_reaches_by_mistake_is_refused(least: float) -> None:
    shifted = frame().assign(score=lambda rows: rows["score"] + 2.0 * (rows["g"] == "b"))
    with pytest.raises(UsageError, match=r"`least` is .*; write a size of 0 or more"):
        bw.assert_no_disparity(shifted, least=least, **ASKED)
    with pytest.raises(UsageError, match="`min_measured` is nan; write a share"):
        bw.diagnose(shifted, **ASKED).check(min_measured=float("nan"))
