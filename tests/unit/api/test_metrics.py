"""Metrics of your own: a function of a text, measured like an extractor of the package."""

import doctest
from typing import Any

import pandas as pd
import polars as pl
import pytest

import biaswatch as bw
from biaswatch.api import tables


@bw.metric
def exclamations(text: str) -> float:
    return text.count("!")


@bw.metric
def failing(text: str) -> float:
    return 1 / text.count("?")


def test_metrics_have_their_columns_beside_those_of_extractors() -> None:
    measured = bw.measure(["I cannot help!!", None], ["refusal", exclamations])
    assert measured["refusal.refused"][0] == 1
    assert measured["exclamations.value"][0] == 2
    assert measured["exclamations.missing"][1] == "no answer"


def test_a_failing_metric_leaves_the_text_without_a_value() -> None:
    measured = bw.measure(["Why?", "No."], failing)
    assert measured["failing.value"].tolist()[0] == 1
    assert measured["failing.missing"][1] == (
        "the extractor failed: ZeroDivisionError: division by zero"
    )


def test_the_error_of_a_metric_is_shown_on_one_bounded_line() -> None:
    @bw.metric
    def loud(text: str) -> float:
        raise ValueError(f"no number in\n{text}")

    [reason] = bw.measure(["a " * 500], loud)["loud.missing"]
    assert reason.startswith("the extractor failed: ValueError: no number in a a a")
    assert len(reason) <= 80


@pytest.mark.parametrize("library", [pd, pl])
def test_a_whole_table_is_a_mistake(library: Any) -> None:
    frame = library.DataFrame({"id": [1], "text": ["Sure!"]})
    assert bw.measure(frame["text"], exclamations)["exclamations.value"].tolist() == [1]
    with pytest.raises(bw.UsageError, match=r"Pass the texts, such as frame\['text'\], not the"):
        bw.measure(frame, exclamations)


def test_no_extractor_is_a_mistake() -> None:
    with pytest.raises(bw.UsageError, match="Name an extractor"):
        bw.measure(["a text"], [])


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(tables).failed == 0
