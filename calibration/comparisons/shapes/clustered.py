"""Answers that belong together: template families of one group, repeats of a prompt.

Rare answers may belong together as well: then a whole family has them, or a whole set.
"""

import numpy as np

from calibration.comparisons.study import Bounds, Draw, Floats, Kind, Rng, Shape, Study, clusters

UNIT = (0.0, 1.0)


def families(
    n_a: int,
    n_b: int,
    answers: int,
    gap: float = 0.0,
    *,
    between: float = 0.1,
    sets: bool = True,
    shared: bool = False,
) -> Draw:
    """Return normal answers around the level of their family or prompt, within families sd .15."""

    def draw(rng: Rng) -> Study:
        level_a, level_b = (rng.normal(0.5, between, n)[:, None] for n in (n_a, n_b))
        level_b = level_a if shared else level_b
        a = level_a + gap + rng.normal(0, 0.15, (n_a, answers))
        return clusters(
            a, level_b + rng.normal(0, 0.15, (n_b, answers)), gap, sets=sets, shared=shared
        )

    return draw


def rates(
    n_a: int, n_b: int, answers: int, mean_a: float, mean_b: float, *, sets: bool = True
) -> Draw:
    """Return answers of 0 or 1 whose rate differs between families."""

    def family(rng: Rng, n: int, mean: float) -> Floats:
        level = rng.beta(4 * mean, 4 * (1 - mean), n)[:, None]
        return rng.binomial(1, np.broadcast_to(level, (n, answers))).astype(float)

    def draw(rng: Rng) -> Study:
        a, b = family(rng, n_a, mean_a), family(rng, n_b, mean_b)
        return clusters(a, b, mean_a - mean_b, sets=sets)

    return draw


def rare_families(n_a: int, n_b: int, answers: int, share: float, gap: float = 0.0) -> Draw:
    """Return families around .2; a share of the first group's lies at 1 with every answer."""

    def draw(rng: Rng) -> Study:
        a, b = (_even(rng, n, answers) + 0.2 for n in (n_a, n_b))
        a[rng.random(n_a) < share] = 1.0
        return clusters(a, b + 0.8 * share - gap, gap, sets=True)

    return draw


def rare_sets(n: int, answers: int, share: float) -> Draw:
    """Return twins that are a little apart one way, and in a share of the sets far the other."""

    def draw(rng: Rng) -> Study:
        a, b = (_even(rng, n, answers) + 0.5 for _ in range(2))
        a += 0.8 * share / (1 - share)
        far = rng.random(n) < share
        a[far], b[far] = 0.1, 0.9
        return clusters(a, b, 0.0, sets=True, shared=True)

    return draw


def _even(rng: Rng, families: int, answers: int) -> Floats:
    """Return deviations that are evenly spread, by families and within them."""
    return 0.1 * (rng.random((families, 1)) - 0.5) + 0.2 * (rng.random((families, answers)) - 0.5)


def _unbounded(name: str, draw: Draw, tolerance: float = 0.0) -> Shape:
    return Shape(
        f"clustered, no range, {name}", Kind.CLUSTERED_UNBOUNDED, draw, None, tolerance
    )  # fmt: skip


def _shape(name: str, draw: Draw, bounds: Bounds | None = None, tolerance: float = 0.0) -> Shape:
    return Shape(f"clustered {name}", Kind.CLUSTERED, draw, bounds, tolerance)


CLUSTERED = (
    _shape("equal, 10/10 families of 8", families(10, 10, 8)),
    _shape("equal, 30/30 families of 4", families(30, 30, 4)),
    _shape("equal, 5/20 families of 10", families(5, 20, 10)),
    _shape("equal, 2/2 families of 30", families(2, 2, 30)),
    _shape("equal, 3/40 families of 10", families(3, 40, 10)),
    _shape("equal rates, 12/12 families of 10", rates(12, 12, 10, 0.3, 0.3), UNIT),
    _shape("equal rates .05, 6/60 families of 5", rates(6, 60, 5, 0.05, 0.05), UNIT),
    _shape("equal, 15/60 prompts of 10 repeats", families(15, 60, 10, sets=False)),
    _shape("equal rates, 8/40 prompts of 5 repeats", rates(8, 40, 5, 0.1, 0.1, sets=False), UNIT),
    _shape("equal, 15 shared sets of 4 prompts each", families(15, 15, 4, shared=True)),
    _shape("equal, rare families .06, 25/100 families of 6", rare_families(25, 100, 6, 0.06), UNIT),
    _shape("equal, rare families .04, 40/40 families of 6", rare_families(40, 40, 6, 0.04), UNIT),
    _shape("equal, rare sets .06, 30 shared sets of 3", rare_sets(30, 3, 0.06), UNIT),
    _shape("equal, rare sets .03, 60 shared sets of 4", rare_sets(60, 4, 0.03), UNIT),
    _shape(
        "gap = tolerance by rare families, 25/100 families of 6",
        rare_families(25, 100, 6, 0.0625, 0.05), UNIT, 0.05,
    ),
    _shape("gap = tolerance, 12/24 families of 5", families(12, 24, 5, 0.1), None, 0.1),
    _shape("gap .12, 20/20 families of 6", families(20, 20, 6, 0.12)),
    _shape("gap .2 in rates, 30/30 families of 8", rates(30, 30, 8, 0.5, 0.25), UNIT),
    _shape("gap .08, 30/60 prompts of 5 repeats", families(30, 60, 5, 0.08, sets=False)),
    _shape("gap .06, 30 shared sets of 3 prompts each", families(30, 30, 3, 0.06, shared=True)),
    _shape("gap 0 within .12, 25/25 families of 6", families(25, 25, 6), None, 0.12),
)  # fmt: skip
CLUSTERED_UNBOUNDED = (
    _unbounded("equal, 10/10 families of 8", families(10, 10, 8)),
    _unbounded("equal, 5/20 families of 10", families(5, 20, 10)),
    _unbounded("equal, 3/40 families of 10", families(3, 40, 10)),
    _unbounded("equal, 15/60 prompts of 10 repeats", families(15, 60, 10, sets=False)),
    _unbounded("equal, 15 shared sets of 4 prompts each", families(15, 15, 4, shared=True)),
    _unbounded("gap = tolerance, 12/24 families of 5", families(12, 24, 5, 0.1), 0.1),
    _unbounded("gap .12, 20/20 families of 6", families(20, 20, 6, 0.12)),
    _unbounded("gap .08, 30/60 prompts of 5 repeats", families(30, 60, 5, 0.08, sets=False)),
    _unbounded("gap .06, 30 shared sets of 3", families(30, 30, 3, 0.06, shared=True)),
    _unbounded("gap 0 within .12, 25/25 families of 6", families(25, 25, 6), 0.12),
)
"""What the same answers show where the range is declared as unknown: neither side guesses one."""
