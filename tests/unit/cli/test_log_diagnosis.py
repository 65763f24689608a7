"""A log of answers is measured and diagnosed in one command, without bus and store."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biaswatch.diagnosis.logs import log_input
from biaswatch.readers.run_observations import RunColumns
from biaswatch.shared.errors import UsageError

ANSWERS: list[dict[str, Any]] = [
    {"id": str(n), "text": "One two three." if n % 2 else "One.", "unit": f"u-{n % 4}",
     "groups": {"gender": "female" if n % 2 else "male"}, "model": "m"}
    for n in range(12)
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    silent = {"id": "s", "reason": "timeout", "groups": {"gender": "male"}}
    lines = [*ANSWERS, ANSWERS[0], silent]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_answers_are_measured_once_with_their_groups_and_units(log: Path) -> None:
    result = log_input(log, RunColumns(groups=["gender"]), ["words"], None, None)
    assert result.rows.features[0] == "words"
    assert result.rows.values[:-1, 0].tolist() == [1.0, 3.0] * 6
    assert result.rows.groups["gender"] == ["male", "female"] * 6 + ["male"]
    assert len(set(result.rows.unit_codes)) == 5
    assert result.warnings[0] == "1 of 13 answers have no values by words: 1 no answer: timeout."


def test_what_is_not_there_is_named_with_what_is(log: Path) -> None:
    with pytest.raises(UsageError, match=r"The log .* has no field 'race'. Known fields: .*gender"):
        log_input(log, RunColumns(groups=["race"]), ["words"], None, None)
    with pytest.raises(UsageError, match="There is no extractor 'wordz'"):
        log_input(log, RunColumns(), ["wordz"], None, None)


def test_a_log_without_answers_says_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"custom_id": "1", "response": {"body": {"choices": []}}}))
    with pytest.raises(UsageError, match=r"holds no answer\. Left out: rows without an answer"):
        log_input(path, RunColumns(), ["words"], None, None)


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({"groups": {"g": "a"}}, "Row 1 has groups."),
        ({"id": "7", "unit": "u"}, "Row 1 has id, unit."),
        ({}, "Row 1 is empty."),
    ],
)
def test_only_fields_of_the_file_are_named(
    tmp_path: Path, row: dict[str, Any], fields: str
) -> None:
    (path := tmp_path / "log.jsonl").write_text(f"{json.dumps(row)}\n" * 2)
    with pytest.raises(UsageError) as refused:
        log_input(path, RunColumns(), ["words"], None, None)
    assert f" {fields} Name the answer's field in a map" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "unit"), [("log.jsonl", "1e18"), ("log.jsonl", '"1.15292e+18"'), ("log.csv", "1e+18")]
)
def test_units_that_lost_their_digits_are_named(tmp_path: Path, name: str, unit: str) -> None:
    lines = [f'{{"text": "a {n}", "unit": {unit}, "groups": {{"g": "a"}}}}' for n in range(4)]
    if name.endswith("csv"):
        lines = ["text,unit,groups.g", *(f"a {n},{unit},a" for n in range(4))]
    (path := tmp_path / name).write_text("\n".join(lines))
    result = log_input(path, RunColumns(groups=["g"]), ["words"], None, None)
    assert result.warnings[0].startswith("Values of unit are floats too large to be exact")
    assert len(set(result.rows.unit_codes)) == 1


def test_a_log_in_utf16_asks_for_utf8(tmp_path: Path) -> None:
    (path := tmp_path / "log.jsonl").write_text('{"text": "a"}', encoding="utf-16")
    with pytest.raises(UsageError, match=r"it is not text in UTF-8; save it in UTF-8"):
        log_input(path, RunColumns(), ["words"], None, None)


def test_dates_in_the_parts_of_a_text_do_not_make_their_cell_the_answer(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "One two.", "at": datetime(2026, 5, 1, tzinfo=UTC)}]
    rows = [{"text": parts, "groups": {"g": "a"}} for _ in range(2)]
    pd.DataFrame(rows).to_csv(path := tmp_path / "log.csv", index=False)
    result = log_input(path, RunColumns(groups=["g"]), ["words"], None, None)
    assert result.rows.values[:, 0].tolist() == [2.0, 2.0]
