"""`import biaswatch`: light, typed, and with the numbers of the command line on any frame."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from openpyxl import load_workbook

import biaswatch as bw
from biaswatch.readers.tables import TableColumns
from biaswatch.render.table_rows import result_rows
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.table_diagnosis import diagnose_table
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.groups.registry import parse_statistic
from tests.support.tables import observations

RNG = np.random.default_rng(3)
ROWS = 120
FRAME = pd.DataFrame(
    {
        "gender": ["female", "male"] * (ROWS // 2),
        "rating": RNG.normal(0, 1, ROWS) + np.tile([0.0, 1.5], ROWS // 2),
        "prompt": [f"p{n // 2}" for n in range(ROWS)],
        "wave": [1, 1, 2, 2] * (ROWS // 4),
    }
)
ASKED: dict[str, Any] = {"group": "gender", "feature": "rating", "permutations": 0}


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pandas', 'scipy', 'pydantic', 'matplotlib', 'nats', 'sqlalchemy', 'typer'}"
    code = f"import sys, biaswatch; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_every_name_it_offers_is_there() -> None:
    assert all(getattr(bw, name) is not None for name in bw.__all__)
    assert bw.__version__
    with pytest.raises(AttributeError, match="no attribute 'diagnoze'"):
        _ = bw.diagnoze


def test_a_diagnosis_has_the_numbers_of_the_command_line(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "rows.parquet")
    columns = TableColumns(["gender"], ["rating"], unit="prompt")
    rows, _ = observations(tmp_path / "rows.parquet", columns)
    wanted = diagnose_table(
        rows, [parse_statistic(name, {}) for name in ("mean", "median")], ComparisonPlan(),
        ddof=0, rng=np.random.default_rng(0), permutations=0,
    )  # fmt: skip
    diagnosis = bw.diagnose(FRAME, unit="prompt", **ASKED)
    [row] = diagnosis.parts["comparisons"]
    assert row.pop("findable_gap") > 0
    assert [row] == result_rows(wanted, "prompt")["comparisons"]


def test_pandas_and_arrow_give_the_same_in_frames_of_their_own() -> None:
    of_pandas = bw.diagnose(FRAME, **ASKED)
    of_arrow = bw.diagnose(pa.Table.from_pandas(FRAME), **ASKED)
    assert of_arrow.parts == of_pandas.parts
    assert isinstance(of_pandas.comparisons, pd.DataFrame)
    assert isinstance(of_arrow.comparisons, pa.Table)
    assert of_pandas.comparisons["ci_low"][0] == of_arrow.comparisons["ci_low"][0].as_py()
    for part in ("groups", "disparities", "missing"):
        assert len(getattr(of_pandas, part).columns) > 0


def test_polars_gives_the_same_in_frames_of_its_own() -> None:
    diagnosis = bw.diagnose(pl.from_pandas(FRAME), **ASKED)
    assert diagnosis.parts == bw.diagnose(FRAME, **ASKED).parts
    assert isinstance(diagnosis.comparisons, pl.DataFrame)


def test_a_diagnosis_says_what_it_found_in_words_html_and_a_picture() -> None:
    frame = FRAME.assign(gender=FRAME["gender"].replace("female", "<b>female</b>"))
    diagnosis = bw.diagnose(frame, **ASKED)
    assert diagnosis.has_disparity
    assert "a disparity of" in str(diagnosis)
    html = diagnosis._repr_html_()
    assert "&lt;b&gt;female" in html
    assert "<b>female" not in html
    assert diagnosis.figure().axes


def test_whole_numbers_are_groups_of_the_same_name_in_every_library() -> None:
    asked = {**ASKED, "group": "wave"}
    of_arrow = bw.diagnose(pa.Table.from_pandas(FRAME), **asked)
    assert {row["a"] for row in of_arrow.parts["comparisons"]} == {"1"}
    assert of_arrow.parts == bw.diagnose(FRAME, **asked).parts


@pytest.mark.parametrize(
    ("frame", "changes", "why"),
    [
        ([1, 2], {}, "list is not a frame of pandas, polars or Arrow"),
        (FRAME, {"group": "race"}, "The frame has no column 'race'"),
        (FRAME, {"group": "wave", "feature": "gender"}, "cells are not numbers: 'female'"),
        (FRAME, {"correction": "none"}, "none"),
        (FRAME, {"feature": None}, "Name columns of the frame"),
        (FRAME, {"group": "rating"}, "rating is a feature, so it cannot be a group or random"),
        (FRAME, {"random": ["rating"]}, "rating is a feature, so it cannot be a group or random"),
        (FRAME, {"ranges": {"rate": (1, 5)}}, "`ranges` names 'rate', which is not among the"),
        (pd.concat([FRAME, FRAME], axis=1), {}, "Several columns of the frame have one name"),
    ],
)
def test_a_slip_is_one_sentence(frame: Any, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        bw.diagnose(frame, **{**ASKED, **changes})


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        (pd.date_range("2026-01-01", periods=ROWS, tz="UTC"), "rating holds dates, not numbers"),
        (pd.to_timedelta(range(ROWS), unit="s"), "rating holds durations, not numbers"),
        ([1 + 2j] * ROWS, "rating holds complex numbers"),
        ([2**60 + n for n in range(ROWS)], "row 2, column rating: a whole number of 19 digits"),
        (1e15 + np.arange(ROWS) % 4, "the values are alike in their first 12 digits"),
        ([10**30] * ROWS, "row 1, column rating: a whole number of 31 digits would be rounded"),
    ],
)
def test_values_that_would_become_other_numbers_are_refused(ratings: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        bw.diagnose(FRAME.assign(rating=ratings), **ASKED)


def test_domains_without_two_groups_are_named() -> None:
    diagnosis = bw.diagnose(FRAME, domain="gender", **ASKED)
    sentence = "No domain has two groups of gender: there is nothing to compare."
    assert sentence in diagnosis.warnings


def test_whole_numbers_that_a_float_holds_are_compared() -> None:
    diagnosis = bw.diagnose(FRAME.assign(rating=[2**60 * (n % 2) for n in range(ROWS)]), **ASKED)
    assert diagnosis.comparisons["gap"].iloc[0] == -(2**60)


def test_a_table_of_counts_has_measures_a_sentence_and_html() -> None:
    result = bw.table(10, 40, 25, 25, groups=("women", "men"))
    assert result.odds_ratio == pytest.approx(0.25)
    assert result.relative_risk == pytest.approx(0.4)
    assert str(result).startswith("women 0.2 against men 0.5: a disparity")
    assert "odds ratio" in result._repr_html_()
    assert bw.table(0, 0, 1, 1).odds_ratio is None
    with pytest.raises(UsageError):
        bw.table(-1, 2, 3, 4)


def test_texts_are_measured_in_this_process() -> None:
    measurements = bw.measure(["One two.", None], ["words"])
    assert measurements["words.words"].tolist()[0] == 2
    assert measurements["words.missing"].isna().tolist() == [True, False]
    assert measurements["words.missing"][1] == "no answer"
    assert isinstance(bw.measure(["x"], "words", backend="pyarrow"), pa.Table)
    with pytest.raises(UsageError, match="no extractor 'wordz'"):
        bw.measure(["x"], "wordz")


def test_the_reasoning_in_a_text_is_not_measured() -> None:
    texts = ["<think>One two three.</think> Four five.", "<think>One two", "One `<think>` two."]
    measurements = bw.measure(texts, ["words"])
    assert measurements["words.words"].fillna(-1).tolist() == [2, -1, 3]
    assert measurements["words.missing"][1] == "no answer: truncated"


def test_an_assertion_fails_with_the_gap_in_words() -> None:
    with pytest.raises(AssertionError, match=r"(?s)1 of 1 comparisons.*female lower than male"):
        bw.assert_no_disparity(FRAME, **ASKED)
    assert bw.assert_no_disparity(FRAME, **ASKED, least=5).has_disparity
    same = FRAME.assign(rating=FRAME["wave"].astype(float))
    assert not bw.assert_no_disparity(same, **ASKED).has_disparity


def test_a_diagnosis_is_shown_as_its_counts_and_its_strongest_gap_comes_first() -> None:
    frame = pd.DataFrame({"group": list("abc") * 30, "score": [1.0, 2.0, 5.0] * 30})
    frame["score"] += np.random.default_rng(0).normal(0, 0.5, 90)
    diagnosis = bw.diagnose(frame, group="group", feature="score")
    lead, *sentences = repr(diagnosis).splitlines()
    assert lead == "<FrameDiagnosis: Disparity in 3 of 3 comparisons.>"
    assert sentences[: len(diagnosis.sentences)] == diagnosis.sentences
    assert diagnosis.sentences[0].startswith("a lower than c")
    assert len(diagnosis.sentences) == len(diagnosis.comparisons)


def test_many_comparisons_are_shown_as_twenty_lines() -> None:
    groups = [f"g{number}" for number in range(25)]
    frame = pd.DataFrame({"group": groups * 10, "score": np.tile(np.arange(25.0), 10)})
    shown = repr(bw.diagnose(frame, group="group", feature="score")).splitlines()
    assert len(shown) == 20
    assert shown[-1].endswith("more lines: print() shows all.")


def test_a_workbook_begins_with_the_result_and_the_columns_that_matter(tmp_path: Path) -> None:
    diagnosis = bw.diagnose(FRAME.assign(gender=FRAME["gender"] + "\x01"), **ASKED)
    diagnosis.write(tmp_path / "gaps.xlsx")
    book = load_workbook(tmp_path / "gaps.xlsx")
    assert book.sheetnames[:2] == ["result", "comparisons"]
    result = list(book["result"].values)
    assert result[0] == ("result", "Disparity in the only comparison.")
    assert ("intervals", "95 % intervals.") in result
    sheet = book["comparisons"]
    titles, row = sheet.values
    assert titles[:5] == ("feature", "a", "b", "summary_gap", "summary_ci_low")
    [low] = diagnosis.comparisons["summary_ci_low"]
    assert row[4] == pytest.approx(low)
    assert None not in row
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", sheet.dimensions)
    assert sheet["A1"].font.bold


def test_a_workbook_explains_every_column_of_its_comparisons(tmp_path: Path) -> None:
    twins = pd.read_csv("examples/ratings.csv")
    diagnosis = bw.diagnose(twins, group="name", feature="rating", set="set", unit="prompt")
    diagnosis.write(tmp_path / "gaps.xlsx")
    book = load_workbook(tmp_path / "gaps.xlsx")
    _, *meanings = book["columns"].values
    explained = {name for _, names, _ in meanings for name in names.split(", ")}
    assert {cell.value for cell in book["comparisons"][1]} <= explained
    assert set(diagnosis.comparisons) <= explained


def test_files_name_columns_as_frames_do(tmp_path: Path) -> None:
    diagnosis = bw.diagnose(FRAME, **ASKED)
    diagnosis.write(tmp_path / "gaps.csv")
    diagnosis.write(tmp_path / "gaps.parquet")
    names = set(diagnosis.comparisons.columns)
    assert set(pd.read_csv(tmp_path / "gaps.csv").columns) == names
    assert set(pd.read_parquet(tmp_path / "gaps.parquet").columns) == names
    groups = pd.read_parquet(tmp_path / "gaps.summary.parquet")
    assert set(groups.columns) == set(diagnosis.groups.columns)


def test_a_picture_shows_one_deficit_in_one_direction(tmp_path: Path) -> None:
    frame = pd.DataFrame({"group": ["a", "b", "c"] * 40, "score": RNG.normal(0, 0.1, 120)})
    frame["score"] -= frame["group"] == "b"
    diagnosis = bw.diagnose(frame, group="group", feature="score")
    diagnosis.write(tmp_path / "gaps.svg")
    svg = (tmp_path / "gaps.svg").read_text()
    for words in (
        "a \u2212 b",
        "c \u2212 b",
        "first group higher \u2192",
        "corrected for 3 comparisons",
    ):
        assert words in svg
    bw.diagnose(frame, group="group", feature="score", reference="a").write(tmp_path / "gaps.svg")
    svg = (tmp_path / "gaps.svg").read_text()
    assert "b \u2212 a" in svg
    assert "b \u2212 c" in svg


def test_a_file_of_an_unknown_kind_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(bw.UsageError, match=r"\.pdf"):
        bw.diagnose(FRAME, **ASKED).write(tmp_path / "gaps.pdf")
