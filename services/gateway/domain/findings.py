"""Which of a run's gaps a page shows first."""

from shared.contracts import Diagnosis, Gap, Verdict

MOST_GAPS = 30
FIRST = (Verdict.DISPARITY, Verdict.NO_DISPARITY, Verdict.NOT_ENOUGH)


def by_weight(diagnosis: Diagnosis) -> Diagnosis:
    """Return a diagnosis with its gaps in the order of what they say: disparities, then by p."""
    return diagnosis.model_copy(update={"gaps": tuple(sorted(diagnosis.gaps, key=_weight))})


def _weight(gap: Gap) -> tuple[int, float, float, str, str]:
    p = 1.0 if gap.p_adjusted is None else gap.p_adjusted
    return FIRST.index(gap.verdict), p, -abs(gap.gap.value or 0.0), gap.a, gap.b
