"""`bw.diagnose`: statistics of a frame, with the numbers of `biaswatch diagnose`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from biaswatch.api.frames import as_pandas, backend_of, flattened, html_of, native_frame
from biaswatch.checks import (
    CheckResult,
    CheckRule,
    check_result,
    checked_table,
    is_unmeasured_row,
    measurement_warnings,
    ungrouped,
)
from biaswatch.readers.labels import label_warnings, labelled_columns, named_labels
from biaswatch.readers.tables import TableColumns, frame_observations
from biaswatch.render.table_rows import Parts, overall_sentences, result_rows
from biaswatch.shared.analysis.findings.diagnosis import diagnose_table
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan, ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.labels.table_corrections import table_corrections
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Against, Claim, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import COULD_UNDO, NOT_MEASURED, VERDICT_WORDS, interval, p_equals
from biaswatch.shared.presentation.correction_rows import table_correction_rows
from biaswatch.shared.presentation.corrections import (
    SAMPLING_ASSUMPTION,
    table_correction_sentences,
)
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.groups.registry import parse_statistic

RELABELLINGS = 1000
STATISTICS = ("mean", "median", "standard_deviation", "sr_larger_sd_mean")
SHOWN = ("feature", "domain", "a", "b", "gap", "ci_low", "ci_high", "p_adjusted", "verdict")
Names = str | Sequence[str]


@dataclass(frozen=True)
class FrameDiagnosis:
    """What was found in a frame; its tables are frames of the same library."""

    parts: Parts
    """Every part as plain rows, as `biaswatch diagnose --json` has them."""
    warnings: list[str]
    backend: Any
    corrected_sentences: Sequence[str] = ()
    """What labels make of the gaps; empty without labels."""
    dimensions: Sequence[str] = ()
    """The columns of groups that were named."""

    @property
    def comparisons(self) -> Any:
        """Each gap with its interval, corrected p-value and verdict, the strongest first."""
        return self._frame("comparisons")

    @property
    def groups(self) -> Any:
        """Each statistic of each group, with its interval and how many values are missing."""
        return self._frame("summary")

    @property
    def disparities(self) -> Any:
        """Differences and ratios over all groups, beside what chance gives."""
        return self._frame("disparity")

    @property
    def overall(self) -> Any:
        """The test over all groups of a dimension together."""
        return self._frame("overall")

    @property
    def missing(self) -> Any:
        """Missing values by group, with a test of whether they differ."""
        return self._frame("missingness")

    @property
    def corrections(self) -> Any:
        """Each gap by the readings and as labels correct it; no rows without labels."""
        return self._frame("corrections")

    @property
    def has_disparity(self) -> bool:
        """Whether any comparison is a disparity, by the readings.

        False does not mean that there is none: `check` says whether enough was measured to tell.
        """
        return any(row["verdict"] == Verdict.DISPARITY for row in self.parts["comparisons"])

    def check(self, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE) -> CheckResult:
        """Return how a gate on these comparisons ends: its `code` 0, 1 or 3, and its `reasons`."""
        compared = self.parts["comparisons"]
        alone = ungrouped(self.parts["summary"], compared, self.dimensions)
        return check_result([*checked_table(compared), *alone], CheckRule(least, min_measured))

    @cached_property
    def sentences(self) -> list[str]:
        """What is concluded, a sentence a comparison."""
        said = list(overall_sentences(self.parts["overall"]))
        return [*said, *(comparison_sentence(row) for row in self.parts["comparisons"])]

    def figure(self) -> Any:
        """Return the gaps with their intervals as a figure of matplotlib."""
        return gap_figure(self.parts["comparisons"])

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.corrected_sentences, *self.warnings])

    def _repr_html_(self) -> str:
        rows = [flattened(row) for row in self.parts["comparisons"]]
        shown = [{name: row.get(name) for name in SHOWN} for row in rows]
        said = [*self.sentences[:12], *self.corrected_sentences[:12], *self.warnings]
        return html_of(said, {"Comparisons": shown})

    def _frame(self, part: str) -> Any:
        return native_frame(self.parts.get(part, []), self.backend)


def comparison_sentence(row: Mapping[str, Any]) -> str:
    """Return what is concluded of one comparison."""
    low, high = row["ci"] or (None, None)
    gap = interval(row["gap"], low, high, row["reason"])
    where = f"{row['domain']}: " if row["domain"] else ""
    groups = f"{where}{row['a']} against {row['b']}, {row['feature']}"
    if is_unmeasured_row(row):
        empty = " and ".join(row[side] for side in ("a", "b") if not row[f"n_{side}"])
        return f"{groups}: {NOT_MEASURED}, no row of {empty} has a value."
    p_adjusted = row["p_adjusted"]
    test = f", {p_equals(p_adjusted)} corrected" if p_adjusted is not None else ""
    is_disparity = row["verdict"] == Verdict.DISPARITY
    words = "a disparity" if is_disparity else VERDICT_WORDS[row["verdict"]]
    doubt = f", but {COULD_UNDO}" if row["survives_missing"] is False else ""
    return f"{groups}: {words} (gap {gap}{test}){doubt}."


def diagnose(
    frame: Any,
    *,
    group: Names,
    feature: Names,
    unit: str | None = None,
    set: str | None = None,  # noqa: A002 - the word of the command line
    domain: Names = (),
    baseline: str | None = None,
    ranges: Mapping[str, Bounds | None] | None = None,
    tolerance: float = 0.0,
    alpha: float = 0.05,
    correction: str = "bonferroni",
    claim: str = Claim.POPULATION,
    compare: str = Against.AUTO,
    permutations: int = RELABELLINGS,
    seed: int = 0,
    labels: Names | Mapping[str, Names] = (),
    probability: str | None = None,
) -> FrameDiagnosis:
    """Return statistics by group, disparities and corrected comparisons of a frame.

    Parameters
    ----------
    frame
        Of pandas, polars or Arrow; a row is an answer.
    group, feature
        Columns of groups, and of numbers; a name or several.
    unit
        The column that names the unit: the prompt, the user. Without it, each row is one.
    set
        The column of counterfactual sets, within which groups are compared.
    domain
        Columns whose values keep rows apart.
    baseline
        The column that values are held to.
    ranges
        By feature, the least and the largest value there can be; None where it is not known.
    tolerance
        The largest gap that does not matter.
    permutations
        Relabellings of all groups together: what chance gives beside each disparity.
    labels
        The column of what people said of the same rows, empty where nobody did; of several people,
        several columns; of several features, a dict of these by feature. What they make of the gaps
        is in `corrections`, beside the readings.
    probability
        The column of how probable it was that the row would be labelled; without it, rows of a
        group are taken as drawn all alike.

    Raises
    ------
    UsageError
        A column or a value cannot be used; the sentence names it.
    """
    backend = backend_of(frame)
    columns = TableColumns(
        listed(group), listed(feature), baseline, unit, listed(domain), set,
        _checked_ranges(ranges), _labels(labels, listed(feature)), probability,
    )  # fmt: skip
    if probability and not columns.labels:
        raise UsageError("`probability` is that of labels: name their column with `labels`.")
    texts = [*columns.groups, *columns.domains, *filter(None, [unit, set])]
    native = as_pandas(frame, texts)
    rows, warnings = frame_observations(native, columns, "The frame")
    labelled = labelled_columns(native, columns, rows, "The frame")
    plan = comparison_plan(alpha, tolerance, correction, claim, compare)
    parts = diagnosed_parts(rows, plan, unit, permutations=permutations, seed=seed)
    ends = {each.feature: each.bounds for each in labelled}
    about = AnalysisPlan(
        alpha, tolerance, ranges=ends, claim=Claim(claim), against=Against(compare)
    )
    corrected = table_corrections(rows, labelled, about)
    if labelled:
        parts["corrections"] = table_correction_rows(corrected)
    missing = measurement_warnings(checked_table(parts["comparisons"]), CheckRule())
    warnings = [*warnings, *label_warnings(labelled, rows), *missing]
    said = [*table_correction_sentences(corrected), *([SAMPLING_ASSUMPTION] if corrected else [])]
    return FrameDiagnosis(parts, warnings, backend, said, listed(group))


def comparison_plan(
    alpha: float, tolerance: float, correction: str, claim: str, compare: str
) -> ComparisonPlan:
    """Return how groups are compared.

    Raises
    ------
    UsageError
        There is no such correction, claim or way to compare.
    """
    try:
        return ComparisonPlan(alpha, tolerance, correction, 0, Claim(claim), Against(compare))
    except ValueError as error:
        raise _refused(error) from None


def diagnosed_parts(
    rows: Observations, plan: ComparisonPlan, unit: str | None, *, permutations: int, seed: int
) -> Parts:
    """Return every part of a diagnosis as plain rows.

    Raises
    ------
    UsageError
        The mathematics refuses an argument, in a sentence.
    """
    try:
        diagnosis = diagnose_table(
            rows,
            [parse_statistic(name, {}) for name in STATISTICS],
            plan,
            ddof=0,
            rng=np.random.default_rng(seed),
            permutations=permutations,
        )
    except ValueError as error:
        raise _refused(error) from None
    return result_rows(diagnosis, unit)


def _refused(error: ValueError) -> UsageError:
    return UsageError(str(error).rstrip(".") + ".")


def _checked_ranges(ranges: Mapping[str, Bounds | None] | None) -> dict[str, Bounds | None]:
    """Return ranges whose ends are both finite, the lower one first."""
    checked: dict[str, Bounds | None] = {}
    for name, ends in (ranges or {}).items():
        try:
            low, high = (0.0, 1.0) if ends is None else map(float, ends)
        except (TypeError, ValueError):
            low, high = 0.0, 0.0
        if not (isfinite(low) and isfinite(high) and low < high):
            raise UsageError(
                f"The range of {name!r} needs a number and a larger one, as in (1, 5). Write None"
                " where an end is not known."
            )
        checked[name] = None if ends is None else (low, high)
    return checked


def _labels(given: Names | Mapping[str, Names], features: Sequence[str]) -> dict[str, Names]:
    """Return the columns of labels by feature."""
    if not isinstance(given, Mapping):
        return dict(named_labels(listed(given), features))
    for feature in given:
        if feature not in features:
            raise UsageError(f"There are labels of {feature!r}, which is not among the features.")
    return {feature: tuple(listed(names)) for feature, names in given.items()}


def listed(names: Names) -> list[str]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def gap_figure(compared: Sequence[Mapping[str, Any]]) -> Any:
    """Return gaps with their intervals, ranked by effect; shape and colour are the verdict.

    It is drawn as that of a run's report.

    Raises
    ------
    UsageError
        matplotlib is not installed, or there is no gap.
    """
    try:
        from matplotlib import rc_context

        from biaswatch.render.figures import STYLE
        from biaswatch.render.figures.forest import ForestLine, forest
    except ModuleNotFoundError:
        raise UsageError(
            "Figures need matplotlib: install biaswatch with the extra `figures`."
        ) from None
    lines = []
    for row in (row for row in compared if row["gap"] is not None):
        low, high = row["ci"] or (None, None)
        verdict = Verdict(row["verdict"]) if row["verdict"] else None
        label = ", ".join(filter(None, [row["domain"], f"{row['a']} - {row['b']}"]))
        lines.append(ForestLine(row["feature"], label, row["gap"], low, high, verdict))
    if not lines:
        raise UsageError("There is no gap to draw.")
    with rc_context(STYLE):
        return forest(lines, "Gaps between groups, ranked")
