"""Verdicts on anytime evidence, the spending of alpha, and forecasts of decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, log, pi

import numpy as np

from biaswatch.shared.stats.anytime.gap_tables import GapTable
from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.comparisons.tolerance_tests import Conclusion
from biaswatch.shared.stats.estimate import Verdict, check_alpha

MULTIPLES: Floats = np.multiply.outer(
    np.exp2(np.arange(1.0, 17.0)), np.exp2(np.linspace(-1, 0, 71)[1:])
).ravel()
"""Multiples of the present units in a forecast: a hundredth apart, up to 2^16."""
GAP_ALPHA_SHARE = 1 / 2
"""Share of alpha for gaps beyond the tolerance."""
CHANGE_ALPHA_SHARE = 1 / 8
"""Share of alpha, four times: for references and for detectors, of changes of gap and of level."""
FIRST_ROUND_WEIGHT = 0.8
"""Weight of the test over all rounds; the rest is for gaps that began later."""


@dataclass(frozen=True)
class Forecast:
    """Further units that a decision is expected to need, or the reason of no forecast."""

    more_units: int | None = None
    decision: Verdict | None = None
    reason: str | None = None


@dataclass(frozen=True)
class CurrentDecision:
    """A verdict at one moment, the evidence for it, and how far an open decision is."""

    conclusion: Conclusion
    log_e: float
    """Log e-value now, against a gap within the tolerance."""
    forecast: Forecast


@dataclass(frozen=True)
class TestParameters:
    """Test parameters, one entry per gap."""

    __test__ = False
    tolerances: Floats
    """The largest gaps that do not matter, at least 0: in the units of the evidence."""
    alphas: Floats
    """The share of alpha of each test."""
    family: int = 1
    """The number of comparisons that are declared and may alarm."""
    shown_shares: Floats | float = 1.0
    """Share of alpha for the confidence sequence, where it covers more than the test has seen."""
    disparity_share: float = 1.0
    """Share of alpha for disparities, where a declared horizon spends the rest."""
    later: Floats | float = np.nan
    """Log evidence of gaps that began after the first round, NaN where none is gathered: the test's
    evidence is then its mean with the whole, weighted by `FIRST_ROUND_WEIGHT`."""

    def __post_init__(self) -> None:
        """Raise ValueError for a bad tolerance, an empty family or alpha outside (0, 1)."""
        wrong = self.tolerances[~(np.isfinite(self.tolerances) & (self.tolerances >= 0))]
        if wrong.size:
            raise ValueError(f"a tolerance is a number of at least 0, not {wrong[0]:g}")
        if self.family < 1:
            raise ValueError("a family has one comparison or more")
        for alpha in np.unique(self.alphas).tolist():
            check_alpha(alpha)

    @property
    def bounds(self) -> Floats:
        """Return the log e-values that reject: ln(family / alpha)."""
        return np.asarray(np.log(self.family / self.alphas), dtype=np.float64)

    @property
    def disparity_bounds(self) -> Floats:
        """Return the log e-values that show a disparity."""
        return self.bounds - log(self.disparity_share)


@dataclass(frozen=True)
class Decisions:
    """Verdicts on many gaps, an entry for each, and forecasts of what is open."""

    log_es: Floats
    """Log e-values now, against a gap within the tolerance."""
    bounds: Floats
    """The log e-values that show a disparity."""
    units: Floats
    disparity: Bools
    none: Bools
    """True where there is no disparity."""
    beyond: Floats
    """The multiple of the units that shows a disparity, or infinity; 1 where nothing is open."""
    within: Floats
    """The multiple that shows none."""

    @property
    def is_open(self) -> Bools:
        """Tell which are inconclusive."""
        return ~(self.disparity | self.none)

    @property
    def reasons(self) -> list[str]:
        """Return why, for each."""
        cases = [self.units == 0, self.disparity, self.none]
        known = np.select(cases, [0, 1, 2], 3).tolist()
        rows = zip(known, self.log_es.tolist(), self.bounds.tolist(), strict=True)
        return [
            REASONS[case] or f"the log evidence is {log_e:.2f} of the {bound:.2f} needed"
            for case, log_e, bound in rows
        ]

    @property
    def more_units(self) -> Floats:
        """Return how many further units a decision is expected to need; NaN without a forecast."""
        is_forecast = self.is_open & (self.units > 0) & np.isfinite(self._first)
        more = np.ceil(self.units * (np.where(is_forecast, self._first, 1.0) - 1))
        return np.where(is_forecast, more, np.nan)

    @property
    def verdict_codes(self) -> Ints:
        """Return the places of the verdicts among `VERDICTS`."""
        return np.select([self.disparity, self.none], [1, 2], 0)

    @property
    def expected_codes(self) -> Ints:
        """Return the places of the expected decisions among `EXPECTED`."""
        return np.where(np.isnan(self.more_units), 0, np.where(self.beyond <= self.within, 1, 2))

    @property
    def no_forecast_codes(self) -> Ints:
        """Return the places among `NO_FORECASTS` of why forecasts of open decisions are missing."""
        return np.select([~self.is_open, self.units == 0, np.isinf(self._first)], [0, 1, 2], 0)

    @property
    def _first(self) -> Floats:
        return np.minimum(self.beyond, self.within)

    def rows(self) -> list[CurrentDecision]:
        """Return them one by one."""
        more = [None if isnan(units) else int(units) for units in self.more_units.tolist()]
        expected = (EXPECTED[code] for code in self.expected_codes.tolist())
        forecasts = map(
            Forecast, more, expected, (NO_FORECASTS[n] for n in self.no_forecast_codes.tolist())
        )
        verdicts = (VERDICTS[code] for code in self.verdict_codes.tolist())
        conclusions = map(Conclusion, verdicts, self.reasons)
        rows = zip(conclusions, self.log_es.tolist(), forecasts, strict=True)
        return [CurrentDecision(*row) for row in rows]


VERDICTS = (Verdict.INCONCLUSIVE, Verdict.DISPARITY, Verdict.NO_DISPARITY)
EXPECTED = (None, Verdict.DISPARITY, Verdict.NO_DISPARITY)
REASONS = (
    "there are no units yet",
    "the evidence against every gap within the tolerance is enough",
    "the confidence sequence lies within the tolerance",
    None,
)
NO_FORECASTS = (
    None,
    "there are no units to forecast from",
    "the gap is too near to the tolerance to forecast a decision",
)


def judge(
    evidence: GapTable, parameters: TestParameters, shown: GapTable | None = None
) -> Decisions:
    """Conclude, about now, from evidence that may have been looked at any number of times.

    - Disparity beyond the tolerance: the evidence against every gap within it is at least
      ln(family / alpha). The chance that any of such a family ever says so wrongly, at any look,
      is at most alpha.
    - No disparity beyond the tolerance: the confidence sequence at alpha / family lies within it.
      It needs a tolerance above 0.
    - Inconclusive: anything else.

    Earlier conclusions are not taken into account: the caller keeps alarms.

    Parameters
    ----------
    evidence
        Evidence of the tests, in the units of the tolerance (log odds for odds ratios).
    parameters
        One entry per row of the evidence.
    shown
        Evidence of the confidence sequences, where it is more than the tests have seen.

    Returns
    -------
    Decisions
        One entry per row.

    References
    ----------
    Ville (1939); Ramdas et al. (2023), Game-theoretic statistics and safe anytime-valid inference.
    """
    whole = evidence if shown is None else shown
    log_es, open_bounds = _with_later(evidence.log_es_beyond(parameters.tolerances), parameters)
    bounds, tolerances = parameters.disparity_bounds, parameters.tolerances
    disparity = (log_es >= bounds) & (whole.units > 0)
    inside = whole.within(tolerances, parameters.bounds - np.log(parameters.shown_shares))
    none = inside & ~disparity & (tolerances > 0) & (whole.units > 0)
    is_open = ~(disparity | none)
    beyond, within = (np.ones(len(log_es)) for _ in range(2))
    beyond[is_open], within[is_open] = _forecasts(whole, tolerances, open_bounds, is_open)
    return Decisions(log_es, bounds, whole.units, disparity, none, beyond, within)


def _with_later(log_es: Floats, parameters: TestParameters) -> tuple[Floats, Floats]:
    """Return the evidence mixed with that of later gaps, and the bound for the whole alone."""
    later = np.broadcast_to(parameters.later, log_es.shape)
    weights = np.where(np.isnan(later), 0.0, log(FIRST_ROUND_WEIGHT))
    rest = np.where(np.isnan(later), -np.inf, later + log(1 - FIRST_ROUND_WEIGHT))
    return np.logaddexp(log_es + weights, rest), parameters.disparity_bounds - weights


def later_weighs_more(log_e: float, later: float | None) -> bool:
    """Return whether gaps that began later make up more than half of a test's evidence."""
    return later is not None and later + log(1 - FIRST_ROUND_WEIGHT) > log_e - log(2)


def _forecasts(
    evidence: GapTable, tolerances: Floats, bounds: Floats, is_open: Bools
) -> tuple[Floats, Floats]:
    """Forecast the open decisions, assuming that future units are like the present ones.

    The smallest multiple of the units at which the evidence reaches the bound or the confidence
    sequence lies within the tolerance. A forecast from few units is as uncertain as their estimate.
    """
    rows = np.flatnonzero(is_open)
    table = evidence if len(rows) == len(is_open) else evidence.of_rows(rows)
    limits = (tolerances[rows], bounds[rows], MULTIPLES)
    return table.first_beyond(*limits), table.first_within(*limits)


def e_bh(log_es: Sequence[float], alpha: float) -> list[bool]:
    """Flag comparisons by Benjamini and Hochberg's procedure on e-values.

    For the view at one moment, with e-values *of that moment*: the false discovery rate is at
    most alpha under any dependence. Running suprema are not e-values, and the union of what is
    flagged over many looks has no such bound.

    Parameters
    ----------
    log_es
        One log e-value per comparison of the family; a comparison without data has 0.
    alpha
        In (0, 1).

    References
    ----------
    Wang and Ramdas (2022), False discovery rate control with e-values.

    Examples
    --------
    >>> e_bh([5.0, 0.0], 0.05)
    [True, False]
    """
    check_alpha(alpha)
    ordered, k = sorted(log_es, reverse=True), len(log_es)
    largest = max(
        (rank for rank in range(1, k + 1) if ordered[rank - 1] >= log(k / (alpha * rank))),
        default=0,
    )
    return [largest > 0 and value >= ordered[largest - 1] for value in log_es]


def alpha_of_gap_test(alpha: float, number: int) -> float:
    """Return the alpha of one test of a whole family's gaps, by its number from 1."""
    return alpha * GAP_ALPHA_SHARE * share_of_test(number)


def alpha_of_search(alpha: float, family: int, number: int) -> float:
    """Return the alpha of one member's detector of changes, and of its references."""
    return alpha * CHANGE_ALPHA_SHARE * share_of_test(number) / family


def share_of_test(number: int) -> float:
    """Return the share of alpha of the test with this number: 6 / (pi number)^2.

    The shares of all tests that can ever begin sum to 1, so that the chance of any false alarm of
    any of them is at most alpha, however many there will be and whatever makes one begin.

    Parameters
    ----------
    number
        From 1.

    Raises
    ------
    ValueError
        For a number below 1.

    Examples
    --------
    >>> round(share_of_test(1), 3), round(share_of_test(2), 3)
    (0.608, 0.152)
    """
    if number < 1:
        raise ValueError(f"tests are counted from 1, not from {number}")
    return 6 / (pi * number) ** 2


def share_left(number: int) -> float:
    """Return the share of alpha that is left once the test with this number has begun."""
    return max(0.0, 1 - sum(share_of_test(test) for test in range(1, number + 1)))


def share_of_attempt(number: int) -> float:
    """Return the share of the attempt with this number: 1 / (number (number + 1)).

    Attempts may go on for ever: the shares sum to 1.
    """
    if number < 1:
        raise ValueError(f"attempts are counted from 1, not from {number}")
    return 1 / (number * (number + 1))
