"""The same data give the same verdicts and numbers, in any order of rows and names of groups."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.comparisons.product import ProductVerdict, product_verdicts
from calibration.comparisons.shapes import SHAPES
from calibration.comparisons.study import Labels, Shape, Study

ALPHA = 0.05
MOST_ROWS, MOST_FEATURES = 2500, 10
QUICK = [shape for shape in SHAPES if "200/20000" not in shape.name and "50 feat" not in shape.name]
OTHER_NAMES = {"a": "z", "b": "y"}


def judged(study: Study, shape: Shape) -> list[ProductVerdict]:
    return product_verdicts(study, shape, ALPHA, np.random.default_rng(1))


def reordered(study: Study) -> Study:
    order = np.random.default_rng(2).permutation(len(study.values)).tolist()

    def moved(labels: Labels) -> Labels:
        return [labels[row] for row in order]

    return replace(
        study,
        values=study.values[order],
        groups=moved(study.groups),
        units=None if study.units is None else moved(study.units),
        sets=None if study.sets is None else moved(study.sets),
    )


@pytest.mark.parametrize("shape", QUICK, ids=lambda shape: shape.name)
def test_rows_may_come_in_any_order(shape: Shape) -> None:
    study = shape.draw(np.random.default_rng(3))
    for one, other in zip(judged(study, shape), judged(reordered(study), shape), strict=True):
        assert one.verdict is other.verdict
        assert numbers(one) == pytest.approx(numbers(other), rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    "shape",
    [s for s in QUICK if "family" not in s.name and "3 " not in s.name],
    ids=lambda s: s.name,
)
def test_names_of_groups_change_nothing_but_the_sign(shape: Shape) -> None:
    study = shape.draw(np.random.default_rng(3))
    turned = replace(study, groups=[OTHER_NAMES[name or ""] for name in study.groups])
    [one], [other] = judged(study, shape), judged(turned, shape)
    assert one.verdict is other.verdict
    value, low, high = numbers(other)
    # Limits of partly paired data are interpolated: mirrored ones differ in late digits.
    assert numbers(one) == pytest.approx([-value, -high, -low], abs=1e-4, nan_ok=True)


def numbers(verdict: ProductVerdict) -> list[float]:
    low, high = verdict.marginal or (np.nan, np.nan)
    return [np.nan if verdict.gap is None else verdict.gap, low, high]
