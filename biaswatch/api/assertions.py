"""`bw.assert_no_disparity`: fail a test that finds a disparity, or measures too little."""

from typing import Any

from biaswatch.api.diagnosis import diagnose
from biaswatch.api.frame_diagnosis import FrameDiagnosis, comparison_sentence
from biaswatch.api.platforms import FinishedRun
from biaswatch.checks import CheckCode, CheckRule, check_result, checked_table
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE
from biaswatch.shared.errors import UsageError

MAX_LISTED = 10
"""Number of disparities that a message lists."""


def assert_no_disparity(
    source: Any, *, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE, **options: Any
) -> FrameDiagnosis:
    """Raise AssertionError for a disparity, or if too little was measured to find one.

    Parameters
    ----------
    source
        A frame, a run (`bw.run(...)`), or the result of `bw.diagnose`.
    least
        The smallest gap that fails the test; a `tolerance` decides what a disparity is.
    min_measured
        The required share of answers with a number in each group.
    options
        Options of `bw.diagnose`: `group=`, `feature=`, `unit=`. For a run they replace the
        declarations of its suite.

    Raises
    ------
    AssertionError
        There is a disparity, or too little was measured, or the run is not complete.
    UsageError
        The frame or an option cannot be used.
    """
    rule = CheckRule(least, min_measured)
    if isinstance(source, FrameDiagnosis) and options:
        raise UsageError(
            f"The source is a diagnosis already: pass {', '.join(options)} to `bw.diagnose`."
        )
    diagnosis = source if isinstance(source, FrameDiagnosis) else diagnose(source, **options)
    incomplete = source.results.incomplete if isinstance(source, FinishedRun) else None
    result = check_result(diagnosis.checked, rule, incomplete)
    if result.code is CheckCode.PASSED:
        return diagnosis
    if result.code is CheckCode.NOT_MEASURED:
        raise AssertionError(result.sentence)
    rows = diagnosis.parts["comparisons"]
    failing = [
        row for row, checked in zip(rows, checked_table(rows), strict=True) if rule.fails(checked)
    ]
    head = f"{len(failing)} of {len(rows)} comparisons are a disparity:"
    lines = [f"  - {comparison_sentence(row)}" for row in failing[:MAX_LISTED]]
    more = [f"  and {len(failing) - MAX_LISTED} more"] if len(failing) > MAX_LISTED else []
    raise AssertionError("\n".join([head, *lines, *more, *result.reasons[1:]]))
