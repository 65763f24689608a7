"""An extractor that misbehaves on one text costs that text and no other."""

from collections.abc import Mapping, Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.extractor.domain import (
    FunctionExtractor,
    Outcome,
    Reading,
    Unscorable,
    measured_all,
)
from biaswatch.services.extractor.domain.extractor import NOT_FINITE
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.errors import ConfigurationError


def extractor(answers: Mapping[str, Any]) -> FunctionExtractor:
    def measure(text: str) -> Any:
        if isinstance(answers[text], Exception):
            raise answers[text]
        return answers[text]

    return FunctionExtractor("toy", "1", ("x",), "a toy", measure)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (ValueError("the secret text"), "the extractor failed: ValueError"),
        (Unscorable("no words"), "no words"),
        ({"x": nan}, NOT_FINITE),
        ({"x": inf}, NOT_FINITE),
        ({"x": 10**400}, NOT_FINITE),
        ({"x": -2e150}, NOT_FINITE),
        ({"x": True}, NOT_FINITE),
        ({"x": "0.5"}, NOT_FINITE),
        ({"y": 1.0}, "the extractor gave other features than it names"),
        ({"x": 1.0, "y": 1.0}, "the extractor gave other features than it names"),
        ({}, "the extractor gave other features than it names"),
        (None, "the extractor gave other features than it names"),
    ],
)
def test_a_bad_outcome_has_a_reason_and_the_others_their_numbers(bad: Any, reason: str) -> None:
    toy = extractor({"a": {"x": 1}, "bad": bad, "b": {"x": None}})
    result = measured_all(toy, [Reading("a"), Reading("bad"), Reading("b")])
    assert result == [({"x": 1.0}, None), ({}, reason), ({"x": None}, None)]


class Batch(FunctionExtractor):
    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        if any(reading.text == "bad" for reading in readings):
            raise RuntimeError("the whole batch is spoilt")
        return [{"x": 1.0} for _ in readings]


def test_a_text_that_spoils_its_batch_is_found_and_the_others_are_measured() -> None:
    toy = Batch("toy", "1", ("x",), "a toy", lambda _: {})
    result = measured_all(toy, [Reading("a"), Reading("bad"), Reading("b")])
    assert result == [({"x": 1.0}, None), ({}, "the extractor failed: RuntimeError"), result[0]]


FILE = '''"""Exclamation marks."""

VERSION = "1"
FEATURES = ("exclamations",)


def measure(text):
    return {"exclamations": text.count("!")}
'''


def test_a_file_with_one_function_in_a_folder_is_an_extractor(tmp_path: Path) -> None:
    (tmp_path / "exclaims.py").write_text(FILE)
    result = load(["words"], tmp_path)
    assert set(result) == {"words", "exclaims"}
    assert result["exclaims"].measure(Reading("Oh! No!")) == {"exclamations": 2}
    assert result["exclaims"].instrument == "the file exclaims.py"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("VERSION = '1'\n", "has no FEATURES"),
        ("import no_such_library\n", "needs no_such_library"),
        ("1 / 0\n", "cannot be loaded: ZeroDivisionError"),
        ("def build():\n    return object()\n", "object is not an extractor: it has no name"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "odd.py").write_text(text)
    with pytest.raises(ConfigurationError, match=complaint):
        load([], tmp_path)


def test_an_installed_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shouting.py").write_text(FILE)
    about = tmp_path / "shouting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[biaswatch.extractors]\nshouts = shouting\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load(["shouts"])["shouts"].measure(Reading("Hey!")) == {"exclamations": 1}
