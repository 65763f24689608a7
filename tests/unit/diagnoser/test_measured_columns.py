"""Columns of a run say what its responses say, whatever comes when."""

import random

import numpy as np
import pytest

from services.diagnoser.domain.findings import MeasuredColumns, MeasuredResponse, folded
from services.diagnoser.domain.findings.observations import (
    by_extractor,
    coded,
    dimensions_of,
    observations_of,
)

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
    for found, some in zip(columns, lists, strict=True):
        names = ("rating", "length")
        expected = observations_of(
            some, {name: [each.values.get(name) for each in some] for name in names}, RANGES
        )
        seen = found.observations(names, RANGES)
        np.testing.assert_array_equal(seen.values, expected.values)
        np.testing.assert_array_equal(seen.unit_codes, expected.unit_codes)
        np.testing.assert_array_equal(seen.set_codes, coded(_none_for_empty(some))[0])
        assert found.dimensions == dimensions_of(some) == tuple(seen.groups)
        for dimension, labels in expected.groups.items():
            assert list(seen.groups[dimension]) == list(labels)
        assert [found.why_missing(row) for row in range(found.rows)] == [
            each.why_missing for each in some
        ]
        assert list(found.by_stratum.observations(names).groups["topic"]) == [
            each.strata["topic"] for each in some
        ]


def _none_for_empty(responses: list[MeasuredResponse]) -> list[str | None]:
    return [each.set or None for each in responses]


def test_a_feature_that_no_response_has_is_missing_everywhere() -> None:
    [found] = folded([response(random.Random(1), "rating", 0)])
    assert isinstance(found, MeasuredColumns)
    assert np.isnan(found.column("tone")).all()
    assert found.rows == 1


def test_no_responses_make_no_columns() -> None:
    assert folded([]) == []
