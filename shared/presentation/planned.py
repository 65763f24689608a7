"""The power of a run, from the intervals of an earlier run of the same suite."""

from collections.abc import Sequence

from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.stats.comparisons.planned_power import POWER, findable_gap

UNKNOWN = (
    "Not known before the first run of this suite. `biaswatch plan SUITE --gap G` says how many"
    " questions and repeats a gap needs."
)


def power_sentences(
    earlier: Sequence[Diagnosis], parts: int, repeats: tuple[int, int]
) -> list[str]:
    """Return for each feature the smallest gap that a run is likely to find.

    Parameters
    ----------
    earlier
        Findings of an earlier run of the suite.
    parts
        Models times scaffolds of the new run.
    repeats
        Repeats of the earlier run and of the new one.
    """
    compared = [row for row in earlier if row.gaps and not row.stratum]
    parts_before = len({(row.target, row.scaffold) for row in compared}) or 1
    features = dict.fromkeys(row.feature for row in compared)
    lines = [
        _sentence([row for row in compared if row.feature == feature], parts / parts_before)
        for feature in features
    ]
    sentences = list(filter(None, lines))
    if not sentences:
        return [UNKNOWN]
    before, now = repeats
    if now < before:
        why = f"Not known: the earlier run asked each question {before} times, and fewer find less."
        return [f"{why} Ask {before} times or more for an estimate."]
    if now > before:
        sentences.append(
            f"The gaps above are upper bounds: the earlier run asked each question {before} times."
        )
    return sentences


def _sentence(rows: Sequence[Diagnosis], ratio: float) -> str | None:
    """Return the sentence of one feature, for its comparison with the widest interval."""
    widths = [
        ((gap.gap.high - gap.gap.low) / 2, row)
        for row in rows
        for gap in row.gaps
        if gap.gap.low is not None and gap.gap.high is not None
    ]
    if not widths:
        return None
    half, row = max(widths, key=lambda width: width[0])
    family = max(1, round(row.family * ratio))
    gap, reach = findable_gap(
        half, row.tolerance, alpha=row.alpha, family=family, family_before=row.family
    )
    can = "can" if reach < row.tolerance else "cannot"
    shown = (
        f"it {can} rule out a gap beyond the tolerance of {number(row.tolerance)}"
        if row.tolerance
        else "it cannot rule out a gap, as no tolerance is declared"
    )
    return (
        f"{words(row.feature)}: finds a gap of {number(gap)} or more in {number(100 * POWER)} % of"
        f" such runs; {shown} (its intervals reach {number(reach)} to each side)."
    )
