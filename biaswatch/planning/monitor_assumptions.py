"""What whoever plans a monitor assumes of its answers: given or by default, checked and said."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from biaswatch.planning.costs import TokenPrices
from biaswatch.shared.contracts import Method, Traffic, WatchedFeature
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.anytime.matched_planning import Arrivals

LARGEST_SPREAD = 10.0
"""Of log odds: nearly every set selects all or none."""
ROUNDING = 1e-9
"""Of the range: sums of what was given may lie that far outside."""


@dataclass(frozen=True)
class Assumptions:
    """What whoever plans believes of the answers; None is the default that the row then shows."""

    effect: float
    """The gap to be found: in the feature's units, or in log odds."""
    sd: float | None = None
    """Of a set's gap, or of values within each group: a quarter of the range, where possible."""
    level: float | None = None
    """The second group's mean, or the share of it that is selected: the middle, or a half."""
    feature: str | None = None
    """The only feature to plan for, as `extractor.feature`."""
    answer_tokens: int | None = None
    """Of one answer."""
    prices: TokenPrices = (None, None)
    """Of a million tokens."""
    new_users: int | None = None
    """Users with one of the two groups whom a window of traffic brings for the first time."""
    binary: bool = False
    """Answers are low or high and nothing between, so that deviations follow from the means."""
    missing: float = 0.0
    """The share of all answers that will be missing, such as refusals."""
    spread: float = 0.0
    """The standard deviation of the log odds of sets: how much they differ in difficulty."""
    first_share: float | None = None
    """The first group's share of these users: a half."""
    strata: int | None = None
    """How many strata these users are spread over, evenly: one."""


@dataclass(frozen=True)
class AssumedValues:
    """The values of a feature as the simulation takes them, and as the row shows them."""

    sd: float | None = None
    """Of a set's gap, or within the second group."""
    sd_first: float | None = None
    """Within the first group."""
    level: float | None = None


def check_options(
    assumed: Assumptions, features: Sequence[WatchedFeature], *, traffic: bool
) -> None:
    """Refuse what is no number, or says nothing of what is planned: nothing is ignored.

    Raises
    ------
    UsageError
        One of the options is such.
    """
    _check_numbers(assumed)
    priced = any(price is not None for price in assumed.prices)
    if priced and None in assumed.prices:
        raise UsageError("`price_read` and `price_written` belong together: give both, or neither.")
    if traffic and (priced or assumed.answer_tokens is not None):
        given = "`price_read`" if priced else "`answer_tokens`"
        raise UsageError(
            f"{given} does not apply: a monitor of traffic asks nothing. Leave it out."
        )
    of_users = {
        "`new_users`": assumed.new_users,
        "`first_share`": assumed.first_share,
        "`strata`": assumed.strata,
    }
    for option, value in of_users.items():
        if not traffic and value is not None:
            raise UsageError(
                f"{option} does not apply: it is for windows of traffic, and this monitor asks a"
                " suite. Leave it out."
            )
    if assumed.strata is not None and assumed.new_users is None:
        raise UsageError(
            "`strata` needs `new_users`: how many of them find neighbours depends on both."
        )
    if assumed.first_share is not None and not 0 < assumed.first_share < 1:
        raise UsageError(f"`first_share` lies between 0 and 1, not at {assumed.first_share:g}.")
    _check_methods(assumed, {each.method for each in features})


def _check_numbers(assumed: Assumptions) -> None:
    read, written = assumed.prices
    positive = {"--sd": assumed.sd, "`price_read`": read, "`price_written`": written}
    positive |= {"--missing": assumed.missing, "`spread`": assumed.spread}
    given = {"--gap": assumed.effect, "--level": assumed.level, **positive}
    for option, number in given.items():
        if number is not None and not isfinite(number):
            raise UsageError(f"{option} is a number, not {number}.")
    for option, number in positive.items():
        if number is not None and number < 0:
            raise UsageError(f"{option} is at least 0, not {number:g}.")
    if assumed.missing >= 1:
        raise UsageError(
            f"--missing is a share of all answers, below 1, not {assumed.missing:g}: 2 % is 0.02."
        )
    if assumed.spread > LARGEST_SPREAD:
        raise UsageError(
            f"`spread` is the deviation of log odds between sets, at most {LARGEST_SPREAD:g}, not"
            f" {assumed.spread:g}."
        )


def _check_methods(assumed: Assumptions, methods: set[Method]) -> None:
    deviating = any(not method.of_selections for method in methods)
    if assumed.spread and not any(method.of_selections for method in methods):
        raise UsageError(
            "`spread` does not apply: it is for the methods `odds` and `discordant`. With others,"
            " give the deviation of sets' gaps as --sd."
        )
    if assumed.sd is not None and assumed.binary:
        raise UsageError("--sd and `binary` exclude one another: `binary` says the deviation.")
    if not deviating and (assumed.sd is not None or assumed.binary):
        given = "`binary`" if assumed.binary else "--sd"
        raise UsageError(
            f"{given} does not apply: what is selected has no deviation but that of --level."
            " Leave it out."
        )
    if assumed.level is not None and all(map(_of_gaps, methods)) and not assumed.binary:
        raise UsageError(
            "--level does not apply: the method `pairs` looks at gaps alone. Leave it out, or give"
            " `binary` where answers are low or high and nothing between."
        )


def _of_gaps(method: Method) -> bool:
    """Tell whether only the differences of twins matter, not the level of either side."""
    return method.facts.needs_twins and not method.of_selections


HALF = 0.5


def arrivals_of(traffic: Traffic | None, assumed: Assumptions) -> Arrivals | None:
    """Return how users come; None for a suite. Where nobody knows how many, they come densely."""
    if traffic is None:
        return None
    share = HALF if assumed.first_share is None else assumed.first_share
    if assumed.new_users is None:
        return Arrivals(share)
    near = traffic.max_distance_s / traffic.window_s / (assumed.strata or 1)
    return Arrivals(share, assumed.new_users * near)


def values_of(watched: WatchedFeature, assumed: Assumptions) -> AssumedValues:
    """Return the level and the deviations of a feature.

    Raises
    ------
    ValueError
        No answers are like that, or no alarm waits for such a gap.
    """
    if abs(assumed.effect) <= watched.tolerance:
        raise ValueError(
            f"a --gap of {assumed.effect:g} is within the tolerance of {watched.tolerance:g},"
            " and no alarm waits for it; plan for a larger one"
        )
    if watched.method.of_selections:
        level = 0.5 if assumed.level is None else assumed.level
        if not 0 < level < 1:
            raise ValueError(
                f"the share that is selected, --level, lies between 0 and 1, not at {level:g}; at"
                " an end no log odds are defined"
            )
        return AssumedValues(level=level)
    span = watched.high - watched.low
    if abs(assumed.effect) > span:
        raise ValueError(
            f"no gap is as large as {assumed.effect:g} on a range from {watched.low:g} to"
            f" {watched.high:g}; give a --gap of at most {span:g}, or declare the range that"
            " answers have"
        )
    if _of_gaps(watched.method) and not assumed.binary:
        most = sqrt(span**2 - assumed.effect**2)
        if assumed.sd is None:
            return AssumedValues(min(span / 4, most))
        _check_sd(assumed.sd, most, f"gaps with a mean of {assumed.effect:g}")
        return AssumedValues(assumed.sd)
    means = _means(watched, assumed)
    first, second = (_sd(watched, mean, assumed) for mean in means)
    level = means[1]
    if _of_gaps(watched.method):
        return AssumedValues(sqrt(first**2 + second**2), level=level)
    return AssumedValues(second, first, level)


def _sd(watched: WatchedFeature, mean: float, assumed: Assumptions) -> float:
    most = sqrt(max(0.0, (mean - watched.low) * (watched.high - mean)))
    if assumed.binary:
        return most
    if assumed.sd is None:
        return min((watched.high - watched.low) / 4, most)
    default = " (--level is the default, the middle)" if assumed.level is None else ""
    _check_sd(assumed.sd, most, f"values of a group with a mean of {mean:g}{default}")
    return assumed.sd


def _means(watched: WatchedFeature, assumed: Assumptions) -> tuple[float, float]:
    low, high = watched.low, watched.high
    level, said = assumed.level, ""
    if level is None:
        level, said = low + (high - low) / 2, " (the default, the middle)"
    means, slack = (level + assumed.effect, level), ROUNDING * (high - low)
    for mean in reversed(means):
        if not low - slack <= mean <= high + slack:
            raise ValueError(
                f"a group's mean lies within the range from {low:g} to {high:g}, not at {mean:g}:"
                f" --level is {level:g}{said} and --gap {assumed.effect:g}; give another --level"
            )
    return means


def _check_sd(sd: float, most: float, of: str) -> None:
    if sd > most * (1 + ROUNDING):
        raise ValueError(
            f"{of} have no deviation of {sd:g}, at most {most:.4g}; give a smaller --sd, or leave"
            " it out"
        )
