"""A log of answers is measured and diagnosed in one command, without bus and store."""

import json
from pathlib import Path
from typing import Any

import pytest

from biaswatch.cli.log_diagnosis import log_input
from biaswatch.readers.run_tables import RunColumns
from shared.errors import UsageError

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
    path.write_text("\n".join(json.dumps(each) for each in lines))
    return path


def test_answers_are_measured_once_with_their_groups_and_units(log: Path) -> None:
    found = log_input(log, RunColumns(groups=["gender"]), ["words"], None, None)
    assert found.rows.features[0] == "words"
    assert found.rows.values[:-1, 0].tolist() == [1.0, 3.0] * 6
    assert found.rows.groups["gender"] == ["male", "female"] * 6 + ["male"]
    assert len(set(found.rows.unit_codes)) == 5
    assert found.warnings[0] == "1 of 13 answers have no values by words: 1 no answer: timeout."


def test_what_is_not_there_is_named_with_what_is(log: Path) -> None:
    with pytest.raises(UsageError, match=r"The log .* has no field 'race'. There are: .*gender"):
        log_input(log, RunColumns(groups=["race"]), ["words"], None, None)
    with pytest.raises(UsageError, match="There is no extractor 'wordz'"):
        log_input(log, RunColumns(), ["wordz"], None, None)


def test_a_log_without_answers_says_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"custom_id": "1", "response": {"body": {"choices": []}}}))
    with pytest.raises(UsageError, match=r"holds no answer\. Left out: 1 calls without a text"):
        log_input(path, RunColumns(), ["words"], None, None)
