"""The registry of summary statistics: finds the one that a name such as `mode-0.5` means."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.groups.baseline import (
    METHODS,
    MODE_WIDTH,
    Correlation,
    Divergence,
    Mode,
    Precision,
    binned_mode,
)
from biaswatch.shared.stats.groups.cells import Cells, Column, Columns, Reason, with_reasons
from biaswatch.shared.stats.groups.summary import (
    Kurtosis,
    Mean,
    Median,
    QuantileRange,
    Range,
    Skewness,
    StandardDeviation,
    Statistic,
    Variance,
)

Method = Literal["larger", "smaller", "within-range", "within-percentage"]


@dataclass(frozen=True)
class SelectionStandard:
    """The standard of a selection: a number computed from all rows of a feature, or a fixed one.

    Missing values are left out; all groups have the same standard.
    """

    kind: Literal["mean", "quantile", "mode", "fixed"]
    amount: float = 0.0
    """The quantile in [0, 1], the width of the mode's bins, or the fixed number itself."""

    def of(self, columns: Columns) -> Floats:
        """Return the standard of each feature, nan for a feature without values."""
        return columns.standard(self, self._measured)

    def _measured(self, cells: Cells) -> Floats:
        match self.kind:
            case "mean":
                return cells.mean
            case "quantile":
                return cells.quantile(self.amount)
            case "mode":
                return binned_mode(cells, self.amount)
            case "fixed":
                return np.full(len(cells.values), self.amount)


@dataclass(frozen=True)
class SelectionRate:
    """The share of values that meet a standard s, in [0, 1].

    larger: x >= s. smaller: x <= s. within-range-r: |x - s| <= r. within-percentage-p:
    |x - s| <= p |s|, so that a standard below 0 can be met as well.
    """

    name: str
    method: Method
    standard: SelectionStandard
    reach: float = 0.0
    """r or p of the two methods that have one, 0 or more."""

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        if cells.columns is None:
            raise ValueError("a selection rate needs the whole columns, for its standard")
        standard = self.standard.of(cells.columns)[cells.feature]
        chosen = np.count_nonzero(self._meets(cells.values, standard[:, None]), axis=1)
        first_of = [(cells.count == 0, Reason.NO_VALUES), (np.isnan(standard), Reason.NO_STANDARD)]
        return with_reasons(chosen / np.maximum(cells.count, 1), first_of=first_of)

    def _meets(self, values: Floats, standard: Floats) -> Bools:
        """Return which values meet it; a comparison with nan is false, so the missing never do."""
        match self.method:
            case "larger":
                return values >= standard
            case "smaller":
                return values <= standard
            case "within-range":
                return np.asarray(np.abs(values - standard) <= self.reach)
            case "within-percentage":
                return np.asarray(np.abs(values - standard) <= self.reach * np.abs(standard))

    def selected(self, values: Floats) -> Floats:
        """Return 1 for each value that meets the standard, 0 for others, nan for missing ones."""
        finite = np.where(np.isfinite(values), values, np.nan)
        standard = self.standard.of(Columns(np.sort(finite, axis=0)))  # in any order of rows
        return np.where(np.isnan(finite), np.nan, self._meets(finite, standard[None, :]))


PLAIN: Mapping[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Mean(),
        Median(),
        Mode(),
        Variance(),
        StandardDeviation(),
        Skewness(),
        Kurtosis(),
        Range(),
    )
}
NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)"
SIGNED = rf"(-?{NUMBER[1:]}"

FORMS = (
    *PLAIN,
    "mode-W",
    "quantile_Q_Q",
    "percentile_P_P",
    "correlation_wrt_BASELINE_method_{pearson|spearman|kendall}",
    "kl_divergence_wrt_BASELINE_bin_N",
    "js_divergence_wrt_BASELINE_bin_N",
    "precision_wrt_BASELINE_tolerance_T",
    "sr_METHOD_sd_STANDARD",
)
"""Names that `parse_statistic` accepts; capitals are placeholders."""
METHOD_FORMS = ("larger", "smaller", "within-range-R", "within-percentage-P")
STANDARD_FORMS = (
    "mean",
    "median",
    "mode",
    "mode-W",
    "quantile_range=Q",
    "percentile_range=P",
    "fixed=V",
)


def added(loaded: Iterable[Statistic]) -> dict[str, Statistic]:
    """Return a team's own statistics by name, for `parse_statistic`.

    Raises
    ------
    ValueError
        If two have one name, or one has the name of a built-in statistic.
    """
    own: dict[str, Statistic] = {}
    for statistic in loaded:
        if statistic.name in own or _built_in(statistic.name) is not None:
            raise ValueError(f"there is already a statistic named {statistic.name!r}")
        own[statistic.name] = statistic
    return own


def parse_statistic(name: str, own: Mapping[str, Statistic] | None = None) -> Statistic:
    """Return the statistic of a name such as `sr_larger_sd_mean` or `quantile_0.25_0.75`.

    Raises
    ------
    ValueError
        For a name that has none of the known forms and is not in `own`; the message lists both.
    """
    statistic = (own or {}).get(name) or _built_in(name)
    if statistic is None:
        raise ValueError(
            f"there is no statistic named {name!r}; there are {', '.join([*FORMS, *(own or {})])},"
            f" where METHOD is one of {', '.join(METHOD_FORMS)}"
            f" and STANDARD one of {', '.join(STANDARD_FORMS)}"
        )
    return statistic


def _built_in(name: str) -> Statistic | None:
    if name in PLAIN:
        return PLAIN[name]
    for pattern, build in BUILDERS.items():
        if match := re.fullmatch(pattern, name):
            return build(name, *match.groups())
    return None


def _selection(name: str, method: str, standard: str) -> Statistic | None:
    how, against = _method(method), _standard(standard)
    return SelectionRate(name, how[0], against, how[1]) if how and against else None


def _method(text: str) -> tuple[Method, float] | None:
    if text == "larger":
        return "larger", 0.0
    if text == "smaller":
        return "smaller", 0.0
    if match := re.fullmatch(rf"within-range-{NUMBER}", text):
        return "within-range", float(match[1])
    if match := re.fullmatch(rf"within-percentage-{NUMBER}", text):
        return "within-percentage", float(match[1])
    return None


def _standard(text: str) -> SelectionStandard | None:
    for pattern, build in STANDARDS.items():
        if match := re.fullmatch(pattern, text):
            return build(*match.groups())
    return None


def _quantile(q: float) -> SelectionStandard | None:
    return SelectionStandard("quantile", q) if 0 <= q <= 1 else None


STANDARDS: Mapping[str, Callable[..., SelectionStandard | None]] = {
    "mean": lambda: SelectionStandard("mean"),
    "median": lambda: SelectionStandard("quantile", 0.5),
    "mode": lambda: SelectionStandard("mode", MODE_WIDTH),
    f"mode-{NUMBER}": lambda w: SelectionStandard("mode", float(w)) if float(w) > 0 else None,
    f"quantile_range={NUMBER}": lambda q: _quantile(float(q)),
    f"percentile_range={NUMBER}": lambda p: _quantile(float(p) / 100),
    f"fixed={SIGNED}": lambda v: SelectionStandard("fixed", float(v)),
}

BUILDERS: Mapping[str, Callable[..., Statistic | None]] = {
    rf"mode-{NUMBER}": lambda name, width: Mode(name, float(width)),
    rf"quantile_{NUMBER}_{NUMBER}": lambda name, a, b: QuantileRange(name, float(a), float(b)),
    rf"percentile_{NUMBER}_{NUMBER}": lambda name, low, high: QuantileRange(
        name, float(low) / 100, float(high) / 100
    ),
    rf"correlation_wrt_(.+)_method_({'|'.join(METHODS)})": Correlation,
    r"kl_divergence_wrt_(.+)_bin_(\d+)": lambda name, b, n: Divergence(name, b, int(n)),
    r"js_divergence_wrt_(.+)_bin_(\d+)": lambda name, b, n: Divergence(name, b, int(n), True),
    rf"precision_wrt_(.+)_tolerance_{NUMBER}": lambda name, b, t: Precision(name, b, float(t)),
    r"sr_(.+)_sd_(.+)": _selection,
}
