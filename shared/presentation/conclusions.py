"""Conclusions of a run in sentences: verdicts, their certainty, notes beside them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import (
    COULD_UNDO,
    NOT_MEASURED,
    coverage,
    names_itself,
    number,
    p_equals,
)
from biaswatch.shared.presentation.columns import estimate_text, gaps_by_evidence
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import RunSummary, gap_verdict, strongest_first

MOST_UNDECIDED, MOST_GAPS = 6, 12
"""So many gaps are concluded on one by one: where they show nothing, and where they do."""
NOTHING_TO_COMPARE = "There is nothing to compare: no probe names a group."


def conclusions(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return what is concluded, in words and numbers: of all groups together, then of each gap.

    Of more than a few gaps, those that decide nothing are counted.
    """
    names = ModelNames.among(diagnoses)
    return [
        f"{names.of(diagnosis)}: {sentence}"
        for diagnosis in diagnoses
        for sentence in (*overall_sentences(diagnosis), *_of_gaps(diagnosis))
    ]


def lead(summary: RunSummary) -> str:
    """Return the decisive sentence of a run that compares groups."""
    return summary.lead if summary.comparisons else NOTHING_TO_COMPARE


def strongest_conclusions(
    diagnoses: Sequence[Diagnosis], most: int | None = None
) -> tuple[list[str], str]:
    """Return what is concluded of the comparisons that say the most, and how the rest ended.

    Disparities come first, over all targets and numbers; `most` of None leaves none out.
    """
    pairs = [(each, gap) for each in diagnoses for gap in each.gaps]
    pairs.sort(key=strongest_first)
    names = ModelNames.among(diagnoses)
    said = [
        f"{names.of(each)}: {gap.a} against {gap.b},"
        f" {by_reading(each.feature, each.extractor)}: {_conclusion(each, gap)}"
        for each, gap in pairs[:most]
    ]
    rest = Counter(gap_verdict(each, gap) for each, gap in pairs[len(said) :])
    words = ", ".join(f"{verdict}: {count}" for verdict, count in rest.items())
    return said, f"The other {rest.total()} comparisons: {words}." if rest else ""


def overall_sentences(diagnosis: Diagnosis) -> Iterator[str]:
    """Return the test over all groups in words, where there are three or more."""
    if (found := diagnosis.overall) is None:
        return
    read = by_reading(diagnosis.feature, diagnosis.extractor)
    where = f"{read} by {diagnosis.dimension}, all {found.groups} groups together"
    if found.p_value is None:
        yield f"{where}: no test, because {found.reason or 'there is none'}."
    else:
        yield (
            f"{where}: {p_equals(found.p_value)} for means this far apart under random labels"
            f" ({found.units:,} prompts); it informs and decides nothing."
        )


def _of_gaps(diagnosis: Diagnosis) -> Iterator[str]:
    gaps = gaps_by_evidence(diagnosis)
    decided = sum(gap.verdict is not Verdict.NOT_ENOUGH for gap in gaps)
    shown = min(max(decided, MOST_UNDECIDED), MOST_GAPS)
    read = by_reading(diagnosis.feature, diagnosis.extractor)
    for gap in gaps[:shown]:
        yield f"{gap.a} against {gap.b}, {read}: {_conclusion(diagnosis, gap)}"
    if rest := Counter(gap_verdict(diagnosis, gap) for gap in gaps[shown:]):
        said = ", ".join(f"{words}: {count}" for words, count in rest.items())
        yield (
            f"{read} by {diagnosis.dimension}, the other {rest.total()} comparisons,"
            f" which the tables list: {said}."
        )


def by_reading(feature: str, instrument: str) -> str:
    """Return the number and what read it: without labels nobody knows how well.

    An instrument that has the name of its only number is not named twice.
    """
    return (
        feature
        if names_itself(instrument, feature)
        else f"{feature} by the reading of {instrument}"
    )


def _conclusion(diagnosis: Diagnosis, gap: Gap) -> str:
    empty = [side for side in diagnosis.sides(gap) if side.is_empty]
    if empty:
        return f"{NOT_MEASURED}: {' and '.join(side.in_words() for side in empty)}."
    estimate = estimate_text(gap.gap)
    undone = f", but {COULD_UNDO}" if gap.survives_missing is False else ""
    if gap.verdict is Verdict.DISPARITY:
        p_adjusted = p_equals(gap.comparable_p(gap.p_adjusted), 3)
        return f"a disparity of {estimate}, adjusted {p_adjusted}{undone}."
    if gap.verdict is Verdict.NO_DISPARITY:
        return f"no disparity beyond the tolerance ({estimate}){undone}."
    return f"not enough evidence for a disparity ({estimate})."


def dimension_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Return what concerns all groups of a dimension together."""
    where = f"{diagnosis.feature} by {diagnosis.dimension}"
    disparities = {(each.statistic, each.metric): each for each in diagnosis.disparities}
    if (spread := disparities.get(("mean", "Max-Min"))) and spread.value is not None:
        yield (
            f"{where}: the groups span {number(spread.value)}; random labels span"
            f" {number(spread.null_median)} half of the time,"
            f" {p_equals(spread.p_value)}."
        )
    if (ratio := disparities.get(("selection_rate", "Impact Ratio"))) and ratio.value is not None:
        yield (
            f"{where}: the smallest selection rate is {number(ratio.value)} of the largest; random"
            f" labels alone give {number(ratio.null_median)} or less half of the time,"
            f" {p_equals(ratio.p_value)}."
        )
    yield from gap_notes(diagnosis)
    if (missing := diagnosis.missing) and missing.p_value is not None:
        yield (
            f"{where}: missing answers alike in all groups? {p_equals(missing.p_value)}"
            f" ({missing.method})."
        )


def gap_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Return what is shown beside gaps and concludes nothing."""
    for gap in diagnosis.gaps:
        if by_set := gap.by_set:
            tested = by_set.low is not None
            by_set_p = gap.comparable_p(gap.by_set_p) if tested else gap.by_set_p
            rank_p = gap.comparable_p(gap.mann_whitney_p)
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: with sets as units"
                f" {estimate_text(by_set)}, {p_equals(by_set_p)}; rank test over"
                f" pooled answers {p_equals(rank_p)} (the convention of"
                " hiring studies: it takes repeats as independent)."
            )
    for gap in diagnosis.gaps:
        if own := gap.instrument:
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: of this, the extractor"
                f" {diagnosis.extractor} makes {estimate_text(own)} alone, on sentences that"
                " differ in the name and nothing else."
            )


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
