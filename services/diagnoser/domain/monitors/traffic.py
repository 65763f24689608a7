"""A window of production traffic: what it adds to the evidence, and what it looked like."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean

from services.diagnoser.domain.monitors.methods.two_groups import SIDES, share_of_range, side_counts
from services.diagnoser.domain.monitors.round_answers import RoundCounts, Values, value_of
from shared.contracts import Comparison, Described, Estimate, GroupSummary, MonitorPlan, WatchedPair
from shared.stats.comparisons.means_and_rates import mean_of


@dataclass(frozen=True)
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
class WindowCounts:
    """What one comparison takes from a window."""

    counted: RoundCounts
    outside: int


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
) -> WindowCounts:
    """Count one comparison: the mean of each new user, on the side of the user's group.

    A user has the mean of those answers that have a number, and is missing where none has: users
    ask different things anyway, so what is missing is no hole in a set of twins.
    """
    sides, outside = _sides(comparison, heard, who)
    counts, missing = {}, 0
    for name in SIDES:
        means = {user: fmean(values) for user, values in sides[name].items() if values}
        missing += len(sides[name]) - len(means)
        shares = {user: share_of_range(comparison.watched, mean) for user, mean in means.items()}
        counts[name] = side_counts(comparison, name, shares)
    return WindowCounts(RoundCounts(counts, missing), outside)


def _sides(
    comparison: Comparison, heard: Iterable[TrafficAnswer], who: Entrants
) -> tuple[dict[str, dict[str, list[float]]], int]:
    watched, outside = comparison.watched, 0
    sides: dict[str, dict[str, list[float]]] = {name: {} for name in SIDES}
    for each in heard:
        side = side_of(comparison.pair, each.groups)
        if side is None or each.extractor != watched.extractor or each.user is None:
            continue
        if each.user not in who.new or each.user in who.mixed:
            continue
        values = sides[side].setdefault(each.user, [])
        value = value_of(each.values, watched.feature)
        if value is None:
            continue
        if watched.low <= value <= watched.high:
            values.append(value)
        else:
            outside += 1
    return sides, outside


NAMELESS = (
    "{} of the answers name no user or conversation: whether they are independent of one another"
    " is not known"
)
UNEXPLAINED = "no such number"


def window_descriptions(
    plan: MonitorPlan, heard: Collection[TrafficAnswer]
) -> tuple[Described, ...]:
    """Describe every number that is watched in every comparison that is declared."""
    return tuple(_described(each, heard, plan.alpha) for each in plan.watched)


def _described(comparison: Comparison, heard: Iterable[TrafficAnswer], alpha: float) -> Described:
    watched, pair = comparison.watched, comparison.pair
    mine = [each for each in heard if each.extractor == watched.extractor]
    names = dict(zip(SIDES, (pair.a, pair.b or f"any but {pair.a}"), strict=True))
    by_side = {side: [a for a in mine if side_of(pair, a.groups) == side] for side in SIDES}
    return Described(
        extractor=watched.extractor,
        feature=watched.feature,
        dimension=pair.dimension,
        groups=tuple(
            _summary(names[side], there, watched.feature, alpha) for side, there in by_side.items()
        ),
    )


def _summary(
    name: str, heard: Collection[TrafficAnswer], feature: str, alpha: float
) -> GroupSummary:
    units: dict[tuple[str | None, str], list[float]] = defaultdict(list)
    missing: Counter[str] = Counter()
    for each in heard:
        value = value_of(each.values, feature)
        if value is None:
            missing[each.unscorable or UNEXPLAINED] += 1
        else:
            # Who is not named is taken for nobody else.
            units[each.user, "" if each.user else each.key].append(value)
    means = [fmean(values) for _, values in sorted(units.items(), key=lambda item: str(item[0]))]
    if nameless := sum(len(values) for (user, _), values in units.items() if user is None):
        mean = Estimate(value=fmean(means), method="mean", reason=NAMELESS.format(nameless))
    else:
        mean = Estimate(**asdict(mean_of(means, alpha)))
    return GroupSummary(
        group=name,
        responses=len(heard),
        missing=missing.total(),
        missing_reasons=dict(sorted(missing.items())),
        units=len(means),
        mean=mean,
    )
