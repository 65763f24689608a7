"""Statistics and distances by functions of a user, named as module:function."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from biaswatch.cli.application import app
from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.extractors.embedding_distance import EmbeddingDistanceExtractor
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.user_functions import user_function

MODULE = """
def span(values):
    return values.max() - values.min()

def broken(values):
    raise RuntimeError("no")

def largest_step(a, b):
    return abs(a - b).max()
"""
TABLE = "group,score\na,1\na,4\na,2\nb,5\nb,\nb,7\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diagnose(statistic: str) -> Result:
    words = ["diagnose", "t.csv", "--group", "group", "--feature", "score", "--json"]
    return CliRunner().invoke(app, [*words, "--config", f"statistic={statistic}"])


def test_the_command_line_shows_a_statistic_of_the_user_by_group(folder: Path) -> None:
    rows = json.loads(diagnose("mine:span").output)["summary"]
    values = {
        row["group"]["group"]: row["value"] for row in rows if row["statistic"] == "mine:span"
    }
    assert values == {"a": 3.0, "b": 2.0}


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("mine:broken", "RuntimeError: no"),
        ("mine:missing", "has no function"),
        ("absent_module:f", "cannot be imported"),
        ("mine:span(1)", "is not of the form"),
    ],
)
def test_a_function_that_cannot_be_used_is_a_mistake(
    folder: Path, reference: str, problem: str
) -> None:
    result = diagnose(reference)
    assert isinstance(result.exception, UsageError)
    assert problem in str(result.exception)


def test_a_distance_of_the_user_is_a_feature(folder: Path) -> None:
    vectors = {"one": np.array([1.0, 0.0]), "two": np.array([0.6, 0.8])}
    extractor = EmbeddingDistanceExtractor(
        "m", lambda texts: [vectors[text] for text in texts],
        own_distance=user_function("mine:largest_step"), distance_name="mine:largest_step",
    )  # fmt: skip
    values = extractor.measure(Reading("one", baseline="two"))
    assert set(values) == set(extractor.features)
    assert values["own_distance"] == pytest.approx(0.8)
    assert values["cosine_distance"] == pytest.approx(0.4)
    assert values["l2_distance"] == pytest.approx(np.hypot(0.4, 0.8))


def test_a_distance_that_fails_makes_a_text_unscorable(folder: Path) -> None:
    extractor = EmbeddingDistanceExtractor(
        "m", lambda texts: [np.ones(2) for _ in texts],
        own_distance=user_function("mine:span"), distance_name="mine:span",
    )  # fmt: skip
    [outcome] = extractor.measure_all([Reading("one", baseline="two")])
    assert isinstance(outcome, Unscorable)
    assert "mine:span failed: TypeError" in str(outcome)


def test_a_reference_without_a_function_is_refused() -> None:
    with pytest.raises(UsageError, match="module:function"):
        user_function("os.system")
