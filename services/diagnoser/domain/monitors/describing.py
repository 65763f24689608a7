"""A window of production traffic, described: counts and means by group, which conclude nothing."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from statistics import fmean

from services.diagnoser.domain.monitors.answers import value_of
from services.diagnoser.domain.monitors.traffic import SIDES, Heard, side_of
from shared.contracts import Comparison, Described, Estimate, GroupSummary, MonitorPlan, WatchedPair
from shared.stats.comparisons.means_and_rates import mean_of

NAMELESS = (
    "{} of the answers name no user or conversation: whether they are independent of one another"
    " is not known"
)
UNEXPLAINED = "no such number"


def described(plan: MonitorPlan, heard: Collection[Heard]) -> tuple[Described, ...]:
    """Describe every number that is watched in every comparison that is declared."""
    return tuple(_described(each, heard, plan.alpha) for each in plan.watched)


def _described(comparison: Comparison, heard: Iterable[Heard], alpha: float) -> Described:
    watched, pair = comparison.watched, comparison.pair
    mine = [each for each in heard if each.extractor == watched.extractor]
    return Described(
        extractor=watched.extractor,
        feature=watched.feature,
        dimension=pair.dimension,
        groups=tuple(_groups(pair, mine, watched.feature, alpha)),
    )


def _groups(
    pair: WatchedPair, heard: Collection[Heard], feature: str, alpha: float
) -> Iterator[GroupSummary]:
    names = (pair.a, pair.b or f"any but {pair.a}")
    for side, name in zip(SIDES, names, strict=True):
        there = [each for each in heard if side_of(pair, each.groups) == side]
        yield _summary(name, there, feature, alpha)


def _summary(name: str, heard: Collection[Heard], feature: str, alpha: float) -> GroupSummary:
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
    nameless = sum(len(values) for (user, _), values in units.items() if user is None)
    return GroupSummary(
        group=name,
        responses=len(heard),
        missing=missing.total(),
        missing_reasons=dict(sorted(missing.items())),
        units=len(means),
        mean=_mean(means, nameless, alpha),
    )


def _mean(means: list[float], nameless: int, alpha: float) -> Estimate:
    if nameless:
        return Estimate(value=fmean(means), method="mean", reason=NAMELESS.format(nameless))
    return Estimate(**asdict(mean_of(means, alpha)))
