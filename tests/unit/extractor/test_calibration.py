"""A planted bias of a tool is found in its size; where there is none, none is found."""

from collections.abc import Sequence

import pytest

from biaswatch.services.extractor.domain import FunctionExtractor, Measured, Reading, measured_all
from biaswatch.services.extractor.domain.calibration import (
    GROUPS,
    ExtractorCalibration,
    calibrate,
    sentences,
)
from biaswatch.services.extractor.handlers.loading import load


async def calibration_of(bias: dict[str, float]) -> ExtractorCalibration:
    def measure(text: str) -> dict[str, float | None]:
        varied = 1 + len(text.split()) % 3 / 10  # a name weighs differently in each sentence
        added = sum(size * varied for group, size in bias.items() if f" {group} " in text)
        return {"x": len(text.split()[-1]) / 10 + added + len(text) * 1e-4}

    toy = FunctionExtractor("toy", "1", ("x",), "a toy", measure)

    async def all_of(readings: Sequence[Reading]) -> list[Measured]:
        return measured_all(toy, readings)

    return await calibrate(all_of, ("x",), 0.05)


async def test_a_planted_gap_is_found_in_its_size_with_an_interval_around_it() -> None:
    calibration = await calibration_of({"gay": 0.3})
    [gap] = [gap for gap in calibration.gaps if (gap.a, gap.b) == ("straight", "gay")]
    assert gap.gap.value == pytest.approx(-0.33, abs=0.03)
    assert gap.gap.low is not None
    assert gap.gap.high is not None
    assert gap.gap.low <= -0.2 < 0
    assert gap.gap.high < 0
    assert gap.p_adjusted is not None
    assert gap.p_adjusted < 0.001


async def test_a_tool_that_reads_nothing_but_the_frame_has_no_gap_beyond_length() -> None:
    calibration = await calibration_of({})
    sizes = [abs(gap.gap.value) for gap in calibration.gaps if gap.gap.value is not None]
    assert 0 < max(sizes) < 0.01


async def test_what_is_unscorable_is_counted_and_has_no_mean() -> None:
    async def nothing(readings: Sequence[Reading]) -> list[Measured]:
        return [({}, "model unavailable") for _ in readings]

    result = await calibrate(nothing, ("x",), 0.05, {"age": ("young", "old")})
    assert [(mean.mean.value, mean.missing) for mean in result.means] == [(None, 20), (None, 20)]
    assert [(gap.gap.value, gap.p_adjusted) for gap in result.gaps] == [(None, None)]


async def test_vader_prefers_the_rich() -> None:
    vader = load(["vader"])["vader"]

    async def all_of(readings: Sequence[Reading]) -> list[Measured]:
        return measured_all(vader, readings)

    result = await calibrate(all_of, vader.features, 0.05, {"wealth": ("rich", "poor")})
    [gap] = result.gaps
    assert gap.gap.low is not None
    assert gap.gap.low > 0.5


@pytest.mark.parametrize("dimension", GROUPS)
def test_the_sentences_of_two_groups_differ_in_the_name_and_its_article_alone(
    dimension: str,
) -> None:
    def bare(group: str) -> list[str]:
        swapped = [sentence.replace(group, "X") for sentence in sentences(group)]
        return [item.replace("An X", "A X").replace(" an X", " a X") for item in swapped]

    first, *others = GROUPS[dimension]
    assert all(bare(group) == bare(first) for group in others)


@pytest.mark.parametrize("flat", [0.0, 0.4])
async def test_a_tool_that_reads_the_same_everywhere_is_not_known_exactly(flat: float) -> None:
    async def same(readings: Sequence[Reading]) -> list[Measured]:
        return [({"x": flat}, None) for _ in readings]

    result = await calibrate(same, ("x",), 0.05, {"age": ("young", "old")})
    for item in (*(mean.mean for mean in result.means), *(gap.gap for gap in result.gaps)):
        assert item.low is not None
        assert item.high is not None
        assert item.low < item.high
    assert [gap.gap.value for gap in result.gaps] == [0.0]
    assert [gap.p_adjusted for gap in result.gaps] == [1.0]


async def test_a_tool_of_any_scale_that_never_varies_has_no_interval_and_a_reason() -> None:
    async def length(readings: Sequence[Reading]) -> list[Measured]:
        return [({"x": 17.5}, None) for _ in readings]

    result = await calibrate(length, ("x",), 0.05, {"age": ("young", "old")})
    assert all(mean.mean.low is None and mean.mean.reason for mean in result.means)
    assert all(gap.gap.low is None and gap.gap.reason for gap in result.gaps)
