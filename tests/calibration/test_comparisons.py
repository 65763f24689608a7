"""Verdicts about groups keep their errors on the shapes that mislead most; the table has all."""

from dataclasses import replace

import numpy as np
import pytest

from biaswatch.shared.stats.estimate import Verdict
from calibration.comparisons.comparators.independent import welch
from calibration.comparisons.comparators.tails import p_values_of
from calibration.comparisons.judgement import judged, kept
from calibration.comparisons.product import ProductVerdict, product_verdicts
from calibration.comparisons.shapes import SHAPES
from calibration.comparisons.simulation import PRODUCT, Procedure, simulate
from calibration.comparisons.study import Rng, Shape, Study

BY_NAME = {shape.name: shape for shape in SHAPES}
RUNS, FAMILIES, FEW = 200, 50, 5
MISLEADING = (
    "binary equal .05, 25/1000",
    "binary gap = tolerance, .07/.02, 10/1000",
    "bounded ratings mostly 4, 10/200",
    "bounded spikes .02 against steady, 25/400",
    "bounded gap = tolerance by unseen spikes, 25/100",
    "unbounded normal, sd 2/.5, 15/300",
    "pairs skewed with mean 0, n 60",
    "partly paired equal, 10/100 and 20 sets",
    "clustered equal, 10/10 families of 8",
    "family of 10 features, gap = tolerance",
    "bank rare far answers .04, 10 sets of 2 repeats",
    "bank rare far answers .017, 10 sets of 2 repeats, gap = tolerance",
)
"""Each made some procedure err in a fifth of runs or more."""
CERTAIN = (
    "binary all of 40 against none of 40",
    "binary pairs all of a and none of b, n 60",
    "pairs gap exactly 1, n 300",
    "bank at temperature 0, 12 of 20 sets differ",
)


def missed(shape: Shape, product: Procedure, runs: int = RUNS) -> list[str]:
    tally = simulate(shape, range(runs), product=product, compared=False)[PRODUCT]
    return [cell.promise for cell in kept(tally, shape) if not cell.holds]


def by_welch(study: Study, shape: Shape, alpha: float, _rng: Rng) -> list[ProductVerdict]:
    """Decide by Welch's test whatever the answers look like."""
    values, groups = study.values[:, 0], np.array(study.groups)
    p_values = p_values_of(welch(values[groups == "a"], values[groups == "b"]), shape.tolerance)
    apart = p_values.p_disparity <= alpha
    within = p_values.p_equivalence is not None and p_values.p_equivalence <= alpha
    verdict = Verdict.DISPARITY if apart else Verdict.INCONCLUSIVE
    return [
        ProductVerdict(
            feature=0, a="a", b="b",
            verdict=Verdict.NO_DISPARITY if within else verdict,
            gap=1.0 if p_values.above else -1.0, marginal=None, simultaneous=None, survives=True,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("name", MISLEADING)
def test_verdicts_keep_their_errors(name: str) -> None:
    runs = FAMILIES if name.startswith("family") else RUNS
    assert missed(BY_NAME[name], product_verdicts, runs) == []


@pytest.mark.parametrize("name", CERTAIN)
def test_what_never_varies_is_found_every_time(name: str) -> None:
    tally = simulate(BY_NAME[name], range(FEW), compared=False)[PRODUCT]
    assert tally.disparities.share == 1


def test_a_procedure_that_errs_on_rare_answers_is_found_out() -> None:
    assert missed(BY_NAME["binary equal .05, 25/1000"], by_welch) == ["false disparities"]


def test_a_procedure_that_takes_a_gap_for_none_is_found_out() -> None:
    shape = BY_NAME["bounded gap = tolerance by unseen spikes, 25/100"]
    assert missed(shape, by_welch) == ["false equivalences"]


def test_a_procedure_that_finds_nothing_is_found_out() -> None:
    shape = BY_NAME["binary gap .2, .3/.5, 100/100"]

    def silent(study: Study, shape: Shape, alpha: float, rng: Rng) -> list[ProductVerdict]:
        return [
            replace(item, verdict=Verdict.INCONCLUSIVE)
            for item in by_welch(study, shape, alpha, rng)
        ]

    cells = judged(BY_NAME, {shape.name: simulate(shape, range(FAMILIES), product=silent)})
    assert [cell.promise for cell in cells if not cell.holds] == ["disparities found"]
    cells = judged(BY_NAME, {shape.name: simulate(shape, range(FAMILIES), product=by_welch)})
    assert all(cell.holds for cell in cells)


def test_an_interval_that_says_something_else_is_found_out() -> None:
    def beside(study: Study, shape: Shape, alpha: float, rng: Rng) -> list[ProductVerdict]:
        return [replace(item, marginal=(-1.0, 1.0)) for item in by_welch(study, shape, alpha, rng)]

    shape = BY_NAME["binary gap .2, .3/.5, 100/100"]
    assert missed(shape, beside, FAMILIES) == ["contradictions"]


def test_runs_of_a_shape_are_the_same_in_any_parts() -> None:
    shape = BY_NAME["pairs ratings equal, n 12"]
    whole = simulate(shape, range(10), product=None)
    first, second = (simulate(shape, part, product=None) for part in (range(4), range(4, 10)))
    assert whole == {name: first[name] + second[name] for name in first}
