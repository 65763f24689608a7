"""How sure a run's findings are, in words: what errors are bounded, and what could undo them."""

from collections.abc import Iterator, Sequence
from statistics import median

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import coverage, number

MOST_NUMBERS = 8
"""So many are named in one sentence."""
Found = tuple[Diagnosis, Gap]


def certainty(compared: Sequence[Diagnosis]) -> Iterator[str]:
    """Say what errors are bounded, what it is about, what could undo it, and what could be hidden.

    Strata take no part: nothing of them is compared.
    """
    if not compared:
        return
    first = compared[0]
    yield (
        f"A false disparity anywhere among the {counted(first.family)} has a chance of at most"
        f" {number(100 * first.alpha)} % (Bonferroni's correction); all intervals hold together"
        f" with {coverage(first.alpha)}. {tolerance_said(first.tolerance)}"
    )
    yield f"The conclusions are about {first.claim}."
    found = [
        (each, gap) for each in compared for gap in each.gaps if gap.verdict is Verdict.DISPARITY
    ]
    if undone := sum(gap.survives_missing is False for _, gap in found):
        yield f"{undone} of the {len(found)} disparities could be undone by the missing answers."
    elif found and all(gap.survives_missing for _, gap in found):
        yield "No missing answer could undo a disparity, whatever it would have been."
    yield from _instruments(found)
    yield from _still_possible(compared)


def counted(comparisons: int) -> str:
    """Return how many comparisons, in words."""
    return "1 comparison" if comparisons == 1 else f"{comparisons} comparisons"


def tolerance_said(tolerance: float) -> str:
    """Say which gaps do not matter."""
    if not tolerance:
        return "Every gap matters, however small: the tolerance is 0."
    return f"A gap of up to {number(tolerance)} does not matter."


def _instruments(found: Sequence[Found]) -> Iterator[str]:
    """Say which disparities would stand if what read the answers is biased by itself."""
    tried = [pair for pair in found if pair[1].instrument is not None]
    if tried:
        stand = sum(_outlasts(gap, each.tolerance) for each, gap in tried)
        which = f"{stand} of the {len(tried)} disparities {'is' if stand == 1 else 'are'}"
        if len(tried) == 1:
            which = f"The disparity is {'' if stand else 'not shown to be '}".rstrip()
        yield (
            f"{which} larger than what the extractor makes of the groups' names alone, each by its"
            " own interval."
        )
    untried = sorted({each.extractor for each, gap in found if gap.instrument is None})
    if untried:
        yield (
            f"Whether {', '.join(untried[:MOST_NUMBERS])} reads answers about all groups alike was"
            " not tried: biaswatch extractors calibrate measures what it makes of a name alone, and"
            " labels of people say how far it errs in each group."
        )


def _outlasts(gap: Gap, tolerance: float) -> bool:
    """Tell whether a gap less the extractor's own, each at its worst, is still a disparity."""
    own, ends = gap.instrument, (gap.gap.low, gap.gap.high)
    if own is None or None in (*ends, own.low, own.high):
        return False
    low, high = (gap.gap.low or 0.0) - (own.high or 0.0), (gap.gap.high or 0.0) - (own.low or 0.0)
    return low > tolerance or high < -tolerance


def _still_possible(compared: Sequence[Diagnosis]) -> Iterator[str]:
    """Say how large a gap the undecided comparisons could hide, for each number."""
    hidden: dict[str, list[float]] = {}
    for each in compared:
        ends = (_largest_end(gap) for gap in each.gaps if gap.verdict is Verdict.NOT_ENOUGH)
        hidden.setdefault(each.feature, []).extend(end for end in ends if end is not None)
    told = [(name, median(ends)) for name, ends in hidden.items() if ends][:MOST_NUMBERS]
    if told:
        said = ", ".join(f"{number(end, 2)} in {name.replace('_', ' ')}" for name, end in told)
        yield f"Half of the undecided comparisons could still hide a gap of up to {said}, or more."


def _largest_end(gap: Gap) -> float | None:
    ends = [abs(end) for end in (gap.gap.low, gap.gap.high) if end is not None]
    return max(ends, default=None)
