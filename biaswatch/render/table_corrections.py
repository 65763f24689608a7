"""Gaps of a table as its labels correct them: rows for JSON and frames, and words for people."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from biaswatch.render.corrections import error_tables, gap_row
from biaswatch.render.tables import print_sentence, print_table, terminal_table
from biaswatch.shared.analysis.labels.table_corrections import TableCorrection
from biaswatch.shared.contracts import CorrectedGap
from biaswatch.shared.formatting import UNDEFINED, VERDICT_WORDS, p_equals
from biaswatch.shared.presentation.correction_words import amount, estimate, width_sentences

HEAD = ("feature", "groups", "by readings", "corrected by labels", "ratio", "verdict")
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
    print_table(console, terminal_table(HEAD, cells), "")
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
