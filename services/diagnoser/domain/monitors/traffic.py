"""A window of production traffic: what it adds to the evidence, and what it looked like."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from statistics import fmean

import numpy as np

from services.diagnoser.domain.monitors.methods.two_groups import SIDES, share_of_range, side_counts
from services.diagnoser.domain.monitors.round_answers import RoundCounts, Values, value_of
from shared.contracts import (
    Comparison,
    Described,
    Estimate,
    GroupSummary,
    MemberAccounts,
    MonitorPlan,
    StratumUsers,
    UserCounts,
    WatchedFeature,
    WatchedPair,
)
from shared.stats.comparisons.mean_interval import mean_interval

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TrafficAnswer:
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
    said_at: datetime = EPOCH
    """When it was given."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is known of it: topic, language, product."""
    response_id: str = ""

    @property
    def at_s(self) -> float:
        """When it was given, in seconds since 1970."""
        return self.said_at.timestamp()


@dataclass(frozen=True)
class Entrants:
    """Who may enter the evidence of one dimension in this window."""

    new: Collection[str]
    """Users who had not entered in this epoch before."""
    known: Collection[str]
    """Users who had, and do not enter again."""
    mixed: Collection[str]
    """Users in several groups of the dimension, who are evidence for none."""


@dataclass(frozen=True, slots=True)
class Member:
    """An answer that was taken in time for a window."""

    key: str
    """The answer's own name."""
    user: str | None
    """The user or conversation, where one is named."""
    groups: Mapping[str, str]
    said_at: datetime
    """When it was given."""
    has_text: bool
    """Whether there was an answer at all."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is known of it."""
    response_id: str = ""


def accounts_of(
    members: Iterable[Member],
    pairs: Iterable[WatchedPair],
    measured: Collection[str],
    used: Collection[str],
) -> MemberAccounts:
    """Return what became of a window's members, each in one account: the first that applies.

    Parameters
    ----------
    pairs
        The groups that are compared.
    measured
        The names of the answers that any extractor has measured.
    used
        The names of those that any comparison counts.
    """
    compared = list(pairs)

    def account(member: Member) -> str:
        if not member.has_text:
            return "without_text"
        if all(side_of(pair, member.groups) is None for pair in compared):
            return "without_group"
        if member.key not in measured:
            return "unmeasured"
        return "evidence" if member.key in used else "described"

    return MemberAccounts(**Counter(map(account, members)))


def groups_by_user(heard: Iterable[TrafficAnswer], dimension: str) -> dict[str, set[str]]:
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


def count_window(
    comparison: Comparison, heard: Iterable[TrafficAnswer], who: Entrants
) -> RoundCounts:
    """Count one comparison: the mean of each new user, on the side of the user's group.

    A user has the mean of those answers that have a number, and is missing where none has: users
    ask different things anyway, so what is missing is no hole in a set of twins.
    """
    sides, outside, used = _sides(comparison, heard, who)
    counts, missing = {}, 0
    for name in SIDES:
        means = {user: fmean(values) for user, values in sides[name].items() if values}
        missing += len(sides[name]) - len(means)
        shares = {user: share_of_range(comparison.watched, mean) for user, mean in means.items()}
        counts[name] = side_counts(comparison, name, shares)
    return RoundCounts(counts, missing, outside, frozenset(used))


def _sides(
    comparison: Comparison, heard: Iterable[TrafficAnswer], who: Entrants
) -> tuple[dict[str, dict[str, list[float]]], int, set[str]]:
    watched, outside, used = comparison.watched, 0, set()
    sides: dict[str, dict[str, list[float]]] = {name: {} for name in SIDES}
    for each in heard:
        side = side_of(comparison.pair, each.groups)
        if side is None or each.extractor != watched.extractor or each.user is None:
            continue
        if each.user not in who.new or each.user in who.mixed:
            continue
        used.add(each.key)
        values = sides[side].setdefault(each.user, [])
        value = value_of(each.values, watched.feature)
        if value is None:
            continue
        if watched.low <= value <= watched.high:
            values.append(value)
        else:
            outside += 1
    return sides, outside, used


NAMELESS = (
    "{} of the answers name no user or conversation: whether they are independent of one another"
    " is not known"
)
UNEXPLAINED = "no such number"


def window_descriptions(
    plan: MonitorPlan,
    heard: Collection[TrafficAnswer],
    users: Mapping[str, UserCounts | None],
    strata: Mapping[str, tuple[StratumUsers, ...]],
) -> tuple[Described, ...]:
    """Describe every number that is watched in every comparison that is declared."""
    return tuple(
        _described(each, heard, plan.alpha).model_copy(
            update={"users": users.get(each.key), "strata": strata.get(each.key, ())}
        )
        for each in plan.watched
    )


def _described(comparison: Comparison, heard: Iterable[TrafficAnswer], alpha: float) -> Described:
    watched, pair = comparison.watched, comparison.pair
    mine = [each for each in heard if each.extractor == watched.extractor]
    names = dict(zip(SIDES, (pair.a, pair.b or f"any but {pair.a}"), strict=True))
    by_side = {side: [a for a in mine if side_of(pair, a.groups) == side] for side in SIDES}
    return Described(
        extractor=watched.extractor,
        feature=watched.feature,
        dimension=pair.dimension,
        comparison_key=comparison.key,
        groups=tuple(
            _summary(names[side], there, watched, alpha) for side, there in by_side.items()
        ),
    )


def _summary(
    name: str, heard: Collection[TrafficAnswer], watched: WatchedFeature, alpha: float
) -> GroupSummary:
    units: dict[tuple[str | None, str], list[float]] = defaultdict(list)
    missing: Counter[str] = Counter()
    for each in heard:
        value = value_of(each.values, watched.feature)
        if value is None:
            missing[each.unscorable or UNEXPLAINED] += 1
        else:
            # Who is not named is taken for nobody else.
            units[each.user, "" if each.user else each.key].append(value)
    means = [fmean(values) for _, values in sorted(units.items(), key=lambda item: str(item[0]))]
    if nameless := sum(len(values) for (user, _), values in units.items() if user is None):
        mean = Estimate(value=fmean(means), method="mean", reason=NAMELESS.format(nameless))
    else:
        # Values beyond the range that was declared say that it is not the range.
        known = all(watched.low <= value <= watched.high for value in means)
        bounds = (watched.low, watched.high) if known else None
        mean = Estimate(**asdict(mean_interval(np.array(means), bounds, alpha)))
    return GroupSummary(
        group=name,
        responses=len(heard),
        missing=missing.total(),
        missing_reasons=dict(sorted(missing.items())),
        units=len(means),
        mean=mean,
    )
