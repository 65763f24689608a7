"""Samples to label are drawn from a file of readings as they would be from all of them at once."""

from io import BytesIO

import numpy as np
import pytest

from biaswatch.shared.analysis.labels import read_columns
from biaswatch.shared.analysis.labels.drawing import dimension_of, label_sample, uniform_of
from biaswatch.shared.analysis.labels.read_columns import ReadAnswer, ReadColumns, groups_of
from biaswatch.shared.contracts import LabelDraw, LabelSample, derived_id
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import SampleRequest
from tests.support.labelled_studies import AT
from tests.support.records import make_run

RUN = make_run()
NUMBER = ("judge", "x", "gender")


def answers(seed: int, count: int = 900) -> list[ReadAnswer]:
    """Return answers of three groups, some without one, by two targets."""
    rng = np.random.default_rng(seed)
    result = []
    for number in range(count):
        groups = {"gender": f"g{rng.integers(3)}"} if rng.random() < 0.9 else {}
        if rng.random() < 0.3:
            groups["age"] = "old"
        target, value = f"t{rng.integers(2)}", float(np.clip(rng.normal(0.3, 0.4), 0, 1))
        id_, unit = derived_id("response", seed, number), f"user {rng.integers(200)}"
        result.append(ReadAnswer(id_, target, "direct", groups, value, unit))
    return result


def drawn(some: list[ReadAnswer], draw: LabelDraw, wanted: int = 120) -> LabelSample:
    request = SampleRequest(feature="x", wanted=wanted, draw=draw)
    return label_sample(RUN, NUMBER, ReadColumns(some, BytesIO()), request, None, AT)


def expected_ids(some: list[ReadAnswer], draw: LabelDraw, stratum: int, n: int) -> list[str]:
    """Return what sequential Poisson sampling takes of one group, in its order."""
    key = [(target, f"g{group}") for target in ("t0", "t1") for group in range(3)][stratum]
    own = [item for item in some if (item.target, item.groups.get("gender")) == key]
    sizes = np.ones(len(own))
    if draw is LabelDraw.UNCERTAINTY:
        unsure = np.array([np.sqrt(item.value * (1 - item.value)) for item in own])
        sizes = 0.5 + 0.5 * unsure / unsure.mean()
    values = np.array([uniform_of(RUN.id, "judge", "x", item.response_id) for item in own])
    return [own[place].response_id for place in np.argsort(values / sizes)[:n]]


@pytest.mark.parametrize("draw", LabelDraw)
@pytest.mark.parametrize("together", [7, 100, 10_000])
def test_the_first_of_each_group_are_drawn_however_many_are_read_together(
    draw: LabelDraw, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_columns, "WRITTEN_TOGETHER", together)
    batch = answers(1)
    sample = drawn(batch, draw)
    assert [item.drawn for item in sample.strata] == [20] * 6
    for number, stratum in enumerate(sample.strata):
        own = [item for item in sample.drawn if item.stratum == number]
        assert [e.response_id for e in own] == expected_ids(batch, draw, number, 20)
        if draw is LabelDraw.EVEN:
            assert {item.probability for item in own} == {20 / stratum.answers}
            assert stratum.least_probability == 20 / stratum.answers


def test_a_smaller_sample_begins_a_larger_one_and_a_small_group_is_taken_whole() -> None:
    batch = answers(2)
    few, many = (drawn(batch, LabelDraw.UNCERTAINTY, wanted) for wanted in (60, 240))
    assert {item.response_id for item in few.drawn} < {item.response_id for item in many.drawn}
    whole = drawn(batch[:90], LabelDraw.UNCERTAINTY, 500)
    assert {item.probability for item in whole.drawn} == {1.0}
    assert len(whole.drawn) == sum(item.answers for item in whole.strata)


def test_what_is_planned_with_is_counted_in_the_same_way() -> None:
    batch = answers(3)
    result = groups_of(ReadColumns(batch, BytesIO()), "gender")
    for name, group in result.items():
        own = [item for item in batch if item.groups.get("gender") == name]
        assert group.answers == len(own)
        assert group.units == len({item.unit for item in own})
        assert group.variance == pytest.approx(np.var([item.value for item in own], ddof=1))
    assert [*result] == ["g0", "g1", "g2"]
    alone = groups_of(ReadColumns(batch[:1], BytesIO()), next(iter(batch[0].groups)))
    assert [item.variance for item in alone.values()] == [None]


@pytest.mark.parametrize(
    ("values", "scale", "choices"),
    [
        ([1.0, 4.0, 5.0], (1, 5), (1, 2, 3, 4, 5)),
        ([1.0, 4.5, 5.0], None, None),
        ([0.0, 0.25, 1.0], (0, 1), ()),
        ([0.0, 1.0, 1.0], (0, 1), (0, 1)),
        ([-1.0, 0.5, 1.0], (-1, 1), ()),
        ([0.0, 3.5, 400.0], None, None),
    ],
)
def test_readings_say_their_scale_by_themselves_or_the_user_is_asked(
    values: list[float], scale: tuple[float, float] | None, choices: tuple[float, ...] | None
) -> None:
    batch = [
        ReadAnswer(derived_id("response", number), "t", "direct", {"gender": "a"}, value)
        for number, value in enumerate(values)
    ]
    if scale is None:
        with pytest.raises(UsageError, match="add --scale LOW:HIGH"):
            drawn(batch, LabelDraw.EVEN)
        return
    sample = drawn(batch, LabelDraw.EVEN)
    assert ((sample.low, sample.high), sample.choices) == (scale, choices)


def test_a_grouping_that_no_answer_has_is_refused_with_those_there_are() -> None:
    read = ReadColumns(answers(4), BytesIO())
    with pytest.raises(UsageError, match="The answers have: age, gender"):
        dimension_of(read.dimensions, None)
    assert dimension_of(read.dimensions, "age") == "age"
    request = SampleRequest(feature="x")
    with pytest.raises(UsageError, match="No answer of the run has a reading"):
        label_sample(RUN, ("judge", "x", "hair"), read, request, None, AT)
