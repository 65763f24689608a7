"""Families of comparisons: several groups, several features, gaps at the tolerance."""

from collections.abc import Mapping

import numpy as np
from scipy import special

from calibration.comparisons.shapes.bounded import (
    FOUR,
    RATING,
    TOXIC,
    UNIT,
    Sample,
    scale,
    spikes,
    steady,
)
from calibration.comparisons.study import (
    Bounds,
    Draw,
    Floats,
    Kind,
    Rng,
    Shape,
    Study,
    several_groups,
)


def rates(
    sizes: Mapping[str, int], of: Mapping[str, float | Floats], features: int, shared: float = 0.0
) -> Draw:
    """Return answers of 0 or 1; `shared` is the correlation of features before the threshold."""

    def group(rng: Rng, n: int, rate: Floats) -> Floats:
        common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, features))
        latent = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
        return np.asarray(latent < special.ndtri(rate), dtype=float)

    means = {name: np.broadcast_to(np.asarray(rate, float), features) for name, rate in of.items()}

    def draw(rng: Rng) -> Study:
        return several_groups({g: group(rng, n, means[g]) for g, n in sizes.items()}, means)

    return draw


def normals(n_a: int, n_b: int, gaps: Floats, spreads: tuple[float, float], shared: float) -> Draw:
    """Return correlated features without bounds."""

    def group(rng: Rng, n: int, sd: float) -> Floats:
        common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, len(gaps)))
        return np.asarray(sd * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own))

    def draw(rng: Rng) -> Study:
        answers = {"a": gaps + group(rng, n_a, spreads[0]), "b": group(rng, n_b, spreads[1])}
        return several_groups(answers, {"a": gaps, "b": 0 * gaps})

    return draw


def scores(n_a: int, of_a: Sample, n_b: int, of_b: Sample, gap: float, features: int) -> Draw:
    """Return independent features of one distribution in each group, all with one true gap."""
    means = {"a": np.full(features, gap), "b": np.zeros(features)}

    def draw(rng: Rng) -> Study:
        parts = (("a", n_a, of_a), ("b", n_b, of_b))
        answers = {name: of(rng, n * features).reshape(n, features) for name, n, of in parts}
        return several_groups(answers, means)

    return draw


def _bounded(
    name: str, draw: Draw, bounds: Bounds = UNIT, tolerance: float = 0.0, runs: int = 1000
) -> Shape:
    return Shape(f"family {name}", Kind.BOUNDED, draw, bounds, tolerance, most_runs=runs)


def _binary(name: str, draw: Draw, tolerance: float = 0.0, most_runs: int = 1000) -> Shape:
    return Shape(f"family {name}", Kind.BINARY, draw, UNIT, tolerance, most_runs=most_runs)


def _unbounded(name: str, draw: Draw, tolerance: float = 0.0) -> Shape:
    return Shape(f"family {name}", Kind.UNBOUNDED, draw, None, tolerance, most_runs=1000)


AB = {"a": 400, "b": 400}
EIGHT = dict.fromkeys("abcdefgh", 60)
FIVE = {"a": 2000, "b": 300, "c": 50, "d": 25, "e": 15}
THREE = {"a": 1000, "b": 1000, "c": 25}
SOME = np.array([0.5, 0.5, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35])
HALF = np.array([0.45] * 5 + [0.30] * 5)

HIGH, MIDDLE = scale((0, 0.05, 0.15, 0.5, 0.3)), scale((0, 0.05, 0.3, 0.5, 0.15))
LOOSE, LOW = scale((0, 0.1, 0.2, 0.4, 0.3)), scale((0.1, 0.2, 0.25, 0.3, 0.15))
SPIKES, STEADY = spikes(0.2, 1.0, 0.0625, 0.01), steady(0.2, 0.01)

FAMILIES = (
    _binary("of 10 features, gap = tolerance", rates(AB, {"a": 0.35, "b": 0.30}, 10), 0.05),
    _binary("of 50 features, gap = tolerance", rates(AB, {"a": 0.35, "b": 0.30}, 50), 0.05, 500),
    _binary("of 10 features, gap = tolerance, .07/.02, 10/1000",
            rates({"a": 10, "b": 1000}, {"a": 0.07, "b": 0.02}, 10), 0.05),
    _binary("of 10 correlated features, gap = tolerance",
            rates(AB, {"a": 0.35, "b": 0.30}, 10, 0.8), 0.05),
    _binary("of 5 groups of 2000 to 15, 4 features, rate .03",
            rates(FIVE, dict.fromkeys(FIVE, 0.03), 4), most_runs=500),
    _binary("of 1000/1000/25, 5 features, rate .05",
            rates(THREE, dict.fromkeys(THREE, 0.05), 5)),
    _binary("of 8 equal groups of 60", rates(EIGHT, dict.fromkeys(EIGHT, 0.3), 1)),
    _binary("of 10 features, 2 with a gap of .15",
            rates({"a": 250, "b": 250}, {"a": SOME, "b": 0.35}, 10)),
    _binary("of 10 features, 5 beyond and 5 within .1",
            rates({"a": 800, "b": 800}, {"a": HALF + 0.05, "b": 0.30 + 0 * HALF}, 10), 0.1),
    _bounded("of 10 features of ratings mostly 4, 10/200",
             scores(10, FOUR, 200, FOUR, 0, 10), RATING),
    _bounded("of 10 features of ratings, gap = tolerance, 30/300",
             scores(30, HIGH, 300, MIDDLE, 0.3, 10), RATING, 0.3),
    _bounded("of 10 features of toxicity 2 % high, 210/2000",
             scores(210, TOXIC, 2000, TOXIC, 0, 10), runs=500),
    _bounded("of 10 features, gap = tolerance by unseen spikes, 50/300",
             scores(50, SPIKES, 300, STEADY, 0.05, 10), UNIT, 0.05),
    _bounded("of 5 features of ratings, gap .7, 60/60",
             scores(60, LOOSE, 60, LOW, 0.7, 5), RATING),
    _unbounded("of 10 correlated features, sd 2/1, 12/80",
               normals(12, 80, np.zeros(10), (2.0, 1.0), 0.8)),
    _unbounded("of 10 features, gap = tolerance, 40/40",
               normals(40, 40, np.full(10, 0.5), (1.0, 1.0), 0.3), 0.5),
    _unbounded("of 10 features, 2 with a gap of .8, 50/50",
               normals(50, 50, np.array([0.8] * 2 + [0.0] * 8), (1.0, 1.0), 0.3)),
)  # fmt: skip
