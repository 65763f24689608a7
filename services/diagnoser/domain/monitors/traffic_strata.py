"""The users of a window by stratum: counted like the evidence, and evidence of nothing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from services.diagnoser.domain.monitors.methods.two_groups import SIDES, share_of_range, side_counts
from services.diagnoser.domain.monitors.traffic_matching import (
    LONGEST_FACT,
    Stratum,
    TrafficUser,
    UserMatch,
    match_differences,
)
from shared.contracts import Comparison, StratumUsers

MOST_STRATA = 20
"""Of a comparison in one window; facts may be anything that a sender writes."""
MOST_IN_A_WINDOW = 150
"""Of all comparisons together, so that the record stays small."""


def strata_of_window(
    comparison: Comparison, users: Sequence[TrafficUser], matches: Iterable[UserMatch], most: int
) -> tuple[StratumUsers, ...]:
    """Return the users of each stratum, the `most` largest by name and the others together."""
    by_stratum: dict[Stratum, list[TrafficUser]] = defaultdict(list)
    for user in users:
        by_stratum[_short(user.stratum)].append(user)
    kept = _largest(by_stratum, most)
    together: dict[Stratum, list[TrafficUser]] = defaultdict(list)
    for stratum, mine in by_stratum.items():
        together[stratum if stratum in kept else ()] += mine
    matched: dict[Stratum, list[UserMatch]] = defaultdict(list)
    for match in matches:
        stratum = _short(match.first[0].stratum)
        matched[stratum if stratum in kept else ()].append(match)
    return tuple(
        _counted(comparison, stratum, together[stratum], matched[stratum])
        for stratum in sorted(together)
    )


def most_strata(comparisons: int) -> int:
    """Return how many strata each of so many comparisons tells apart."""
    return max(1, min(MOST_STRATA, MOST_IN_A_WINDOW // max(1, comparisons)))


def _short(stratum: Stratum) -> Stratum:
    return tuple(fact[:LONGEST_FACT] for fact in stratum)


def _largest(by_stratum: Mapping[Stratum, Sequence[TrafficUser]], most: int) -> set[Stratum]:
    ordered = sorted(by_stratum, key=lambda stratum: (-len(by_stratum[stratum]), stratum))
    return set(ordered[:most])


def _counted(
    comparison: Comparison,
    stratum: Stratum,
    users: Iterable[TrafficUser],
    matches: Sequence[UserMatch],
) -> StratumUsers:
    sides: dict[str, dict[str, float]] = {name: {} for name in SIDES}
    for user in users:
        side = SIDES[0] if user.first else SIDES[1]
        sides[side][user.name] = share_of_range(comparison.watched, user.value)
    first, second = (_sparse(side_counts(comparison, name, sides[name])) for name in SIDES)
    return StratumUsers(
        facts=stratum,
        first=first,
        second=second,
        matched=(sum(len(m.first) for m in matches), sum(len(m.second) for m in matches)),
        differences=_sparse(match_differences(comparison, matches)),
    )


def _sparse(counts: Iterable[int]) -> dict[int, int]:
    return {place: count for place, count in enumerate(counts) if count}
