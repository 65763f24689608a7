"""Pairs for the detectors of change, where a method itself counts something else than differences.

What is looked at for change is the mean difference of pairs, and their mean level; both are shares
of the feature's range, or of answers that were selected.
"""

from collections.abc import Mapping

import numpy as np

from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.rounding import uniforms

Both = tuple[float, float]
"""What a pair shows of the first group and of the second, each in [0, 1]."""

MATCHED = "matched"
"""The differences of pairs, from -1 to 1, of methods that keep no histogram of them."""

LEVEL = "level"
"""The means over both groups, from -1 to 1: a model may change and its gap stay."""


def matched(pairs: Mapping[str, Both], salt: str) -> dict[str, tuple[int, ...]]:
    """Count pairs, by the name of each, for both detectors."""
    return {
        MATCHED: _counts({name: a - b for name, (a, b) in pairs.items()}, f"{salt}/{MATCHED}"),
        LEVEL: levels({name: a + b - 1 for name, (a, b) in pairs.items()}, salt),
    }


def levels(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    """Count the levels of pairs, from -1 to 1."""
    return _counts(values, f"{salt}/{LEVEL}")


def at_random(
    first: Mapping[str, float], second: Mapping[str, float], salt: str
) -> dict[str, Both]:
    """Pair units of two groups: those of one set with each other, the others as their ids decide.

    Every unit is in at most one pair, and no set in two, so that pairs are as independent as sets.
    """
    twins = sorted(first.keys() & second.keys())
    alone = (sorted(units.keys() - set(twins)) for units in (first, second))
    a, b = (_shuffled(names, f"{salt}/{side}") for names, side in zip(alone, "ab", strict=True))
    chosen = [*zip(twins, twins, strict=True), *zip(a, b, strict=False)]
    return {f"{one} {other}": (first[one], second[other]) for one, other in chosen}


def _shuffled(names: list[str], salt: str) -> list[str]:
    return [names[place] for place in np.argsort(uniforms(names, salt))]


def _counts(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    # Rounding errors may put a value a hair beyond the ends.
    shares = np.clip(np.array(list(values.values()), dtype=np.float64), -1.0, 1.0)
    return PairHistogram.of(shares, uniforms(list(values), salt)).counts
