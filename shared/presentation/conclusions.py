"""Conclusions of a run in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from biaswatch.shared.analysis.findings.scales import scale_notes
from biaswatch.shared.contracts import Diagnosis, GroupSummary, SummaryWord
from biaswatch.shared.formatting import counted, coverage, number, p_equals
from biaswatch.shared.lookup import first
from biaswatch.shared.presentation.findings import ComparisonView, comparisons, feature_by_extractor
from biaswatch.shared.presentation.interactions import tested_interactions
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import estimate_text, share_text, words

MAX_UNDECIDED, MAX_GAPS = 6, 12
"""Gaps of a finding with a sentence each: without a decision, and at most."""
MAX_FEATURES = 8
"""Features that one sentence lists."""


def conclusions(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return what follows for each gap, then for all groups together, the strongest finding first.

    Of more than a few undecided gaps, the rest is counted.
    """
    names = ModelNames.among(diagnoses)
    ordered = sorted(diagnoses, key=_strongest)
    return [
        f"{names.of(diagnosis)}: {sentence}"
        for sentences_of in (_gap_sentences, overall_sentences)
        for diagnosis in ordered
        for sentence in sentences_of(diagnosis)
    ]


def _strongest(diagnosis: Diagnosis) -> tuple[Any, ...]:
    """Return the sort key of a finding: its strongest gap, or last without one."""
    rows = comparisons([diagnosis])
    return (False, rows[0].order) if rows else (True,)


def _gap_sentences(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the strongest gaps of a finding, and the counts of the others."""
    rows = comparisons([diagnosis])
    decided = sum(row.gap.summary is not SummaryWord.INCONCLUSIVE for row in rows)
    shown = min(max(decided, MAX_UNDECIDED), MAX_GAPS)
    yield from (row.sentence for row in rows[:shown])
    if rest := rows[shown:]:
        read = feature_by_extractor(diagnosis.feature, diagnosis.extractor)
        yield (
            f"{read} by {diagnosis.dimension}, the other {len(rest)} comparisons,"
            f" which the tables list: {_verdict_counts(rest)}."
        )


def strongest_conclusions(
    diagnoses: Sequence[Diagnosis], max_rows: int | None = None
) -> tuple[list[str], str]:
    """Return the conclusions with the strongest evidence, and the counts of the others."""
    rows = comparisons(diagnoses)
    sentences = [f"{row.model}: {row.sentence}" for row in rows[:max_rows]]
    rest = rows[len(sentences) :]
    counts = f"The other {len(rest)} comparisons: {_verdict_counts(rest)}." if rest else ""
    return sentences, counts


def _verdict_counts(rows: Sequence[ComparisonView]) -> str:
    counts = Counter(row.verdict for row in rows)
    if len(counts) == 1:
        return first(counts, "No comparison is left.")
    return ", ".join(f"{verdict}: {count}" for verdict, count in counts.items())


def overall_sentences(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the test over all groups, where there are three or more."""
    if test := diagnosis.overall:
        read = feature_by_extractor(diagnosis.feature, diagnosis.extractor)
        where = f"{read} by {diagnosis.dimension}, all {test.groups} groups together"
        yield overall_sentence(where, test.p_value, f"{test.units:,} prompts", test.reason)


def overall_sentence(where: str, p: float | None, units: str, reason: str | None) -> str:
    """Return the test over all groups as a sentence."""
    if p is None:
        return f"{where}: no test, because {reason or 'it was not computed'}."
    return (
        f"{where}: {p_equals(p)} for means this far apart under random labels ({units});"
        " no verdict uses it."
    )


def means_sentence(diagnosis: Diagnosis) -> str:
    """Return the means of all groups, the largest first, and how many answers are missing."""
    groups = sorted(diagnosis.groups, key=_by_mean)
    listed = "; ".join(
        f"{group.group} {number(group.mean.value)}"
        + (f" ({group.missing} of {group.responses} missing)" if group.missing else "")
        for group in groups
    )
    return f"Mean {diagnosis.feature} by {diagnosis.dimension}: {listed}."


def _by_mean(group: GroupSummary) -> tuple[bool, float]:
    """Return the order of a group: the largest mean first, undefined ones last."""
    return group.mean.value is None, -(group.mean.value or 0.0)


def dimension_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield notes about all groups of a dimension, and about its gaps."""
    where = f"{diagnosis.feature} by {diagnosis.dimension}"
    disparities = {(row.statistic, row.metric): row for row in diagnosis.disparities}
    if (spread := disparities.get(("mean", "Max-Min"))) and spread.value is not None:
        yield (
            f"{where}: the groups span {number(spread.value)}; with random labels the median is"
            f" {number(spread.null_median)}."
        )
    if (ratio := disparities.get(("selection_rate", "Impact Ratio"))) and ratio.value is not None:
        yield (
            f"{where}: the smallest selection rate is {number(ratio.value)} times the largest; with"
            f" random labels the median is {number(ratio.null_median)}."
        )
    for row in diagnosis.parities:
        if row.estimate.value is not None:
            verdict = f": {words(row.verdict)}" if row.verdict else ""
            size = f"{words(f'{row.parity}_{row.metric}')} {estimate_text(row.estimate)}"
            yield f"{where}: {size}{verdict}."
    yield from scale_notes(diagnosis.feature)
    yield from tested_interactions(diagnosis)
    yield from gap_notes(diagnosis)
    yield from reservation_notes(diagnosis)
    if (missing := diagnosis.missing) and missing.p_value is not None:
        yield (
            f"{where}: missing answers alike in all groups? {p_equals(missing.p_value)}"
            f" ({missing.method})."
        )


RESERVATIONS = {
    "cut_off": "of answers that were cut off after the requested part",
    "constrained": "of answers that the model gave only when held to a schema",
}


def reservation_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield how many numbers are of answers cut off or held to a schema."""
    counted = sum(group.responses - group.missing for group in diagnosis.groups)
    for kind, words_ in RESERVATIONS.items():
        if count := sum(group.reservations.get(kind, 0) for group in diagnosis.groups):
            yield (
                f"{diagnosis.feature} by {diagnosis.dimension}: {share_text(count, counted)} of"
                f" {counted} numbers are {words_}."
            )


def gap_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield tests without a verdict beside the declared one, and `instrument_notes`."""
    for gap in diagnosis.gaps:
        if by_set := gap.by_set:
            p = gap.by_set_p if by_set.low is None else gap.comparable_p(gap.by_set_p)
            rank_p = gap.comparable_p(gap.mann_whitney_p)
            of_sets = f", {p_equals(p)}" if p is not None else ""
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: with sets as units"
                f" {estimate_text(by_set)}{of_sets}; rank test over pooled answers"
                f" {p_equals(rank_p)} (the convention of hiring studies: it treats repeats as"
                " independent)."
            )
    yield from instrument_notes(diagnosis)


def instrument_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the extractor's own part of each gap, where it was measured."""
    for gap in diagnosis.gaps:
        if own := gap.instrument:
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: of this, the extractor"
                f" {diagnosis.extractor} makes {estimate_text(own)} alone, on sentences that"
                " differ in the name and nothing else."
            )


def certainty(
    diagnoses: Sequence[Diagnosis], rows: Sequence[ComparisonView] | None = None
) -> Iterator[str]:
    """Yield how certain the verdicts are, and what could change them; strata are left out.

    `rows` are the sorted comparisons of the findings.
    """
    if not diagnoses:
        return
    diagnosis = diagnoses[0]
    tolerance = (
        f"A gap of up to {number(diagnosis.tolerance)} does not matter."
        if diagnosis.tolerance
        else "Every gap matters, however small: the tolerance is 0."
    )
    scope = level_scope(diagnoses)
    are_shifts = any(gap.twin_shift for row in diagnoses for gap in row.gaps)
    assumed = ", where a group shifts all answers alike" if are_shifts else ""
    yield (
        f"A false disparity anywhere among the {families_of(diagnoses)} has a chance of at most"
        f" {number(100 * diagnosis.alpha)} %{scope} (Bonferroni's correction); all intervals hold"
        f" together with {coverage(diagnosis.alpha)}{scope}{assumed}. {tolerance}"
    )
    yield f"The conclusions are about {diagnosis.claim}."
    rows = comparisons(diagnoses) if rows is None else rows
    disparities = [row for row in rows if row.is_disparity]
    if undone := sum(row.gap.survives_missing is False for row in disparities):
        yield f"The missing answers could undo {undone} of the {len(disparities)} disparities."
    elif any(map(_lacks_answers, disparities)) and all(r.gap.survives_missing for r in disparities):
        yield "Whatever the missing answers would have been, they could not undo a disparity."
    yield from _instrument_sentences(disparities)


def _lacks_answers(row: ComparisonView) -> bool:
    """Return whether any answer of the finding behind a comparison is missing."""
    return any(group.missing for group in row.diagnosis.groups)


def families_of(diagnoses: Sequence[Diagnosis]) -> str:
    """Return how many comparisons were corrected together; error rates are a second family."""
    sizes = {diagnosis.error_rate: diagnosis.family for diagnosis in diagnoses}
    kinds = ((False, ""), (True, " of error rates"))
    counts = [f"{counted(sizes[of], 'comparison')}{kind}" for of, kind in kinds if of in sizes]
    return " and, as a second family, ".join(counts)


def level_scope(diagnoses: Sequence[Diagnosis]) -> str:
    """Return words for a level in each of two families, or an empty text."""
    return " in each family" if len({d.error_rate for d in diagnoses}) > 1 else ""


def _instrument_sentences(disparities: Sequence[ComparisonView]) -> Iterator[str]:
    """Yield how many disparities exceed the extractor's own gap, and untested extractors."""
    tested = [row for row in disparities if row.gap.instrument is not None]
    if tested:
        larger = sum(_exceeds_instrument(row) for row in tested)
        which = f"{larger} of the {len(tested)} disparities {'is' if larger == 1 else 'are'}"
        if len(tested) == 1:
            which = f"The disparity is{'' if larger else ' not shown to be'}"
        yield (
            f"{which} larger than the extractor's own gap between the groups' names, each by its"
            " own interval."
        )
    untested = sorted({r.diagnosis.extractor for r in disparities if r.gap.instrument is None})
    if untested:
        yield (
            f"Bias of {', '.join(untested[:MAX_FEATURES])} itself was not tested:"
            " `biaswatch extractors bias` measures its reading of names alone, and labels of people"
            " measure its error in each group."
        )


def _exceeds_instrument(row: ComparisonView) -> bool:
    """Return whether a gap minus the extractor's own, each at its worst, is a disparity."""
    own, gap = row.gap.instrument, row.gap.summary_gap
    if own is None or own.low is None or own.high is None or gap.low is None or gap.high is None:
        return False
    tolerance = row.diagnosis.tolerance
    return gap.low - own.high > tolerance or gap.high - own.low < -tolerance
