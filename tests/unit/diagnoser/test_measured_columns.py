"""Columns of a run say what its responses say, whatever comes when."""

import random
import tracemalloc

import numpy as np
import pytest

from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredColumns,
    MeasuredResponse,
    diagnose,
    folded,
)
from biaswatch.shared.analysis.findings.measured_responses import (
    by_extractor,
    dimensions_of,
    observations_of,
)
from biaswatch.shared.analysis.findings.observations import coded

RANGES = {"rating": (1.0, 5.0)}


def response(luck: random.Random, extractor: str, number: int) -> MeasuredResponse:
    groups = {"race": luck.choice("abc")} if luck.random() < 0.9 else {}
    values = {
        "rating": luck.choice([None, 1.0, 3.0, 9.0]),
        **({"length": luck.random()} if number > 20 and luck.random() < 0.5 else {}),
    }
    return MeasuredResponse(
        target=luck.choice(["one", "other"]), scaffold="direct", extractor=extractor,
        unit=f"p{luck.randrange(40)}", set=luck.choice([None, "", "s1", "s2", "s10"]),
        groups={**groups, **({"age": "old"} if luck.random() < 0.5 else {})},
        values=values if luck.random() < 0.9 else {}, why_missing=luck.choice([None, "refused"]),
        strata={"topic": luck.choice("xy")},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_the_observations_of_the_responses(seed: int) -> None:
    luck = random.Random(seed)
    responses = [response(luck, luck.choice(["rating", "words"]), n) for n in range(300)]
    columns = folded(iter(responses))
    lists = by_extractor(responses)
    assert len(columns) == len(lists) == 4
    for result, some in zip(columns, lists, strict=True):
        names = ("rating", "length")
        expected = observations_of(
            some, {name: [item.values.get(name) for item in some] for name in names}, RANGES
        )
        seen = result.observations(names, RANGES)
        np.testing.assert_array_equal(seen.values, expected.values)
        np.testing.assert_array_equal(seen.unit_codes, expected.unit_codes)
        np.testing.assert_array_equal(seen.set_codes, coded(_none_for_empty(some))[0])
        assert result.dimensions == dimensions_of(some) == tuple(seen.groups)
        for dimension, labels in expected.groups.items():
            assert list(seen.groups[dimension]) == list(labels)
        assert [result.why_missing(row) for row in range(result.rows)] == [
            item.why_missing or "undefined" for item in some
        ]
        assert list(result.by_stratum.observations(names).groups["topic"]) == [
            item.strata["topic"] for item in some
        ]


def _none_for_empty(responses: list[MeasuredResponse]) -> list[str | None]:
    return [response.set or None for response in responses]


def test_a_feature_that_no_response_has_is_missing_everywhere() -> None:
    [result] = folded([response(random.Random(1), "rating", 0)])
    assert isinstance(result, MeasuredColumns)
    assert np.isnan(result.column("tone")).all()
    assert result.rows == 1


def test_no_responses_make_no_columns() -> None:
    assert folded([]) == []


def test_observations_of_all_features_are_the_columns_themselves_and_nobody_changes_them() -> None:
    [result] = folded([response(random.Random(1), "rating", 0)])
    values = result.observations(result.features).values
    assert np.shares_memory(values, result.numbers)
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1.0


def test_a_question_more_of_a_large_run_takes_a_few_numbers_of_memory() -> None:
    few, many = most_bytes(70_000), most_bytes(110_000)  # beyond what is worked on at once
    assert (many - few) / 40_000 < 260


def most_bytes(questions: int) -> int:
    """Return the most that is in memory while a run of so many questions is diagnosed."""
    luck = random.Random(1)
    [columns] = folded(
        MeasuredResponse(
            target="t", scaffold="direct", unit=f"p{n}", set=f"s{n // 4}",
            groups={"region": "nesw"[n % 4]}, extractor="words", why_missing=None,
            values={name: luck.random() for name in ("words", "sentences", "length", "mean")},
        )
        for n in range(questions)
    )  # fmt: skip
    tracemalloc.start()
    diagnose([columns], AnalysisPlan(permutations=1), np.random.default_rng(1))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most
