"""Findings as labels correct them, beside the readings: rows for JSON and frames, and a table."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.render.tables import print_sentence, print_table, terminal_table
from biaswatch.shared.analysis.labels.table_corrections import TableCorrection
from biaswatch.shared.contracts import CorrectedGap, CorrectedGroup, Correction, Estimate
from biaswatch.shared.formatting import UNDEFINED, VERDICT_WORDS, p_equals
from biaswatch.shared.presentation.corrections import (
    ERROR_COLUMNS,
    amount,
    correction_sentences,
    error_row,
    estimate,
    width_sentences,
)
from biaswatch.shared.presentation.names import ModelNames

Row = dict[str, Any]
GapKey = tuple[str, ...]
"""Target, scaffold, extractor, feature, dimension and both groups."""
AS_LABELS_CORRECT = "The declared findings of this run, as labels of people correct them:"
NAMED = ("target", "scaffold", "extractor", "feature", "dimension")
MEANS, ERRORS = (0, 1, 2, 3), (0, 4, 5, 6)
"""Columns of an instrument's error in each group: what is corrected, and how it errs."""
HEAD = ("number", "groups", "by readings", "corrected by labels", "ratio", "verdict")


def error_tables(groups: Sequence[CorrectedGroup]) -> Iterator[Table]:
    """Yield the instrument's error in each group; as one table it is wider than most terminals."""
    cells = [error_row(each) for each in groups]
    for of in (MEANS, ERRORS):
        rows = [[row[place] for place in of] for row in cells]
        yield terminal_table([ERROR_COLUMNS[place] for place in of], rows)


def correction_rows(corrections: Sequence[Correction]) -> list[Row]:
    """Return a row for each comparison: by the readings, and as labels correct it."""
    return [_row(each, gap) for each in corrections for gap in each.gaps]


def corrected_gaps(corrections: Sequence[Correction]) -> dict[GapKey, CorrectedGap]:
    """Return each corrected gap by what is compared."""
    return {(*_key(each), gap.a, gap.b): gap for each in corrections for gap in each.gaps}


def corrected_columns(gap: CorrectedGap | None) -> Row:
    """Return what stands beside a gap by readings; all is null where nobody has labelled."""
    return {
        "corrected": gap.corrected.value if gap else None,
        "corrected_low": gap.corrected.low if gap else None,
        "corrected_high": gap.corrected.high if gap else None,
        "corrected_verdict": gap.verdict.value if gap else None,
    }


def correction_table(corrections: Sequence[Correction]) -> Table:
    """Return a table for people: a row for each comparison."""
    several = len({(each.target, each.scaffold) for each in corrections}) > 1
    names = ModelNames.among(corrections)
    cells = (
        (
            f"{each.extractor}.{each.feature}",
            (f"{names.of(each)}: " if several else "") + f"{gap.a} - {gap.b}",
            estimate(gap.reading),
            estimate(gap.corrected),
            estimate(gap.ratio) if gap.ratio and gap.ratio.low is not None else UNDEFINED,
            VERDICT_WORDS[gap.verdict],
        )
        for each in corrections
        for gap in each.gaps
    )
    return terminal_table(HEAD, cells)


def print_corrections(
    console: Console, corrections: Sequence[Correction], extractors: Sequence[str]
) -> None:
    """Print what labels make of a run's declared findings, or that nobody has labelled anything."""
    if not corrections:
        said = (
            f"All of this is so by the reading of {' and '.join(extractors)}: nobody has labelled"
            " answers of this run. `biaswatch labels sample` draws some."
        )
        print_sentence(console, said, style="dim")
        return
    print_sentence(console, AS_LABELS_CORRECT, style="bold")
    print_table(console, correction_table(corrections), "")
    for line in correction_sentences(corrections):
        print_sentence(console, line, bullet="• ")


def _key(found: Correction) -> GapKey:
    return found.target, found.scaffold, found.extractor, found.feature, found.dimension


def _row(found: Correction, gap: CorrectedGap) -> Row:
    return {
        **dict(
            zip(
                ("target", "scaffold", "extractor", "feature", "dimension"),
                _key(found),
                strict=True,
            )
        ),
        **gap_row(gap),
        "labels": found.labels,
        "people": found.people,
        "labelled_until": found.labelled_until.isoformat(),
    }


def gap_row(gap: CorrectedGap) -> Row:
    """Return the numbers of one comparison."""
    return {
        "a": gap.a,
        "b": gap.b,
        "by_readings": gap.reading.value,
        "by_readings_ci": _bounds(gap.reading),
        "corrected": gap.corrected.value,
        "ci": _bounds(gap.corrected),
        "ci_by_itself": _bounds(gap.by_itself),
        "p_value": gap.p_value,
        "p_adjusted": gap.p_adjusted,
        "verdict": gap.verdict.value,
        "ratio_by_readings": gap.reading_ratio,
        "ratio": gap.ratio.value if gap.ratio else None,
        "ratio_ci": _bounds(gap.ratio) if gap.ratio else None,
        "bias_difference": gap.bias_difference.value,
        "bias_difference_ci": _bounds(gap.bias_difference),
        "reason": gap.corrected.reason or gap.reason,
    }


def _bounds(found: Estimate) -> list[float | None] | None:
    return None if found.low is None and found.high is None else [found.low, found.high]


TABLE_HEAD = ("feature", "groups", "by readings", "corrected by labels", "ratio", "verdict")
ASSUMED = (
    "Labels are taken as drawn by chance within each group (each crossing of groups, where several"
    " columns are compared), and as right: who picks what to label makes another gap."
)
DIFFERS_AT = 0.05


def table_correction_rows(found: Sequence[TableCorrection]) -> list[dict[str, Any]]:
    """Return a row for each comparison: by the readings, and as labels correct it."""
    return [
        {
            "feature": each.feature,
            "dimension": each.dimension,
            "domain": each.domain or None,
            **gap_row(gap),
            "labels": each.labels,
            "people": each.people,
            "agreement": each.agreement.value,
        }
        for each in found
        for gap in each.gaps
    ]


def table_correction_sentences(found: Sequence[TableCorrection]) -> Iterator[str]:
    """Return what labels make of each gap of a table, and of what it was read by."""
    for each in found:
        where = f"{each.domain}: " if each.domain else ""
        for gap in each.gaps:
            yield f"{where}{_gap(each, gap)}"
        yield from (f"{where}{said}" for said in width_sentences(each.groups, each.alpha))
        for gap in each.gaps:
            if gap.bias_p is not None and gap.bias_p <= DIFFERS_AT:
                yield (
                    f"{where}{each.feature} is not read alike for {gap.a} and {gap.b}:"
                    f" {amount(gap.bias_difference)} for {gap.a}, beside what people say, than for"
                    f" {gap.b} ({p_equals(gap.bias_p)})."
                )


def print_table_corrections(console: Console, found: Sequence[TableCorrection]) -> None:
    """Print the same for people, with the error of the readings in each group."""
    print_sentence(console, "As labels of people correct the gaps:", style="bold")
    cells = [
        (
            each.feature,
            (f"{each.domain}: " if each.domain else "") + f"{gap.a} - {gap.b}",
            estimate(gap.reading),
            estimate(gap.corrected),
            estimate(gap.ratio) if gap.ratio and gap.ratio.low is not None else UNDEFINED,
            VERDICT_WORDS[gap.verdict],
        )
        for each in found
        for gap in each.gaps
    ]
    print_table(console, terminal_table(TABLE_HEAD, cells), "")
    for each in found:
        for table in error_tables(each.groups):
            print_table(console, table, "")
    for line in table_correction_sentences(found):
        print_sentence(console, line, bullet="• ")
    print_sentence(console, ASSUMED, style="dim")


def _gap(found: TableCorrection, gap: CorrectedGap) -> str:
    where = f"{gap.a} against {gap.b}, {found.feature}"
    if gap.corrected.value is None:
        return f"{where}: not corrected, because {gap.corrected.reason}."
    people = "" if found.people == 1 else f" by {found.people} people"
    family = f", one of {found.family}" if found.family > 1 else ""
    return (
        f"{where}: {estimate(gap.reading)} by the readings, {estimate(gap.corrected)} as"
        f" {found.labels} labels{people} correct it: {VERDICT_WORDS[gap.verdict]}"
        f" ({p_equals(gap.p_adjusted)}{family})."
    )
