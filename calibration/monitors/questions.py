"""Error and power of a monitor's three questions, of families, and of declared horizons."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.stats import norm

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, log_mean_exp
from biaswatch.shared.stats.anytime.clusters import Blocks, log_sum_after, look_number
from biaswatch.shared.stats.anytime.exchanges import (
    EXCHANGE_STAKES,
    exchange_group,
    exchange_log_factors,
)
from biaswatch.shared.stats.anytime.horizons import (
    SEQUENTIAL_SHARE,
    WeightedMoments,
    sequential_bounds,
    z_statistics,
)
from biaswatch.shared.stats.anytime.judging import share_of_test
from biaswatch.shared.stats.anytime.merged import (
    COMMON_BETS,
    OWN_BETS,
    PastDifferences,
    merged_log_e,
    vector_bets,
)
from biaswatch.shared.stats.arrays import Floats

ALPHA = 0.05
COMPARISONS = 28
GAP, SD = 0.05, 0.25
ROUNDS = 60
SETS_A_ROUND = 4


@dataclass(frozen=True)
class Cell:
    """One row of the table: a share or a ratio, and its bar."""

    name: str
    studies: int
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def error(self) -> float:
        """Return 3.5 standard errors of a share at the bar; ratios of rounds have none."""
        bar = self.at_most if self.at_least is None else self.at_least
        share = 0.0 if bar is None or self.name.startswith("ratio") else bar
        return 3.5 * sqrt(share * (1 - share) / self.studies)

    @property
    def holds(self) -> bool:
        """Tell whether the bar holds."""
        low = self.at_least is None or self.value >= self.at_least - self.error
        return low and (self.at_most is None or self.value <= self.at_most + self.error)


def names_as_clusters(
    names: int, name_sd: float, gap: float, studies: int, *, text_sd: float = 0.0
) -> float:
    """Return the share of monitors with evidence beyond their names at any of 60 rounds.

    Each block has the difference of two names, that of its texts, and noise that falls with rounds.
    """
    rng = np.random.default_rng(names)
    own = gap + rng.normal(0, name_sd, (studies, names)) + rng.normal(0, text_sd, (studies, names))
    result = 0
    for row in own:
        noise, total = np.zeros(names), None
        for round_ in range(1, ROUNDS + 1):
            noise += rng.normal(0, 0.1, names)
            if (look := look_number(round_)) is not None:
                blocks = Blocks(np.clip(row + noise / round_, -1, 1))
                total = log_sum_after(total, blocks.log_e_beyond(0.0), look)
        result += total is not None and total >= -log(ALPHA)
    return result / studies


def names_alone(names: int, name_sd: float, studies: int, texts: int = 20) -> float:
    """Return the share of monitors without random factors that alarm in 60 rounds.

    Answers deviate by 0.1 of the range; a gap and the missing answers share half of alpha.
    """
    rng, bound = np.random.default_rng(names), log(4 / ALPHA / share_of_test(1))
    result = 0
    for _ in range(studies):
        gaps = rng.normal(0, name_sd * sqrt(2), names)[np.arange(texts) % names]
        drawn = np.clip(gaps + rng.normal(0, 0.1 * sqrt(2), (ROUNDS, texts)), -1, 1)
        factors = np.log1p(np.multiply.outer(drawn, both_ways(STAKES))).sum(axis=1)
        result += bool((log_mean_exp(factors.cumsum(axis=0)) >= bound).any())
    return result / studies


def rounds_needed(gaps: Floats, seed: int, most: int = 1500) -> tuple[int, int]:
    """Return the rounds until Bonferroni finds any gap, and until merged evidence does."""
    rng = np.random.default_rng(seed)
    bets, wealth = both_ways(EXCHANGE_STAKES), np.zeros((len(gaps), 2 * len(EXCHANGE_STAKES)))
    own, common = np.zeros(OWN_BETS), np.zeros(COMMON_BETS)
    past = PastDifferences(*(np.zeros(len(gaps)) for _ in range(3)))
    needed = [0, 0]
    for round_ in range(1, most + 1):
        drawn = np.clip(rng.normal(gaps, SD, (SETS_A_ROUND, len(gaps))), -1, 1)
        for kind, total in zip(vector_bets(past), (own, common), strict=True):
            scores = drawn @ kind.T
            total += exchange_log_factors(np.stack([scores, -scores], axis=-1)).sum(axis=0)
        scaled = bets[:, None, None] * drawn
        wealth += (log(2) - np.logaddexp(0.0, -2 * scaled)).sum(axis=1).T
        past = PastDifferences(
            past.sets + len(drawn), past.sums + drawn.sum(axis=0),
            past.squares + (drawn**2).sum(axis=0),
        )  # fmt: skip
        log_es = log_mean_exp(wealth)
        result = (
            log_es.max() >= log(len(gaps) / ALPHA),
            merged_log_e(log_es, own, common) >= -log(ALPHA),
        )
        needed = [n or (round_ if hit else 0) for n, hit in zip(needed, result, strict=True)]
        if all(needed):
            break
    return needed[0] or most, needed[1] or most


def skewed_groups(groups: int, studies: int, draw: Callable[..., Floats]) -> float:
    """Return the share of monitors with merged evidence where all labels are alike, 60 rounds."""
    rng, first, second = np.random.default_rng(groups), *np.triu_indices(groups, 1)
    exchanges, result = exchange_group(groups), 0
    for _ in range(studies):
        past = PastDifferences(*(np.zeros(len(first)) for _ in range(3)))
        own, common = np.zeros(OWN_BETS), np.zeros(COMMON_BETS)
        wealth, hit = np.zeros((len(first), 2 * len(EXCHANGE_STAKES))), False
        for _round in range(ROUNDS):
            answers = np.clip(draw(rng, (SETS_A_ROUND, groups)), 0, 1)[:, exchanges]
            differences = answers[..., first] - answers[..., second]
            for kind, total in zip(vector_bets(past), (own, common), strict=True):
                scores = np.einsum("sec,bc->sbe", differences, kind)
                total += exchange_log_factors(scores).sum(axis=0)
            seen = differences[:, 0]
            scaled = both_ways(EXCHANGE_STAKES)[:, None, None] * seen
            wealth += (log(2) - np.logaddexp(0.0, -2 * scaled)).sum(axis=1).T
            past = PastDifferences(
                past.sets + len(seen), past.sums + seen.sum(axis=0),
                past.squares + (seen**2).sum(axis=0),
            )  # fmt: skip
            hit |= merged_log_e(log_mean_exp(wealth), own, common) >= -log(ALPHA)
        result += hit
    return result / studies


def within_horizon(
    draw: Callable[[np.random.Generator, tuple[int, int, int]], Floats],
    sets: int,
    studies: int,
    alpha: float = ALPHA,
    looks: int = 52,
) -> float:
    """Return the share of monitors that cross a group-sequential bound in the declared looks."""
    values = draw(np.random.default_rng(sets), (studies, looks, sets))
    units = np.broadcast_to(np.arange(1, looks + 1) * float(sets), (studies, looks))
    powers = [np.cumsum((values**power).sum(axis=2), axis=1) / units for power in (1, 2, 3)]
    sides = z_statistics(WeightedMoments(units, *powers), np.zeros((studies, looks)))
    bounds = sequential_bounds(looks, SEQUENTIAL_SHARE * alpha / 2).bounds
    return float((np.maximum(*sides) >= bounds).any(axis=1).mean())


def _normal(mean: float, sd: float) -> Callable[..., Floats]:
    return lambda rng, shape: np.clip(rng.normal(mean, sd, shape), -1.0, 1.0)


def _rare(share: float) -> Callable[..., Floats]:
    return lambda rng, shape: np.where(rng.random(shape) < share, 1 - share, -share)


def _cubed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.exponential(0.3, shape) ** 3


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Yield the rows of the table, each with its bar."""
    many, some = max(20, int(400 * scale)), max(20, int(60 * scale))
    yield from _clusters(many, some)
    yield from _families(some)
    yield from _horizons(many)


def _clusters(many: int, some: int) -> Iterator[Cell]:
    for names in (2, 4, 5, 8, 12, 20):
        for sd in (0.05, 0.2):
            share = names_as_clusters(names, sd, 0.0, many, text_sd=sd / 2)
            yield Cell(f"error, {names} pairs of names, SD {sd:g}", many, share, at_most=ALPHA)
    share = names_alone(4, 0.05, 2 * many)
    yield Cell("false alarms, 4 names are not declared, SD 0.05", 2 * many, share, at_least=0.5)
    for names, gap in ((12, 0.1), (20, 0.1), (40, 0.05)):
        oracle = norm.cdf(gap * sqrt(names) / 0.05 - norm.isf(ALPHA / 2))
        share = names_as_clusters(names, 0.05, gap, some)
        name = f"power, {names} pairs of names, SD 0.05, gap {gap:g}"
        yield Cell(name, some, share, at_least=0.7 * oracle)


def _families(some: int) -> Iterator[Cell]:
    alternating = GAP * np.resize([1.0, -1.0], COMPARISONS)
    alone = np.where(np.arange(COMPARISONS) == 3, GAP, 0.0)
    families = (("one sign", np.full(COMPARISONS, GAP), 0.25), ("mixed signs", alternating, 0.5),
                ("one alone", alone, 1.15))  # fmt: skip
    for name, gaps, bar in families:
        rounds = np.array([rounds_needed(gaps, seed) for seed in range(some)])
        ratio = float(rounds[:, 1].mean() / rounds[:, 0].mean())
        yield Cell(f"ratio of rounds to Bonferroni, 28 gaps, {name}", some, ratio, at_most=bar)
    share = skewed_groups(8, some, _cubed)
    yield Cell("error, merged, 8 groups, skewed answers", some, share, at_most=ALPHA)


def _horizons(many: int) -> Iterator[Cell]:
    shapes = (("normal, SD 0.25", _normal(0, 0.25)), ("rare, 5 %", _rare(0.05)),
              ("rare, 2 %", _rare(0.02)))  # fmt: skip
    for name, draw in shapes:
        for sets in (5, 20, 50):
            for family in (1, 28):
                share = within_horizon(draw, sets, 5 * many, ALPHA / family)
                bar = SEQUENTIAL_SHARE * ALPHA / family
                name_ = f"error, 52 looks, {name}, {sets} sets, family of {family}"
                yield Cell(name_, 5 * many, share, at_most=bar)
    for gap, sets in ((0.02, 20), (0.01, 50)):
        oracle = norm.cdf(gap / SD * sqrt(52 * sets) - norm.isf(ALPHA / 2))
        share = within_horizon(_normal(gap, SD), sets, many)
        name = f"power, 52 looks, gap {gap:g}, {sets} sets"
        yield Cell(name, many, share, at_least=0.9 * oracle)


def main() -> int:
    """Print the table; return 1 where a bar does not hold."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    missed = 0
    print("| shape | studies | value | bar | |\n|---|---|---|---|---|")
    for cell in cells(scale):
        missed += not cell.holds
        bar = f"<= {cell.at_most:.4g}" if cell.at_least is None else f">= {cell.at_least:.4g}"
        verdict = "ok" if cell.holds else "MISSED"
        row = (cell.name, str(cell.studies), f"{cell.value:.4f}", bar, verdict)
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
