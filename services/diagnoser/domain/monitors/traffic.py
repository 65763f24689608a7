"""What a window of production traffic adds to the evidence: each user once, with a mean."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from services.diagnoser.domain.monitors.answers import Values, value_of
from services.diagnoser.domain.monitors.counting import Counted
from shared.contracts import Comparison, WatchedPair
from shared.stats.anytime.rounding import uniforms
from shared.stats.anytime.stakes import Floats
from shared.stats.anytime.two_groups import TwoHistograms

SIDES = ("first", "second")


@dataclass(frozen=True)
class Heard:
    """One production answer as measured by one extractor."""

    key: str
    """The answer's own name."""
    user: str | None
    """The user or conversation, where one is named."""
    groups: Mapping[str, str]
    extractor: str
    values: Values
    unscorable: str | None = None
    """Why there are no values."""


@dataclass(frozen=True)
class Entrants:
    """Who may enter the evidence of one dimension in this window."""

    new: Collection[str]
    """Users who had not entered in this epoch before."""
    known: Collection[str]
    """Users who had, and do not enter again."""
    mixed: Collection[str]
    """Users in several groups of the dimension, who are evidence for none."""


@dataclass(frozen=True)
class Observed:
    """What one comparison takes from a window."""

    counted: Counted
    outside: int


def users_of(heard: Iterable[Heard], dimension: str) -> dict[str, set[str]]:
    """Return the groups of every user who has any in this dimension; of nobody without a name."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in heard:
        if each.user is not None and dimension in each.groups:
            found[each.user].add(each.groups[dimension])
    return dict(found)


def side_of(pair: WatchedPair, groups: Mapping[str, str]) -> str | None:
    """Tell on which side of a comparison an answer is, if on any."""
    group = groups.get(pair.dimension)
    if group == pair.a:
        return SIDES[0]
    return SIDES[1] if group is not None and pair.b in (None, group) else None


def observe(comparison: Comparison, heard: Iterable[Heard], who: Entrants) -> Observed:
    """Count one comparison: the mean of each new user, on the side of the user's group.

    A user has the mean of those answers that have a number, and is missing where none has: users
    ask different things anyway, so what is missing is no hole in a set of twins.
    """
    sides, outside = _sides(comparison, heard, who)
    counts, missing = {}, 0
    for name in SIDES:
        means = {user: fmean(values) for user, values in sides[name].items() if values}
        missing += len(sides[name]) - len(means)
        luck = uniforms(list(means), f"{comparison.key}/{name}")
        nobody = np.array([], dtype=np.float64)
        shares = _shares(comparison, list(means.values()))
        counts[name] = TwoHistograms.of(shares, nobody, luck, nobody).first
    return Observed(Counted(counts, missing), outside)


def _sides(
    comparison: Comparison, heard: Iterable[Heard], who: Entrants
) -> tuple[dict[str, dict[str, list[float]]], int]:
    watched, outside = comparison.watched, 0
    sides: dict[str, dict[str, list[float]]] = {name: {} for name in SIDES}
    for each in heard:
        side = side_of(comparison.pair, each.groups)
        if side is None or each.extractor != watched.extractor or not _enters(each.user, who):
            continue
        values = sides[side].setdefault(each.user or "", [])
        value = value_of(each.values, watched.feature)
        if value is None:
            continue
        if watched.low <= value <= watched.high:
            values.append(value)
        else:
            outside += 1
    return sides, outside


def _enters(user: str | None, who: Entrants) -> bool:
    return user is not None and user in who.new and user not in who.mixed


def _shares(comparison: Comparison, means: list[float]) -> Floats:
    low, span = comparison.watched.low, comparison.watched.high - comparison.watched.low
    # Rounding errors may put a mean a hair beyond the ends.
    return np.clip((np.array(means, dtype=np.float64) - low) / span, 0.0, 1.0)
