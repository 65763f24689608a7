"""Assumptions about the answers of a planned monitor: defaults and checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from biaswatch.planning.round_costs import TokenPrices
from biaswatch.shared.contracts import Method, Traffic, WatchedFeature
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.anytime.matched_planning import Arrivals

LARGEST_SPREAD = 10.0
"""Maximum deviation of log odds: nearly every set selects all or none."""
ROUNDING = 1e-9
"""Relative tolerance for rounding of sums at the ends of the range."""


@dataclass(frozen=True)
class MonitorAssumptions:
    """Assumptions about the answers; None for the default, which the row then shows."""

    effect: float
    """The gap to find, in the feature's units or in log odds."""
    sd: float | None = None
    """Deviation of sets' gaps, or of values within groups; default a quarter of the range."""
    level: float | None = None
    """Mean or selected share of the second group; default the middle, or a half."""
    feature: str | None = None
    """The only feature to plan for, as `extractor.feature`."""
    answer_tokens: int | None = None
    """Tokens per answer."""
    prices: TokenPrices = (None, None)
    """Prices per million tokens."""
    new_users: int | None = None
    """New users of the two groups per window of traffic."""
    binary: bool = False
    """Answers are either low or high, so deviations follow from the means."""
    missing: float = 0.0
    """Share of answers that will be missing, such as refusals."""
    spread: float = 0.0
    """Standard deviation of the log odds of sets, which differ in difficulty."""
    first_share: float | None = None
    """The first group's share of the new users; default a half."""
    strata: int | None = None
    """Number of equal strata of the new users; default one."""


@dataclass(frozen=True)
class AssumedValues:
    """Values of a feature for the simulation and the row."""

    sd: float | None = None
    """Deviation of sets' gaps, or within the second group."""
    sd_first: float | None = None
    """Deviation within the first group."""
    level: float | None = None


def check_options(
    assumed: MonitorAssumptions, features: Sequence[WatchedFeature], *, traffic: bool
) -> None:
    """Check that every option is valid and applies to this monitor.

    Raises
    ------
    UsageError
        An option is not a number, is out of range, or does not apply.
    """
    _check_numbers(assumed)
    priced = any(price is not None for price in assumed.prices)
    if priced and None in assumed.prices:
        raise UsageError("Set both `price_read` and `price_written`, or neither.")
    if traffic and (priced or assumed.answer_tokens is not None):
        option = "`price_read`" if priced else "`answer_tokens`"
        raise UsageError(
            f"{option} does not apply: a monitor of traffic makes no calls. Leave it out."
        )
    of_users = {
        "`new_users`": assumed.new_users,
        "`first_share`": assumed.first_share,
        "`strata`": assumed.strata,
    }
    for option, value in of_users.items():
        if not traffic and value is not None:
            raise UsageError(
                f"{option} does not apply: it is for windows of traffic, and this monitor uses a"
                " suite. Leave it out."
            )
    if assumed.strata is not None and assumed.new_users is None:
        raise UsageError(
            "`strata` requires `new_users`: the number of matched users depends on both."
        )
    if assumed.first_share is not None and not 0 < assumed.first_share < 1:
        raise UsageError(f"`first_share` must be between 0 and 1, not {assumed.first_share:g}.")
    _check_methods(assumed, {feature.method for feature in features})


def _check_numbers(assumed: MonitorAssumptions) -> None:
    read, written = assumed.prices
    positive = {"--sd": assumed.sd, "`price_read`": read, "`price_written`": written}
    positive |= {"--missing": assumed.missing, "`spread`": assumed.spread}
    numbers = {"--gap": assumed.effect, "--level": assumed.level, **positive}
    for option, number in numbers.items():
        if number is not None and not isfinite(number):
            raise UsageError(f"{option} must be a finite number, not {number}.")
    for option, number in positive.items():
        if number is not None and number < 0:
            raise UsageError(f"{option} must be at least 0, not {number:g}.")
    if assumed.missing >= 1:
        raise UsageError(
            f"--missing is a share of all answers and must be below 1, not {assumed.missing:g}:"
            " write 2 % as 0.02."
        )
    if assumed.spread > LARGEST_SPREAD:
        raise UsageError(
            f"`spread`, the deviation of log odds between sets, must be at most"
            f" {LARGEST_SPREAD:g}, not {assumed.spread:g}."
        )


def _check_methods(assumed: MonitorAssumptions, methods: set[Method]) -> None:
    deviating = any(not method.of_selections for method in methods)
    if assumed.spread and not any(method.of_selections for method in methods):
        raise UsageError(
            "`spread` does not apply: it is for the methods `odds` and `discordant`. For others,"
            " set the deviation of sets' gaps with --sd."
        )
    if assumed.sd is not None and assumed.binary:
        raise UsageError("--sd and `binary` are exclusive: `binary` implies the deviation.")
    if not deviating and (assumed.sd is not None or assumed.binary):
        option = "`binary`" if assumed.binary else "--sd"
        raise UsageError(
            f"{option} does not apply: the deviation of selections follows from --level. Leave it"
            " out."
        )
    if assumed.level is not None and all(map(_of_gaps, methods)) and not assumed.binary:
        raise UsageError(
            "--level does not apply: the method `pairs` uses gaps alone. Leave it out, or set"
            " `binary` if answers are either low or high."
        )


def _of_gaps(method: Method) -> bool:
    """Return whether only the differences of twins matter, not the level of either side."""
    return method.facts.needs_twins and not method.of_selections


HALF = 0.5


def arrivals_of(traffic: Traffic | None, assumed: MonitorAssumptions) -> Arrivals | None:
    """Return the arrivals of users, None for a suite; dense if their number is unknown."""
    if traffic is None:
        return None
    share = HALF if assumed.first_share is None else assumed.first_share
    if assumed.new_users is None:
        return Arrivals(share)
    near = traffic.max_distance_s / traffic.window_s / (assumed.strata or 1)
    return Arrivals(share, assumed.new_users * near)


def values_of(watched: WatchedFeature, assumed: MonitorAssumptions) -> AssumedValues:
    """Return the level and the deviations of a feature.

    Raises
    ------
    ValueError
        No answers satisfy the assumptions, or the gap is within the tolerance.
    """
    if abs(assumed.effect) <= watched.tolerance:
        raise ValueError(
            f"a --gap of {assumed.effect:g} is within the tolerance of {watched.tolerance:g} and"
            " raises no alarm; plan for a larger one"
        )
    if watched.method.of_selections:
        level = 0.5 if assumed.level is None else assumed.level
        if not 0 < level < 1:
            raise ValueError(
                f"the selected share, --level, must be between 0 and 1, not {level:g}: log odds are"
                " undefined at 0 and 1"
            )
        return AssumedValues(level=level)
    span = watched.high - watched.low
    if abs(assumed.effect) > span:
        raise ValueError(
            f"a gap of {assumed.effect:g} is impossible on a range from {watched.low:g} to"
            f" {watched.high:g}; set a --gap of at most {span:g}, or declare the true range"
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


def _sd(watched: WatchedFeature, mean: float, assumed: MonitorAssumptions) -> float:
    most = sqrt(max(0.0, (mean - watched.low) * (watched.high - mean)))
    if assumed.binary:
        return most
    if assumed.sd is None:
        return min((watched.high - watched.low) / 4, most)
    default = " (--level is the default, the middle)" if assumed.level is None else ""
    _check_sd(assumed.sd, most, f"values of a group with a mean of {mean:g}{default}")
    return assumed.sd


def _means(watched: WatchedFeature, assumed: MonitorAssumptions) -> tuple[float, float]:
    low, high = watched.low, watched.high
    level, default = assumed.level, ""
    if level is None:
        level, default = low + (high - low) / 2, " (the default, the middle)"
    means, slack = (level + assumed.effect, level), ROUNDING * (high - low)
    for mean in reversed(means):
        if not low - slack <= mean <= high + slack:
            raise ValueError(
                f"a group's mean of {mean:g} is outside the range from {low:g} to {high:g}:"
                f" --level is {level:g}{default} and --gap {assumed.effect:g}; set another --level"
            )
    return means


def _check_sd(sd: float, most: float, of: str) -> None:
    if sd > most * (1 + ROUNDING):
        raise ValueError(
            f"{of} have a deviation of at most {most:.4g}, not {sd:g}; set a smaller --sd, or leave"
            " it out"
        )
