"""Plan a run: the sets and repeats that find a gap with the required power."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from biaswatch.planning.observed import ComparedShape, ObservedSpread, compared_shapes, smallest
from biaswatch.shared.contracts import CONVERSATION, LIKELIHOOD, Claim, Suite
from biaswatch.shared.contracts.derived_features import SEPARATOR
from biaswatch.shared.contracts.probe import turn_count
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.assumed_answers import AssumedAnswers
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.planned_power import (
    SufficientSize,
    simulated_power,
    smallest_enough,
)
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest

Row = dict[str, str | int | float | None]
Progress = Callable[[str], None]
AS_IT_IS, ENOUGH = "as it is", "enough"
MOST_REPEATS = 1024
SET_CORRELATION = 0.5
"""Default correlation of twins."""
NAME_SHARE = 0.2
"""Default deviation of names, as a share of the deviation between prompts."""


@dataclass(frozen=True)
class RunAssumptions:
    """Assumptions about the answers; None for the default, which the plan then shows."""

    gap: float
    sd: float | None = None
    between_sd: float | None = None
    set_correlation: float | None = None
    rate: float | None = None
    level: float | None = None
    bounds: Bounds | None = None
    missing: float | None = None
    name_sd: float | None = None


@dataclass(frozen=True)
class PlanOptions:
    """The declared analysis, and the settings of the search."""

    alpha: float = 0.05
    tolerance: float = 0.0
    power: float = 0.8
    repeats: tuple[int, ...] = (1, 3, 10)
    features: int | None = None
    parts: int = 1
    """Number of targets times scaffolds in the run."""
    dimension: str | None = None
    claim: Claim | None = None
    simulations: int = 200
    seed: int = 1


@dataclass(frozen=True)
class RunPlan:
    """The planned comparison, its assumptions, and the rows of the plan."""

    compared: ComparedShape
    answers: AssumedAnswers
    test: PlannedTest
    rows: list[Row]
    power: float
    comparisons: int
    """Comparisons of one feature, target and scaffold."""


def planned_run(
    suite: Suite, assumed: RunAssumptions, options: PlanOptions, progress: Progress
) -> RunPlan:
    """Return the power of the suite as it is, and the smallest sufficient size, by repeats.

    Raises
    ------
    UsageError
        Nothing is compared, the gap is within the tolerance, or the assumptions are impossible.
    """
    _check(assumed, options)
    shapes = compared_shapes(suite)
    compared = smallest(shapes, options.dimension)
    comparisons = sum(shape.testable for shape in shapes)
    features = options.features or measured_features(suite)
    is_drawn = LIKELIHOOD not in suite.scaffolds
    claim = (options.claim or suite.claim) if is_drawn else Claim.POPULATION
    test = PlannedTest(
        options.alpha, options.tolerance, comparisons * features * options.parts,
        claim is Claim.BANK,
    )  # fmt: skip
    ranged = _with_range(assumed, suite)
    if not is_drawn:
        ranged, options = _not_drawn(ranged), replace(options, repeats=(1,))
    _check_means(ranged)
    try:
        answers = assumed_answers(ranged)
    except ValueError as error:
        raise UsageError(f"{str(error).capitalize()}.") from None
    search = _Search(suite, compared, answers, test, options, progress)
    rows = search.of_fixed_prompts() if test.fixed_prompts else search.of_sets()
    return RunPlan(compared, answers, test, rows, options.power, comparisons)


def measured_features(suite: Suite) -> int:
    """Return the number of compared features; a conversation has them by turn, and their drift."""
    names = suite.features or ("",)
    if CONVERSATION not in suite.scaffolds:
        return len(names)
    turns = max(turn_count(probe.as_messages) for probe in suite.probes)
    return sum(1 if SEPARATOR in name else turns + 2 for name in names)


def _with_range(assumed: RunAssumptions, suite: Suite) -> RunAssumptions:
    """Use the range that the suite declares for all features, unless one is assumed."""
    declared = set(suite.ranges.values())
    if assumed.rate is not None or assumed.bounds is not None or len(declared) != 1:
        return assumed
    return replace(assumed, bounds=declared.pop())


def _not_drawn(assumed: RunAssumptions) -> RunAssumptions:
    """Leave out the deviation of answers to one prompt: expected ratings have none."""
    sd, between = assumed.sd or 0.0, assumed.between_sd
    if between is None and assumed.bounds is not None:
        between = (assumed.bounds[1] - assumed.bounds[0]) / 8
    return replace(assumed, sd=sd, between_sd=between)


def like_a_run(assumed: RunAssumptions, seen: ObservedSpread) -> RunAssumptions:
    """Fill in missing assumptions from a run; the groups are centred at its mean."""
    level = seen.mean - assumed.gap / 2 if assumed.level is None else assumed.level
    known = replace(
        assumed,
        between_sd=_first(assumed.between_sd, seen.between_sd),
        set_correlation=_first(assumed.set_correlation, seen.set_correlation),
        missing=_first(assumed.missing, seen.missing),
    )
    if seen.sd is None or assumed.rate is not None:
        return replace(known, rate=_first(assumed.rate, level))
    bounds = seen.bounds if assumed.bounds is None else assumed.bounds
    sd = seen.sd if seen.bounds is None else seen.unrounded_sd
    return replace(known, sd=_first(assumed.sd, sd), level=level, bounds=bounds)


def _first(value: float | None, default: float | None) -> float | None:
    return default if value is None else value


def assumed_answers(assumed: RunAssumptions) -> AssumedAnswers:
    """Fill in the defaults: a quarter of the range, half of it between prompts, the middle.

    Raises
    ------
    ValueError
        The assumptions are impossible, or no spread is assumed.
    """
    correlation = SET_CORRELATION if assumed.set_correlation is None else assumed.set_correlation
    missing = assumed.missing or 0.0
    if assumed.rate is not None:
        between = 0.1 if assumed.between_sd is None else assumed.between_sd
        return AssumedAnswers(
            assumed.rate + assumed.gap, assumed.rate, None, between, correlation,
            (0.0, 1.0), missing, _first(assumed.name_sd, between * NAME_SHARE) or 0.0,
        )  # fmt: skip
    sd, bounds, level = assumed.sd, assumed.bounds, assumed.level
    if sd is None and bounds is None:
        raise ValueError("the spread of answers is unknown: set --sd, --range or --rate")
    if sd is None and bounds is not None:
        sd = (bounds[1] - bounds[0]) / 4
    if level is None:
        level = (sum(bounds) / 2 if bounds else 0.0) - assumed.gap / 2
    between = (sd or 0.0) / 2 if assumed.between_sd is None else assumed.between_sd
    name_sd = _first(assumed.name_sd, between * NAME_SHARE) or 0.0
    return AssumedAnswers(
        level + assumed.gap, level, sd, between, correlation, bounds, missing, name_sd
    )


def _check(assumed: RunAssumptions, options: PlanOptions) -> None:
    if assumed.gap == 0 or abs(assumed.gap) <= options.tolerance:
        raise UsageError(
            f"A --gap of {assumed.gap:g} is within the tolerance of {options.tolerance:g} and never"
            " a disparity. Plan for a larger one."
        )
    if assumed.rate is not None and (assumed.sd, assumed.level, assumed.bounds) != (None,) * 3:
        raise UsageError(
            "--rate is for yes-or-no answers; --sd, --level and --range do not apply. Leave them"
            " out."
        )
    if assumed.bounds is not None and not assumed.bounds[0] < assumed.bounds[1]:
        raise UsageError("--range needs two numbers, the lower one first.")
    for name, value in {"--alpha": options.alpha, "--power": options.power}.items():
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, not {value:g}.")


def _check_means(assumed: RunAssumptions) -> None:
    """Raise UsageError if a group's mean is outside the range, naming the options."""
    option, second = (
        ("--level", assumed.level) if assumed.rate is None else ("--rate", assumed.rate)
    )
    bounds = assumed.bounds if assumed.rate is None else (0.0, 1.0)
    if bounds is not None and abs(assumed.gap) >= bounds[1] - bounds[0]:
        raise UsageError(
            f"A --gap of {assumed.gap:g} is impossible on the range from {bounds[0]:g} to"
            f" {bounds[1]:g}: plan for a smaller one, or set another --range."
        )
    if second is None or bounds is None:
        return
    low, high = bounds
    if not low < second < high:
        raise UsageError(
            f"{option}, the second group's mean, must be between {low:g} and {high:g}, not"
            f" {second:g}."
        )
    if not low < second + assumed.gap < high:
        raise UsageError(
            f"With {option} {second:g} and --gap {assumed.gap:g} the first group's mean would be"
            f" {second + assumed.gap:g}, which is not between {low:g} and {high:g}: change one of"
            " them."
        )


@dataclass(frozen=True)
class _Search:
    suite: Suite
    compared: ComparedShape
    answers: AssumedAnswers
    test: PlannedTest
    options: PlanOptions
    progress: Progress

    def of_sets(self) -> list[Row]:
        """Return two rows per number of repeats: the suite as it is, and enough sets."""
        size, rows = self.compared.shape.size, list[Row]()
        for repeats in self.options.repeats:
            rows.append(self._row(AS_IT_IS, size, repeats, self._power(size, repeats)))
            enough = smallest_enough(
                lambda sets, repeats=repeats: self._power(sets, repeats),  # type: ignore[misc]
                power=self.options.power,
            )
            rows.append(self._enough(enough, repeats))
        return rows

    def of_fixed_prompts(self) -> list[Row]:
        """Return a row per number of repeats, and one with enough repeats."""
        size = self.compared.shape.size
        rows = [
            self._row(AS_IT_IS, size, repeats, self._power(size, repeats))
            for repeats in self.options.repeats
        ]
        enough = smallest_enough(
            lambda repeats: self._power(size, repeats),
            power=self.options.power, furthest=MOST_REPEATS,
        )  # fmt: skip
        if enough is None:
            return [*rows, self._row(ENOUGH, size, None, None)]
        return [*rows, self._row(ENOUGH, size, enough.number, enough.power)]

    def _power(self, size: int, repeats: int) -> float:
        self.progress(f"{size} sets or prompts per group, {repeats} repeats")
        return simulated_power(
            self.compared.shape.scaled(size), repeats, self.answers, self.test,
            runs=self.options.simulations, seed=self.options.seed,
        )  # fmt: skip

    def _enough(self, enough: SufficientSize | None, repeats: int) -> Row:
        if enough is None:
            return self._row(ENOUGH, None, repeats, None)
        return self._row(ENOUGH, enough.number, repeats, enough.power)

    def _row(self, suite: str, size: int | None, repeats: int | None, power: float | None) -> Row:
        prompts = calls = None
        if size is not None:
            prompts = round(len(self.suite.probes) * size / self.compared.shape.size)
            calls = None if repeats is None else prompts * repeats * self.options.parts
        return {
            "suite": suite, "sets": size, "repeats": repeats,
            "prompts": prompts, "calls": calls, "power": power,
        }  # fmt: skip
