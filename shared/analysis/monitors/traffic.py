"""A window of production traffic: what it adds to the evidence, and what it looked like."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES
from biaswatch.shared.analysis.monitors.round_answers import Counts, RoundCounts
from biaswatch.shared.analysis.monitors.window_columns import (
    NOT_MEASURED,
    Block,
    ComparedRows,
    WindowColumns,
)
from biaswatch.shared.contracts import (
    MISSING,
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
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS, TwoHistograms
from biaswatch.shared.stats.anytime.units import Hashes, hashes, uniform_table
from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval

NO_SIDE = -1


@dataclass(frozen=True)
class Entrants:
    """Who may enter the evidence of one dimension in a window, by the codes of users."""

    new: Bools
    """Users who had not entered in this epoch before."""
    known: Bools
    """Users who had, and do not enter again."""
    mixed: Bools
    """Users in several groups of the dimension, who are evidence for none."""


@dataclass(frozen=True)
class UsersInGroups:
    """The users of whom a dimension is known, by their codes."""

    present: Bools
    mixed: Bools
    """Users in several groups of the dimension."""


def side_of(pair: WatchedPair, groups: Mapping[str, str]) -> int:
    """Return on which side of a comparison an answer is, 0 or 1; `NO_SIDE` if on none."""
    group = groups.get(pair.dimension)
    if group == pair.a:
        return 0
    return 1 if group is not None and pair.b in (None, group) else NO_SIDE


def sides_of(pair: WatchedPair, window: WindowColumns) -> Ints:
    """Return the side of each code of groups."""
    return np.array([side_of(pair, groups) for groups in window.groups_by_code], dtype=np.int64)


def compared_rows(
    comparison: Comparison, window: WindowColumns, block: Block, sides: Ints
) -> ComparedRows:
    """Return the answers of a block that one comparison is about, to any user."""
    watched = comparison.watched
    states = window.of(window.states[watched.extractor], block)
    side = sides[window.of(window.groups, block)]
    measured = np.flatnonzero((side != NO_SIDE) & (states != NOT_MEASURED))
    if watched.feature == MISSING:
        empty = np.array([empty for empty, _ in window.reasons_by_code], dtype=np.float64)
        values = empty[states[measured]]
    else:
        column = window.values[watched.extractor, watched.feature]
        values = window.of(column, block)[measured]
    users = window.users_of(block)[measured]
    second = side[measured] == 1
    return ComparedRows(measured + block.rows.start, users, second, values, states[measured])


def accounts_of(window: WindowColumns, pairs: Sequence[WatchedPair], used: Bools) -> MemberAccounts:
    """Return what became of a window's members, each in one account: the first that applies.

    Parameters
    ----------
    pairs
        The groups that are compared.
    used
        [answers]: which of them any comparison counts.
    """
    by_code = [all(side_of(p, g) == NO_SIDE for p in pairs) for g in window.groups_by_code]
    without_group = np.array(by_code, dtype=np.bool_)
    accounts: Counter[str] = Counter()
    for block in window.blocks():
        rows = slice(block.rows.start, block.rows.stop)
        left = window.of(window.has_text, block)
        accounts["without_text"] += int((~left).sum())
        for account, which in (
            ("without_group", without_group[window.of(window.groups, block)]),
            ("unmeasured", ~window.measured(block)),
            ("evidence", used[rows]),
        ):
            accounts[account] += int((left & which).sum())
            left = left & ~which
        accounts["described"] += int(left.sum())
    return MemberAccounts(**accounts)


def users_in_groups(window: WindowColumns, dimension: str) -> UsersInGroups:
    """Return the users who have any group of a dimension by an answer that was measured."""
    groups = [groups.get(dimension) for groups in window.groups_by_code]
    codes: dict[str | None, int] = {None: -1}
    of_code = np.array([codes.setdefault(level, len(codes)) for level in groups], dtype=np.int64)
    seen, mixed = (np.zeros(window.users, dtype=np.bool_) for _ in range(2))
    for block in window.blocks(nameless=False):
        group = of_code[window.of(window.groups, block)]
        known = window.measured(block) & (group >= 0)
        users, group = window.users_of(block)[known], group[known]
        starts = firsts_of(users)
        if len(starts):
            least, most = (f.reduceat(group, starts) for f in (np.minimum, np.maximum))
            seen[users[starts]] = True
            mixed[users[starts]] = least != most
    return UsersInGroups(seen, mixed)


def firsts_of(users: Ints) -> Ints:
    """Return the places at which a user is not the one before."""
    if not len(users):
        return np.empty(0, dtype=np.int64)
    return np.append(0, np.flatnonzero(users[1:] != users[:-1]) + 1)


def means_by_user(users: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return each user, in the same order, and the mean of the user's values, rounded once.

    Parameters
    ----------
    users
        The user of each value; the values of one stand together.
    """
    starts = firsts_of(users)
    sizes = np.diff(np.append(starts, len(users)))
    # One number and the sum of two are exact as they are: others are summed without rounding.
    sums = np.add.reduceat(values, starts) + 0.0 if len(starts) else np.empty(0)
    for place in np.flatnonzero(sizes > 2).tolist():
        begin = int(starts[place])
        sums[place] = fsum(values[begin : begin + int(sizes[place])].tolist())
    return users[starts], sums / sizes


def shares_of_range(watched: WatchedFeature, means: Floats) -> Floats:
    """Return means from 0 to 1; rounding errors may put them a hair beyond the range."""
    return np.clip((means - watched.low) / (watched.high - watched.low), 0.0, 1.0)


def side_histogram(comparison: Comparison, side: int, units: Hashes, shares: Floats) -> Ints:
    """Return the histogram of users of one side, rounded as 64 bits of their names say."""
    uniform = uniform_table(units, hashes([f"{comparison.key}/{SIDES[side]}"]))[:, 0]
    empty = np.empty(0)
    return np.array(TwoHistograms.of(shares, empty, uniform, empty).first, dtype=np.int64)


def count_window(
    comparison: Comparison, window: WindowColumns, who: Entrants
) -> tuple[RoundCounts, Bools]:
    """Count one comparison: the mean of each new user, on the side of the user's group.

    A user has the mean of those answers that have a number, and is missing where none has: users
    ask different things anyway, so a missing answer leaves no gap in a set of twins. Also returns
    the answers that are counted.
    """
    watched, missing, outside = comparison.watched, 0, 0
    used = np.zeros(window.size, dtype=np.bool_)
    counts = [np.zeros(VALUE_BINS, dtype=np.int64) for _ in SIDES]
    for entrants in entering(comparison, window, who):
        used[entrants.rows] = True
        inside = (entrants.values >= watched.low) & (entrants.values <= watched.high)
        outside += int((~np.isnan(entrants.values) & ~inside).sum())
        for side in range(len(SIDES)):
            own = entrants.second == bool(side)
            users, means = means_by_user(
                entrants.users[own & inside], entrants.values[own & inside]
            )
            missing += len(firsts_of(entrants.users[own])) - len(users)
            shares = shares_of_range(watched, means)
            counts[side] += side_histogram(comparison, side, window.user_hashes(users), shares)
    named: Counts = {name: tuple(c.tolist()) for name, c in zip(SIDES, counts, strict=True)}
    return RoundCounts(named, missing, outside), used


def entering(
    comparison: Comparison, window: WindowColumns, who: Entrants
) -> Iterator[ComparedRows]:
    """Yield the answers of users who may enter, some users at a time."""
    sides, allowed = sides_of(comparison.pair, window), who.new & ~who.mixed
    for block in window.blocks(nameless=False):
        rows = compared_rows(comparison, window, block, sides)
        yield rows.where(allowed[rows.users])


NAMELESS = (
    "{} of the answers name no user or conversation: whether they are independent of one another"
    " is not known"
)
UNEXPLAINED = "no such number"


def window_descriptions(
    plan: MonitorPlan,
    window: WindowColumns,
    users: Mapping[str, UserCounts | None],
    strata: Mapping[str, tuple[StratumUsers, ...]],
) -> tuple[Described, ...]:
    """Describe every number that is watched in every comparison that is declared."""
    return tuple(
        _described(comparison, window, plan.alpha).model_copy(
            update={"users": users.get(comparison.key), "strata": strata.get(comparison.key, ())}
        )
        for comparison in plan.all_comparisons
    )


def _described(comparison: Comparison, window: WindowColumns, alpha: float) -> Described:
    watched, pair = comparison.watched, comparison.pair
    names = (pair.a, pair.b or f"any but {pair.a}")
    return Described(
        extractor=watched.extractor,
        feature=watched.feature,
        dimension=pair.dimension,
        comparison_key=comparison.key,
        groups=tuple(
            _summary(name, comparison, window, alpha, second=bool(side))
            for side, name in enumerate(names)
        ),
    )


def _summary(
    name: str, comparison: Comparison, window: WindowColumns, alpha: float, *, second: bool
) -> GroupSummary:
    watched, sides = comparison.watched, sides_of(comparison.pair, window)
    missing: Counter[str] = Counter()
    parts, responses, nameless = [np.empty(0)], 0, 0
    for block in window.blocks():
        rows = compared_rows(comparison, window, block, sides)
        rows = rows.where(rows.second == second)
        responses += len(rows.rows)
        lacks = np.isnan(rows.values)
        for code, count in enumerate(np.bincount(rows.reasons[lacks]).tolist()):
            if count:
                missing[window.reasons_by_code[code][1] or UNEXPLAINED] += count
        users, values = rows.users[~lacks], rows.values[~lacks]
        if block.users:
            parts.append(means_by_user(users, values)[1])
        else:  # an answer without a user counts as one of its own
            parts.append(values + 0.0)
            nameless += len(values)
    means = np.concatenate(parts)
    del parts
    return GroupSummary(
        group=name,
        responses=responses,
        missing=missing.total(),
        missing_reasons=dict(sorted(missing.items())),
        units=len(means),
        mean=_mean_of(means, nameless, watched, alpha),
    )


def _mean_of(means: Floats, nameless: int, watched: WatchedFeature, alpha: float) -> Estimate:
    if nameless:
        mean = fsum(means) / len(means)
        return Estimate(value=mean, method="mean", reason=NAMELESS.format(nameless))
    # Values beyond the range that was declared say that it is not the range.
    known = bool(((means >= watched.low) & (means <= watched.high)).all())
    bounds = (watched.low, watched.high) if known else None
    return mean_interval(means, bounds, alpha)
