"""Tables of further assessments: total bias, quality, consistency, combinations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from rich.console import Console

from biaswatch.render.markdown import folded, table_lines
from biaswatch.render.terminal import escape, print_table, rich_table
from biaswatch.shared.contracts import Assessment, Consistency, Estimate, Quality, TotalBias
from biaswatch.shared.formatting import UNDEFINED, coverage, number, p_equals, p_value
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    estimate_cell,
    names,
    number_cell,
    numbers,
    p_cell,
    text_cell,
    texts,
)
from biaswatch.shared.stats.studies.hiring import quality_of_error


def print_assessments(
    console: Console, assessments: Sequence[Assessment], *, everything: bool = False
) -> None:
    """Print the assessments of a run; `everything` includes their tables."""
    if not assessments:
        return
    console.print("\n[bold]Beyond the gaps[/] (sd: over repeats of a prompt)", highlight=False)
    model_names = ModelNames.among(assessments)
    print_table(console, rich_table(_terminal_summary(assessments, model_names)))
    if sentence := anonymised_sentence(assessments):
        console.print(sentence, highlight=False)
    for row in assessments if everything else ():
        for table in _detail_tables(row):
            title = f"{model_names.of(row)}: {table.caption}"
            console.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
            print_table(console, rich_table(table))


def assessment_lines(assessments: Sequence[Assessment]) -> Iterator[str]:
    """Yield the assessments as Markdown: a summary, then each kind of table, folded."""
    if not assessments:
        return
    model_names = ModelNames.among(assessments)
    yield from table_lines(_summary(assessments, model_names))
    if sentence := anonymised_sentence(assessments):
        yield from ("", sentence)
    tables: dict[str, Table] = {}
    for row in assessments:
        for table in _detail_tables(row):
            before = tables.get(table.caption, replace(table, rows=()))
            rows = tuple((text_cell(model_names.of(row)), *cells) for cells in table.rows)
            tables[table.caption] = replace(before, rows=before.rows + rows)
    for caption, table in tables.items():
        columns = (*names("target, scaffold"), *table.columns)
        yield from folded(caption.capitalize(), table_lines(replace(table, columns=columns)))


def _terminal_summary(assessments: Sequence[Assessment], model_names: ModelNames) -> Table:
    """Return a row of plain numbers for each model."""
    columns = (
        *names("target, scaffold"),
        *numbers("total bias", "chance", "p", "quality", "sd", "missing"),
    )
    reasons = [row.total_bias.reason or row.quality.reason for row in assessments]
    rows = [
        (
            text_cell(model_names.of(row) + (f" [{reason}]" if reason else "")),
            number_cell(row.total_bias.value),
            number_cell(row.total_bias.null_median),
            p_cell(row.total_bias.p_value),
            number_cell(row.quality.value),
            number_cell(row.consistency.mean_sd),
            text_cell(f"{row.missing}/{row.answers}"),
        )
        for row, reason in zip(assessments, reasons, strict=True)
    ]
    return Table("", columns, tuple(rows))


def _summary(assessments: Sequence[Assessment], model_names: ModelNames) -> Table:
    """Return a row for each model, with total bias and quality in words."""
    columns = (
        *names("target, scaffold", "feature"),
        *texts("total bias (by chance)", "quality", "consistency", "missing"),
    )
    rows = [
        (
            text_cell(model_names.of(row)),
            text_cell(row.feature),
            text_cell(_total_bias(row.total_bias)),
            text_cell(_quality(row.quality)),
            text_cell(_consistency(row.consistency)),
            text_cell(f"{row.missing} of {row.answers}"),
        )
        for row in assessments
    ]
    return Table("", columns, tuple(rows))


def _total_bias(bias: TotalBias) -> str:
    if bias.value is None:
        return f"{UNDEFINED} [{bias.reason}]"
    return f"{number(bias.value)} ({number(bias.null_median)}, {p_equals(bias.p_value)})"


def _quality(quality: Quality) -> str:
    if quality.value is None:
        return f"{UNDEFINED} [{quality.reason}]"
    return f"{number(quality.value)} (mean error {number(quality.mean_absolute_error)})"


def _consistency(consistency: Consistency) -> str:
    if consistency.mean_sd is None or consistency.one_answer is None:
        return f"{UNDEFINED} [{consistency.reason}]"
    return f"sd {number(consistency.mean_sd)}, {100 * consistency.one_answer:.0f} % always alike"


def _detail_tables(assessment: Assessment) -> Iterator[Table]:
    """Yield the tables of one assessment: deviations, errors, combinations, criteria."""
    level = coverage(assessment.alpha)
    if deviations := assessment.deviations:
        yield _table(
            "against the anonymised twins",
            ("group", f"gap [{level}]"),
            ((f"{row.dimension} {row.group}", row.gap) for row in deviations),
        )
    if errors := assessment.quality.against_anonymised:
        yield _table(
            "error and quality, identified against anonymised",
            (
                *("error identified", "error anonymised", f"difference [{level}]"),
                *("quality identified", "quality anonymised"),
            ),
            [
                (
                    *(number(errors.identified), number(errors.anonymised), errors.gap),
                    *map(number, map(quality_of_error, (errors.identified, errors.anonymised))),
                )
            ],
        )
    if cells := assessment.cells:
        yield _table(
            "every combination of groups",
            ("groups", f"mean [{level}]", "answers", "missing"),
            ((", ".join(c.groups.values()), c.mean, str(c.answers), str(c.missing)) for c in cells),
        )
    if criteria := assessment.criteria:
        yield _table(
            "by criterion, a family of their own",
            ("criterion", "groups", f"gap [{level}]", "adjusted p", "missing"),
            (
                (c.criterion, f"{c.a} - {c.b}", c.gap, p_value(c.p_adjusted), str(c.missing))
                for c in criteria
            ),
        )


def anonymised_sentence(assessments: Sequence[Assessment]) -> str | None:
    """Return a sentence on the errors with and without names; None without anonymised twins."""
    pairs = [row.quality.against_anonymised for row in assessments]
    errors = [pair for pair in pairs if pair is not None]
    if not errors:
        return None
    better = sum(pair.anonymised < pair.identified for pair in errors)
    sure = sum(pair.gap.low is not None and pair.gap.low > 0 for pair in errors)
    identified = fmean(pair.identified for pair in errors)
    anonymised = fmean(pair.anonymised for pair in errors)
    means = f"mean absolute error is {number(identified)} with names and {number(anonymised)}"
    if len(errors) == 1:
        return f"The {means} without."
    return (
        f"Without names, {better} of {len(errors)} combinations of model and scaffold"
        f" {'is' if better == 1 else 'are'} nearer to the right answers ({sure} with an interval"
        f" above 0). Over all combinations, the {means} without."
    )


def _table(caption: str, titles: Sequence[str], rows: Iterable[Sequence[str | Estimate]]) -> Table:
    cells = (tuple(map(_cell, row)) for row in rows)
    return Table(caption, texts(*titles), tuple(cells))


def _cell(value: str | Estimate) -> TableCell:
    return text_cell(value) if isinstance(value, str) else estimate_cell(value)
