"""The pairs of a round in which changes of gap and level are searched."""

from collections.abc import Mapping, Sequence

import numpy as np

from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, MATCHED, pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.pairs import PairHistogram
from biaswatch.shared.stats.anytime.units import uniforms

Both = tuple[float, float]
"""What a pair shows of the first group and of the second, each in [0, 1]."""


def counted_pairs(pairs: Mapping[str, Both], salt: str) -> dict[str, tuple[int, ...]]:
    """Count pairs, by the name of each, for both detectors."""
    return {
        MATCHED: difference_counts(
            {name: a - b for name, (a, b) in pairs.items()}, f"{salt}/{MATCHED}"
        ),
        LEVEL: _counted_levels({name: a + b - 1 for name, (a, b) in pairs.items()}, salt),
    }


def _counted_levels(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    """Count the levels of pairs, from -1 to 1."""
    return difference_counts(values, f"{salt}/{LEVEL}")


def random_pairs(
    first: Mapping[str, float], second: Mapping[str, float], salt: str
) -> dict[str, Both]:
    """Pair units of two groups: those of one set with each other, the others as their ids decide.

    Every unit is in at most one pair, and no set in two, so that pairs are as independent as sets.
    """
    twins = sorted(first.keys() & second.keys())
    alone = (sorted(units.keys() - set(twins)) for units in (first, second))
    a, b = (
        [names[place] for place in np.argsort(uniforms(names, f"{salt}/{side}"))]
        for names, side in zip(alone, "ab", strict=True)
    )
    chosen = [*zip(twins, twins, strict=True), *zip(a, b, strict=False)]
    return {f"{one} {other}": (first[one], second[other]) for one, other in chosen}


def difference_counts(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    """Count numbers from -1 to 1, by the name of the unit of each."""
    # Rounding errors may put a value a hair beyond the ends.
    shares = np.clip(np.array(list(values.values()), dtype=np.float64), -1.0, 1.0)
    return PairHistogram.of(shares, uniforms(list(values), salt)).counts


def kept_pairs(counts: Counts, *, level: bool) -> str | None:
    """Return the name of the pairs that a round keeps; None where it keeps none."""
    names = (LEVEL,) if level else (GAPS, MATCHED)
    return next((name for name in names if name in counts), None)


def pairs_of(counts: Sequence[Counts], *, level: bool) -> PairHistograms:
    """Return the pairs of rounds that keep some, those of a comparison a row.

    Bounds are among them where answers of a bank are missing.
    """
    names = [kept_pairs(each, level=level) for each in counts]
    return pair_table(counts, [name or GAPS for name in names])
