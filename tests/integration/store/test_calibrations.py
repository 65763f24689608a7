"""Calibrations are kept by version, dimension by dimension, on both databases."""

from datetime import UTC, datetime

from biaswatch.shared.contracts import Estimate, OwnGap
from biaswatch.shared.store import Store

AT = datetime(2026, 1, 2, tzinfo=UTC)


def gap(dimension: str, value: float) -> OwnGap:
    return OwnGap(feature="x", dimension=dimension, a="a", b="b", gap=Estimate(value=value))


def test_the_latest_of_a_dimension_stays_and_others_beside_it(store: Store) -> None:
    store.calibrations.keep("toy", "1", [gap("race", 1), gap("age", 2)], AT)
    store.calibrations.keep("toy", "1", [gap("race", 3)], AT)
    assert {(g.dimension, g.gap.value) for g in store.calibrations.find("toy", "1")} == {
        ("race", 3), ("age", 2),
    }  # fmt: skip
    assert store.calibrations.find("toy", "2") == []
