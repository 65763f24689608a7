"""What a calibration says of one planted effect."""

import pytest

from biaswatch.cli.calibrate import effect_row
from shared.contracts import Estimate, Evidence
from shared.stats.anytime.pairs import BINS
from tests.support.records import make_evidence, make_plan


def evidence(gap: float) -> Evidence:
    """Return evidence of 100 sets, most of them with one gap."""
    counts = [0] * BINS
    counts[BINS // 2] = 40
    counts[BINS // 2 + 8] = 60
    return make_evidence(
        counts={"counts": tuple(counts), "absent": (0,)}, gap=Estimate(value=gap, low=-1, high=1)
    )


def test_where_nothing_is_planted_alarms_are_counted_and_no_delay_is_claimed() -> None:
    row = effect_row(0.0, [None, 12, None, None], [evidence(0.1)], make_plan())
    assert (row["alarmed"], row["monitors"]) == (0.25, 4)
    assert row["standard_error"] == pytest.approx(0.217)
    assert (row["median_units"], row["units_of_80_percent"]) == (None, None)
    assert (row["looking_once"], row["ratio"]) == (None, None)


def test_delay_is_told_in_units_of_the_test_that_looks_once() -> None:
    row = effect_row(0.3, [24, 12, 36, 48, None], [evidence(0.2), evidence(0.4)], make_plan())
    assert row["median_units"] == 36
    assert row["units_of_80_percent"] == 48
    assert row["gap_found"] == pytest.approx(0.3)
    assert isinstance(row["looking_once"], int)
    assert row["ratio"] == round(48 / row["looking_once"], 2)


def test_a_delay_that_fewer_than_80_percent_reached_is_not_given() -> None:
    row = effect_row(0.3, [12, 12, 12, None, None], [evidence(0.3)], make_plan())
    assert row["median_units"] == 12
    assert (row["units_of_80_percent"], row["ratio"]) == (None, None)


def test_a_gap_that_no_monitor_could_measure_is_null_and_no_zero() -> None:
    nothing = make_evidence(
        counts={"counts": (0,) * BINS, "absent": (9,)}, gap=Estimate(reason="nothing came")
    )
    row = effect_row(0.3, [None, None], [nothing], make_plan())
    assert (row["gap_found"], row["looking_once"]) == (None, None)
