"""A suite whose prompts name a scale that it does not declare."""

from pathlib import Path

import pytest

from biaswatch.readers.suite_names import shipped_suites
from biaswatch.readers.suites import load_suite, undeclared_range
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.contracts.probe import MeasuredPart


def suite(prompt: str, **fields: object) -> Suite:
    probe = SuiteProbe(key="a", prompt=prompt)
    given = {"name": "own", "extractors": ("rating",), "probes": (probe,), **fields}
    return Suite.model_validate(given)


@pytest.mark.parametrize(
    "prompt",
    ["Rate from 1 to 5.", "Give a rating on a scale of 1-5", "Score it, 1 (bad) to 5 (good)."],
)
def test_a_named_scale_is_pointed_out(prompt: str) -> None:
    assert "rating: [1, 5]" in str(undeclared_range(suite(prompt)))
    assert undeclared_range(suite(prompt, ranges={"rating": (1, 5)})) is None
    assert undeclared_range(suite(prompt, extractors=("words",))) is None


@pytest.mark.parametrize("prompt", ["Rate it.", "In the years 2010 to 2015, what changed?"])
def test_other_numbers_are_no_scale(prompt: str) -> None:
    assert undeclared_range(suite(prompt)) is None


@pytest.mark.parametrize("path", shipped_suites().values(), ids=lambda path: path.stem)
def test_our_own_suites_declare_what_their_answers_need(path: Path) -> None:
    shipped = load_suite(path)
    assert undeclared_range(shipped) is None
    parts = {part.value for part in MeasuredPart} & set(shipped.extractors)
    assert parts == ({shipped.needs.value} if shipped.needs else set())
    if shipped.needs is MeasuredPart.RATING:
        assert "rating" in shipped.ranges
    if shipped.needs is MeasuredPart.CHOICE:
        assert shipped.options
