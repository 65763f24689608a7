"""Charts of the dashboard: what is drawn lies where its numbers say."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from biaswatch.services.gateway.dashboard.routes import operations_of
from biaswatch.shared.contracts import Estimate, Verdict
from biaswatch.shared.presentation.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    TOP,
    Axis,
    evidence_chart,
    gap_chart,
    padded_axis,
    ticks,
    time_ticks,
)
from biaswatch.shared.requests.monitor_views import (
    MAX_EVIDENCE,
    History,
    HistoryPoint,
    histories_of,
    rounds_shown,
)
from tests.support.records import AT, make_evidence


def history(*gaps: Estimate, epochs: Sequence[int] = (), tolerance: float = 0.1) -> History:
    moments = [
        HistoryPoint(
            round=n,
            epoch=epochs[n] if epochs else 0,
            at=AT + timedelta(hours=n),
            units=n,
            gap=gap,
            log_e=float(n),
            log_supremum=float(n),
            bound=5.0,
            verdict=Verdict.INCONCLUSIVE,
        )
        for n, gap in enumerate(gaps)
    ]
    return History(comparison="x.y:g:a-b", tolerance=tolerance, moments=moments)


def heights(points: str) -> list[float]:
    return [float(point.split(",")[1]) for point in points.split()]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 10.0, [0, 2, 4, 6, 8, 10]),
        (-0.13, 0.12, [-0.1, -0.05, 0.0, 0.05, 0.1]),
        (-1e-7, 3e-7, [-1e-7, 0.0, 1e-7, 2e-7, 3e-7]),
        (990.0, 1010.0, [990, 995, 1000, 1005, 1010]),
    ],
)
def test_axes_are_labelled_by_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected, abs=1e-12)


def test_a_scale_goes_from_its_start_to_its_end_and_cuts_off_what_lies_outside() -> None:
    scale = Axis(0.0, 10.0, 100.0, 0.0)
    assert [scale.at(value) for value in (0.0, 2.5, 10.0, 99.0, -99.0)] == [100, 75, 0, 0, 100]
    alike = padded_axis([3.0, 3.0], 0, 1)
    assert alike.low < 3.0 < alike.high


def test_a_larger_gap_is_drawn_higher_within_its_band_and_the_frame() -> None:
    chart = gap_chart(
        history(*(Estimate(value=v, low=v - 0.2, high=v + 0.2) for v in (0.1, 0.3, 0.5))), "t"
    )
    [line], [band] = chart.lines, chart.bands
    drawn, around = heights(line), heights(band)
    assert drawn == sorted(drawn, reverse=True)
    for n, middle in enumerate(drawn):
        assert TOP <= around[n] < middle < around[-1 - n] <= HEIGHT - BOTTOM
    assert line.split(",")[0] == f"{LEFT:.1f}"
    assert chart.tolerance is not None
    assert chart.tolerance[0] < chart.levels[0].at < chart.tolerance[1]


def test_an_epoch_begins_a_line_of_its_own() -> None:
    gap = Estimate(value=0.1, low=0.0, high=0.2)
    chart = gap_chart(history(gap, gap, gap, epochs=(0, 0, 1)), "t")
    assert [len(line.split()) for line in chart.lines] == [2, 1]
    assert len(chart.bands) == 2
    assert len(chart.epoch_starts) == 1


def test_gaps_without_a_number_are_left_out_and_ends_without_bound_reach_the_edge() -> None:
    chart = gap_chart(history(Estimate(reason="no units"), Estimate(value=0.2, low=0.1)), "t")
    assert len(chart.lines[0].split()) == 1
    assert min(heights(chart.bands[0])) == TOP


def test_no_line_goes_over_rounds_whose_gap_is_undefined() -> None:
    there, none = Estimate(value=0.1, low=0.0, high=0.2), Estimate(reason="no units")
    chart = gap_chart(history(there, there, none, there), "t")
    assert [len(line.split()) for line in chart.lines] == [2, 1]


def test_the_interval_of_a_single_round_can_be_seen() -> None:
    chart = gap_chart(history(Estimate(value=0.1, low=-0.5, high=0.9)), "t")
    [band] = chart.bands
    corners = {float(point.split(",")[0]) for point in band.split()}
    assert max(corners) - min(corners) == 6
    assert max(heights(band)) - min(heights(band)) > 100


@pytest.mark.parametrize("length_s", [120.0, 5 * 3600.0, 3 * 86400.0, 400 * 86400.0])
def test_time_is_labelled_by_few_different_moments(length_s: float) -> None:
    begin = AT.timestamp()
    labels = [tick.label for tick in time_ticks(Axis(begin, begin + length_s, 0, 1))]
    assert 1 <= len(set(labels)) == len(labels) <= 5


def test_a_point_has_the_numbers_of_its_round() -> None:
    gap = Estimate(value=0.1, low=0.0, high=0.2)
    [first, *_] = gap_chart(history(gap, gap), "t").points
    assert "round 0: gap 0.1 [0, 0.2]" in first.title


def test_rounds_lie_where_their_moments_are() -> None:
    shown = history(*[Estimate(value=0.0, low=-1, high=1)] * 3)
    late = shown.moments[2].model_copy(update={"at": AT + timedelta(hours=10)})
    chart = gap_chart(shown.model_copy(update={"moments": [*shown.moments[:2], late]}), "t")
    first, second, third = (point.x for point in chart.points)
    assert third - second > 8 * (second - first)


def test_without_a_tolerance_nothing_is_shaded() -> None:
    assert gap_chart(history(Estimate(value=0.0), tolerance=0.0), "t").tolerance is None


def test_evidence_is_drawn_with_the_bound_that_alarms() -> None:
    chart = evidence_chart(history(*[Estimate(value=0.0)] * 8), "t")
    [bound] = chart.bounds
    assert (bound.start, bound.end) == (chart.left, chart.right)
    drawn = heights(chart.lines[0])
    assert [height < bound.at for height in drawn] == [n > 5 for n in range(8)]


def test_each_stretch_of_rounds_has_the_bound_that_held_in_it() -> None:
    same = history(*[Estimate(value=0.0)] * 6)
    moments = [
        point.model_copy(update={"bound": 5.0 if n < 4 else 7.0})
        for n, point in enumerate(same.moments)
    ]
    chart = evidence_chart(same.model_copy(update={"moments": moments}), "t")
    first, second = chart.bounds
    assert first.at > second.at
    assert chart.left == first.start < first.end == second.start < second.end == chart.right
    assert first.end == chart.points[4].x


def test_histories_begin_with_what_is_nearest_to_an_alarm() -> None:
    weak = [make_evidence(round=n, log_supremum=0.1) for n in range(3)]
    [history_] = histories_of(reversed(weak))
    assert [moment.round for moment in history_.moments] == [0, 1, 2]
    assert history_.comparison == weak[0].comparison_key


def test_the_more_comparisons_the_fewer_rounds_are_shown_at_once() -> None:
    assert rounds_shown(1) == MAX_EVIDENCE
    assert rounds_shown(MAX_EVIDENCE // 3) == 3
    assert rounds_shown(10**9) == 2


def test_the_table_of_the_api_names_what_is_taken_and_given() -> None:
    one = {"$ref": "#/components/schemas/Run"}
    many = {"type": "array", "items": one}
    described = {
        "paths": {
            "/v1/runs": {
                "post": {
                    "summary": "Start",
                    "requestBody": {"content": {"application/json": {"schema": one}}},
                    "responses": {"201": {"content": {"application/json": {"schema": many}}}},
                },
                "get": {
                    "summary": "x",
                    "description": "Lists.\n\nRaises\n------\nNotFoundError\n    None is there.",
                    "responses": {"204": {}},
                },
            }
        }
    }
    get, post = operations_of(described)
    assert (get.method, get.does, get.takes, get.gives) == ("GET", "Lists.", "", "")
    assert (post.takes, post.gives) == ("Run", "list of Run")


def test_a_body_of_several_kinds_is_called_by_all_of_them() -> None:
    kinds = [{"$ref": "#/components/schemas/Asked"}, {"$ref": "#/components/schemas/Sent"}]
    schema = {"oneOf": kinds, "title": "Some Request"}
    body = {"content": {"application/json": {"schema": schema}}}
    verb = {"summary": "Do it.", "requestBody": body, "responses": {"200": {}}}
    [does] = operations_of({"paths": {"/x": {"post": verb}}})
    assert does.takes == "Asked or Sent"
