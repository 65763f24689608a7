"""Banks of prompts that are themselves the subject, each answered several times."""

import numpy as np

from biaswatch.shared.contracts import Claim
from calibration.comparisons.study import Bounds, Draw, Floats, Kind, Labels, Rng, Shape, Study

UNIT, RATING = (0.0, 1.0), (1.0, 5.0)


def _bank(a: Floats, b: Floats, gap: float) -> Study:
    """Return [sets, repeats] of each group, the n-th rows of both being one set."""
    sides = (("a", a), ("b", b))
    names = [(side, n) for side, rows in sides for n in range(len(rows)) for _ in rows[n]]
    units: Labels = [f"{side}{n}" for side, n in names]
    sets: Labels = [f"set{n}" for _, n in names]
    groups: Labels = [side for side, _ in names]
    values = np.concatenate([a.ravel(), b.ravel()])[:, None]
    return Study(values, groups, {("a", "b"): np.array([gap])}, units=units, sets=sets)


def rates(sets: int, repeats: int, level: float, gap: float = 0.0, *, spread: float = 0.0) -> Draw:
    """Return answers of 0 or 1; gaps of sets are `gap` and a spread that cancels exactly."""
    own = spread * np.where(np.arange(sets) % 2, 1.0, -1.0) * (np.arange(sets) < sets // 2 * 2)

    def draw(rng: Rng) -> Study:
        a, b = (
            rng.binomial(1, np.repeat((level + more)[:, None], repeats, axis=1)).astype(float)
            for more in (gap + own, 0 * own)
        )
        return _bank(a, b, gap)

    return draw


def ratings(sets: int, repeats: int, shift: float = 0.0) -> Draw:
    """Return ratings of 1 to 5 around levels of the sets; a share of a's is higher by one."""
    level = 2 + np.arange(sets)[:, None] % 3 / 2

    def draw(rng: Rng) -> Study:
        a, b = (np.clip(np.rint(level + rng.normal(0, 0.6, (sets, repeats))), 1, 4) for _ in "ab")
        return _bank(a + (rng.random(a.shape) < shift), b, shift)

    return draw


def rare_far_answers(
    sets: int, repeats: int, share: float, shift: float, *, gap: float = 0.0, both: bool = False
) -> Draw:
    """Return answers of a that are mostly `shift` below b's, and in a small share far above.

    The far answers lie where the true gap of the means, b's less a's, is `gap`. With `both`, the
    answers of b are far below theirs as often.
    """
    middle = 0.45
    distance = (shift - gap) / share / (2 if both else 1)

    def draw(rng: Rng) -> Study:
        far_a, far_b = (rng.random((sets, repeats)) < share for _ in "ab")
        a = middle - shift + distance * far_a.astype(np.float64)
        b = middle - distance * far_b.astype(np.float64) * both
        return _bank(a.astype(np.float64), b.astype(np.float64), -gap)

    return draw


def always_the_same(sets: int, repeats: int, differing: int) -> Draw:
    """Return a model at temperature 0, which answers some sets otherwise for a."""

    def draw(_rng: Rng) -> Study:
        a, b = np.full((sets, repeats), 3.0), np.full((sets, repeats), 3.0)
        a[:differing] += 1
        return _bank(a, b, differing / sets)

    return draw


def _shape(
    name: str,
    draw: Draw,
    bounds: Bounds = UNIT,
    tolerance: float = 0.0,
    least_power: float | None = None,
) -> Shape:
    kind = Kind.RARE_FAR_BANK if name.startswith("rare far") else Kind.BANK
    return Shape(f"bank {name}", kind, draw, bounds, tolerance, Claim.BANK, least_power)


BANKS = (
    _shape("equal rates .3, 20 sets of 2 repeats", rates(20, 2, 0.3)),
    _shape("equal rates .02, 30 sets of 2 repeats", rates(30, 2, 0.02)),
    _shape("equal rates .7, 2 sets of 2 repeats", rates(2, 2, 0.7)),
    _shape("equal rates .9, 4 sets of 3 repeats", rates(4, 3, 0.9)),
    _shape("gaps of sets cancel, 20 sets of 2 repeats", rates(20, 2, 0.5, spread=0.4)),
    _shape("equal ratings, 12 sets of 2 repeats", ratings(12, 2), RATING),
    _shape("equal ratings, 6 sets of 10 repeats", ratings(6, 10), RATING),
    _shape("gap = tolerance, rates, 20 sets of 4 repeats", rates(20, 4, 0.3, 0.1), UNIT, 0.1),
    _shape("gap .25 in rates, 30 sets of 2 repeats", rates(30, 2, 0.3, 0.25)),
    _shape("gap .4 in ratings, 15 sets of 3 repeats", ratings(15, 3, 0.4), RATING),
    _shape("gap 0 within .15, 30 sets of 10 repeats", rates(30, 10, 0.3), UNIT, 0.15),
    _shape("rare far answers .04, 10 sets of 2 repeats", rare_far_answers(10, 2, 0.04, 0.02)),
    _shape("rare far answers .01, 30 sets of 3 repeats", rare_far_answers(30, 3, 0.01, 0.005)),
    _shape("rare far answers .04, 20 sets of 2 repeats", rare_far_answers(20, 2, 0.04, 0.02)),
    _shape("rare far answers .04, 10 sets of 4 repeats", rare_far_answers(10, 4, 0.04, 0.02)),
    _shape("rare far answers .1, 10 sets of 2 repeats", rare_far_answers(10, 2, 0.1, 0.05)),
    _shape("rare far answers .03 of both, 8 sets of 2 repeats",
           rare_far_answers(8, 2, 0.03, 0.025, both=True)),
    _shape("rare far answers .05, 3 sets of 8 repeats", rare_far_answers(3, 8, 0.05, 0.025)),
    _shape("rare far answers .02, 60 sets of 2 repeats", rare_far_answers(60, 2, 0.02, 0.01)),
    _shape("rare far answers .16, 20 sets of 2 repeats", rare_far_answers(20, 2, 0.16, 0.1)),
    _shape("rare far answers .017, 10 sets of 2 repeats, gap = tolerance",
           rare_far_answers(10, 2, 1 / 60, 0.06, gap=0.05), UNIT, 0.05),
    _shape("rare far answers .083, 4 sets of 2 repeats, gap = tolerance",
           rare_far_answers(4, 2, 1 / 12, 0.1, gap=0.05), UNIT, 0.05),
    _shape("rare far answers .05, 5 sets of 3 repeats, gap = tolerance",
           rare_far_answers(5, 3, 0.05, 0.08, gap=0.05), UNIT, 0.05),
    _shape("rare far answers .01, 30 sets of 2 repeats, gap = tolerance",
           rare_far_answers(30, 2, 0.01, 0.056, gap=0.05), UNIT, 0.05),
    _shape("rare far answers .025 of both, 6 sets of 2 repeats, gap = tolerance",
           rare_far_answers(6, 2, 0.025, 0.07, gap=0.05, both=True), UNIT, 0.05),
    _shape("rare far answers .05, 10 sets of 4 repeats, gap = tolerance",
           rare_far_answers(10, 4, 0.05, 0.08, gap=0.05), UNIT, 0.05),
    _shape("rare far answers .02, 15 sets of 3 repeats, gap = tolerance",
           rare_far_answers(15, 3, 0.02, 0.11, gap=0.1), UNIT, 0.1),
    _shape("rare far answers .1, 3 sets of 2 repeats, gap = tolerance",
           rare_far_answers(3, 2, 0.1, 0.1, gap=0.05), UNIT, 0.05),
    _shape("at temperature 0, 12 of 20 sets differ", always_the_same(20, 2, 12), RATING, 0.0, 1.0),
    _shape("at temperature 0, all of 20 sets differ, tolerance .25",
           always_the_same(20, 2, 20), RATING, 0.25, 1.0),
)  # fmt: skip
