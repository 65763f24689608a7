"""`bw.diagnose`: the diagnosis of a frame or a run, with the numbers of `biaswatch diagnose`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import ValidationError

from biaswatch.api import frames
from biaswatch.api.frame_diagnosis import FrameDiagnosis
from biaswatch.api.frames import Names, as_pandas, listed
from biaswatch.api.platforms import FinishedRun
from biaswatch.diagnosis.diagnosis import diagnose_rows, run_columns, table_columns
from biaswatch.diagnosis.sources import frame_input, measured_input
from biaswatch.readers.run_tables import RunTable
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.diagnoses import DiagnoseRequest
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

FRAME_OPTIONS = ("baseline", "labels", "probability", "truth", "text")
"""Options for columns of a frame."""


def diagnose(
    source: Any,
    *,
    group: Names = (),
    feature: Names = (),
    reference: str | None = None,
    unit: str | None = None,
    set: str | None = None,  # noqa: A002 - the word of the command line
    random: Names = (),
    assigned: bool = False,
    domain: Names = (),
    baseline: str | None = None,
    calibrate: bool = False,
    ranges: Mapping[str, Bounds | None] | None = None,
    scale: Mapping[str, str] | None = None,
    statistic: Names = (),
    tolerance: float | None = None,
    alpha: float | None = None,
    correction: str = "bonferroni",
    claim: str | None = None,
    compare: str | None = None,
    permutations: int | None = None,
    seed: int = 0,
    ddof: int = 0,
    labels: Names | Mapping[str, Names] = (),
    probability: str | None = None,
    truth: str | None = None,
    selected_at_least: Mapping[str, float] | None = None,
    text: Names = (),
) -> FrameDiagnosis:
    """Return statistics by group, disparities and corrected comparisons of a frame or a run.

    Parameters
    ----------
    source
        A frame of pandas, polars or Arrow with one answer per row, or a run: `bw.run(...)`. For a
        run, groups, features, unit, sets, ranges, claim, level and tolerance default to those of
        its suite, and each target and scaffold is a separate domain.
    group, feature
        Columns of groups, and of numbers; one name or several. Required for a frame.
    reference
        The group that comparisons subtract, where they involve it; by default the one that sorts
        last.
    unit
        The column of the unit, such as the prompt or the user; by default each row is a unit.
    set
        The column of counterfactual sets; groups are compared within sets.
    random
        Columns of random factors: names, texts, templates, whose values could have been drawn
        differently. `group_effect` and `verdict` then hold beyond these values.
    assigned
        Whether labels were assigned to units at random: `same_treatment` then needs no sets.
    domain
        Columns of domains; rows of different domains are analysed separately.
    baseline
        The column of baseline values.
    calibrate
        Diagnose value minus baseline value.
    ranges
        The smallest and the largest possible value by feature; None if unknown.
    scale
        `log` or `rank` by feature: compares a skewed feature, such as a length, as `log(words)` or
        `rank(words)`.
    statistic
        Names of statistics by group, including those of installed packages.
    tolerance
        The largest gap that does not matter; 0 by default.
    alpha
        1 minus the coverage of intervals; 0.05 by default.
    correction
        `holm`, `bh`, `by` or `bonferroni`.
    claim
        Scope of the conclusions: `population` or `bank`.
    compare
        `pairs`, `rest` or `auto`.
    permutations
        Relabellings of all groups, 1000 by default, for the distribution of each disparity by
        chance. If set, each comparison is relabelled as well.
    ddof
        Delta degrees of freedom of deviations: 0 as in SAGED, or 1.
    labels
        The column of labels by people, empty for unlabelled rows; one column per person; for
        several features a dict by feature. Labels of `truth` (a judge's, say) correct the error
        rates. `corrections` has the corrected gaps.
    probability
        The column of each row's probability of being labelled; equal within groups by default.
    truth
        The column of right answers, 0 or 1 (or numbers, with a threshold): adds error rates by
        group, their comparisons, and `error_rates`, `parity` and `calibration`.
    selected_at_least
        By feature, the lowest value that counts as selected; a feature of 0 and 1 needs none.
    text
        Columns of texts, such as the answer, that `cases` shows.

    Raises
    ------
    UsageError
        A column or a value cannot be used; the message names it.

    Examples
    --------
    >>> import biaswatch as bw, pandas as pd
    >>> frame = pd.DataFrame({"gender": ["f", "m"] * 20, "score": [3, 4] * 10 + [4, 4] * 10})
    >>> diagnosis = bw.diagnose(frame, group="gender", feature="score", reference="f")
    >>> diagnosis.comparisons[["a", "b", "gap", "summary"]].values.tolist()
    [['m', 'f', 0.5, 'disparity']]
    >>> diagnosis.by_group[["gender", "n", "mean"]].values.tolist()
    [['f', 20, 3.5], ['m', 20, 4.0]]
    """
    try:
        request = DiagnoseRequest(
            group=listed(group), feature=listed(feature), reference=reference, unit=unit, set=set,
            random=listed(random), domain=listed(domain), baseline=baseline, calibrate=calibrate,
            ranges=ranges or {},
            statistic=listed(statistic), tolerance=tolerance, alpha=alpha, correction=correction,
            claim=claim, compare=compare, permutations=permutations, seed=seed, ddof=ddof,
            labels=_label_names(labels), assigned=assigned, scale=scale or {},
            probability=probability, truth=truth, selected_at_least=selected_at_least or {},
            text=listed(text),
        )  # fmt: skip
    except ValidationError as error:
        mistake = first_mistake(error)
        raise UsageError(f"`{mistake.field}`: {mistake.sentence}.") from None
    try:
        return _diagnosed(source, request)
    except UsageError as error:
        raise UsageError(frames.in_python(str(error))) from None


def _diagnosed(source: Any, request: DiagnoseRequest) -> FrameDiagnosis:
    if isinstance(source, FinishedRun):
        if source.table is not None:
            return _run_diagnosis(source.table, request)
        source = source.answers()
    if not (request.group and request.feature):
        named = ", ".join(map(str, frames.as_pandas(source, ()).columns))
        raise UsageError(f"Name columns of the frame with `group=` and `feature=`: {named}.")
    columns = table_columns(request)
    columns_of_rows = filter(None, [request.unit, request.set])
    texts = [*request.group, *request.random, *request.domain, *columns_of_rows]
    frame = frame_input(as_pandas(source, texts), columns, "The frame")
    return FrameDiagnosis(diagnose_rows(frame, request), frames.backend_of(source))


def _run_diagnosis(table: RunTable, request: DiagnoseRequest) -> FrameDiagnosis:
    if wrong := [name for name in FRAME_OPTIONS if getattr(request, name)]:
        raise UsageError(f"`{wrong[0]}` is for a frame: pass `run.answers()` instead of the run.")
    return FrameDiagnosis(diagnose_rows(measured_input(table, run_columns(request)), request), pd)


def _label_names(
    labels: Names | Mapping[str, Names],
) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
    if isinstance(labels, Mapping):
        return {feature: listed(columns) for feature, columns in labels.items()}
    return listed(labels)
