"""`bw.assert_no_disparity`: fails a test, and says which groups differ and how far."""

from typing import Any

from biaswatch.api.frame_diagnosis import FrameDiagnosis, comparison_sentence, diagnose
from shared.contracts import Verdict

MOST_SAID = 10


def assert_no_disparity(found: Any, *, least: float = 0.0, **options: Any) -> FrameDiagnosis:
    """Raise AssertionError where a comparison is a disparity of at least so much.

    Parameters
    ----------
    found
        A frame, or what `bw.diagnose` gave, or a run: `bw.run(...)`.
    least
        The smallest gap that fails the test; a `tolerance` decides what a disparity is.
    options
        Those of `bw.diagnose`, for a frame or a run: `group=`, `feature=`, `unit=`.

    Raises
    ------
    AssertionError
        There is a disparity.
    UsageError
        The frame or an option cannot be used.
    """
    diagnosis = _diagnosed(found, options)
    compared = diagnosis.parts["comparisons"]
    wrong = [
        row for row in compared if row["verdict"] == Verdict.DISPARITY and abs(row["gap"]) >= least
    ]
    if wrong:
        said = [f"  - {comparison_sentence(row)}" for row in wrong[:MOST_SAID]]
        more = [f"  and {len(wrong) - MOST_SAID} more"] if len(wrong) > MOST_SAID else []
        head = f"{len(wrong)} of {len(compared)} comparisons are a disparity:"
        raise AssertionError("\n".join([head, *said, *more]))
    return diagnosis


def _diagnosed(found: Any, options: dict[str, Any]) -> FrameDiagnosis:
    if isinstance(found, FrameDiagnosis):
        return found
    answers = getattr(found, "answers", None)
    return diagnose(answers() if callable(answers) else found, **options)
