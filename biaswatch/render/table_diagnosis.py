"""Diagnosis of a table on a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biaswatch.render.error_rates import error_rate_tables
from biaswatch.render.findable import findable_sentences
from biaswatch.render.result_sentences import (
    interval_sentences,
    mean_sentences,
    missing_sentences,
    undefined_sentences,
)
from biaswatch.render.table_rows import (
    Parts,
    Row,
    comparable_p,
    comparison_row_remarks,
    grouping_of,
    is_shift,
    overall_sentences,
    row_verdict,
    summary_gap_text,
    unit_sentences,
    verdict_counts,
    verdicts_of,
)
from biaswatch.render.terminal import (
    STYLES,
    finding_text,
    print_sentence,
    print_table,
    printable,
    terminal_table,
)
from biaswatch.shared.formatting import UNDEFINED, coverage, interval, number, p_value
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.interactions import interaction_sentences
from biaswatch.shared.presentation.questions import answered_questions, question_cell
from biaswatch.shared.presentation.tables import words

MAX_COMPARISONS = 10
"""Comparisons on a terminal, unless all are requested."""
MORE = "All statistics: --all. Files and pictures: -o."
WIDE_CHARS = 120
"""Terminal width with room for gap and effect size side by side."""
NUMBER_CHARS = 32
"""Width of a gap with its interval, or of the reason for having none."""
CHANCE = "(in brackets: median under random labels)"
SHOWN_METRICS = ("Max-Min", "Min/Max", "Max Z-Score", "Min Z-Score", "Dixon Q")
"""Metrics on a terminal; JSON and files have all."""


def print_tables(
    parts: Parts, about: Row, warnings: Sequence[str], *, everything: bool = False
) -> None:
    """Print the decisive sentence, the strongest comparisons and the means of groups.

    With `everything`, print all comparisons with effect sizes, and every part.
    """
    console = Console(emoji=False)
    level = coverage(about["alpha"])
    compared = parts["comparisons"]
    shown = compared if everything else compared[:MAX_COMPARISONS]
    _print_comparisons(console, compared, shown, about, everything=everything)
    for sentence in (
        *findable_sentences(shown, about),
        *(overall_sentences(parts["overall"]) if everything else ()),
        *interaction_sentences(parts.get("interactions", []), about["alpha"]),
    ):
        print_sentence(console, sentence)
    rates, parity = parts.get("error_rates", []), parts.get("parity", [])
    _print_all(console, error_rate_tables(rates, parity, level))
    if everything:
        _print_statistics(console, parts, level)
    else:
        features = dict.fromkeys(row["feature"] for row in shown)
        for sentence in mean_sentences(parts["summary"], features, calibrated=about["calibrated"]):
            print_sentence(console, sentence)
    for sentence in missing_sentences(parts["missingness"], 1.0 if everything else about["alpha"]):
        print_sentence(console, sentence)
    print_sentence(console, " ".join(unit_sentences(about)), style="dim")
    for warning in warnings:
        print_sentence(console, warning, style="yellow")
    if not everything:
        print_sentence(console, MORE, style="dim")


def _print_comparisons(
    console: Console, compared: Sequence[Row], shown: Sequence[Row], about: Row, *, everything: bool
) -> None:
    """Print the decisive sentence, the shown comparisons and remarks on all of them."""
    print_sentence(console, verdict_counts(compared), style="bold")
    table = comparison_table(
        shown,
        coverage(about["alpha"]),
        console.width,
        assigned=about["assigned"],
        everything=everything,
    )
    print_table(console, table, "")
    remarks = comparison_row_remarks(compared, about, everything=everything)
    corrections = interval_sentences(compared, about) if about["family"] > 1 else ()
    print_sentence(console, " ".join(chain(remarks, corrections)), style="dim")
    for remark in undefined_sentences(compared, everything=everything):
        print_sentence(console, remark, style="dim")
    if left := len(compared) - len(shown):
        print_sentence(console, f"{left} weaker comparisons are not shown.")


def _print_statistics(console: Console, parts: Parts, level: str) -> None:
    """Print means with ranks, disparities, and all statistics of each group."""
    console.print()
    _print_all(console, _group_mean_tables(parts["group_means"], level))
    _print_disparities(console, parts["disparity"])
    _print_all(console, _summary_tables(parts["summary"], level))


def _print_all(console: Console, tables: Iterable[RichTable]) -> None:
    for table in tables:
        print_table(console, table, "")


def comparison_table(
    rows: Sequence[Row], level: str, width: int, *, assigned: bool = False, everything: bool = False
) -> RichTable:
    """Return a row for each comparison; narrow terminals have effect sizes below the gap."""
    is_wide = width >= WIDE_CHARS
    has_p = not all(map(is_shift, rows))
    numbers = [
        f"gap [{level}]",
        *(["adjusted p (gap)"] if has_p else []),
        *([f"effect size [{level}]"] if is_wide else []),
    ]
    answers = [verdicts_of(row) for row in rows]
    questions = answered_questions(answers, assigned=assigned)
    cells = [
        (
            row["feature"],
            ", ".join(filter(None, [row["domain"], f"{row['a']} - {row['b']}"])),
            Text(printable(_gap_text(row, everything=everything, is_wide=is_wide))),
            *([Text("" if is_shift(row) else p_value(comparable_p(row)))] if has_p else []),
            *([Text(printable(_effect_text(row)))] if is_wide else []),
            *(finding_text(question_cell(question, verdicts)) for question in questions),
            Text(row_verdict(row), style=STYLES.get(row["summary"], "")),
        )
        for row, verdicts in zip(rows, answers, strict=True)
    ]
    titles = (
        "feature",
        "groups",
        *numbers,
        *(question.heading for question in questions),
        "summary",
    )
    table = terminal_table(titles, cells)
    for column in table.columns[2 : 2 + len(numbers)]:
        column.no_wrap = True
    return table


def _gap_text(row: Row, *, everything: bool, is_wide: bool) -> str:
    """Return the gap; with `everything` also the mean gap and the effect size."""
    lines = wrap(summary_gap_text(row), NUMBER_CHARS)
    if everything and is_shift(row):
        lines.append(f"mean gap {_with_bounds(row, 'gap')}")
    if everything and not is_wide and row["effect_size"] is not None:
        lines.append(f"effect {_effect_text(row)}")
    return "\n".join(lines)


def _effect_text(row: Row) -> str:
    return _with_bounds(row, "effect_size", "effect_size_ci")


def _group_mean_tables(rows: Sequence[Row], level: str) -> Iterator[RichTable]:
    """Yield a table for each feature and dimension, the largest mean first."""
    head = ("group", "mean", f"shrunken mean (for display) [{level}]", f"rank ({level})")
    for title, group in groupby(rows, key=lambda row: f"{row['feature']} by {grouping_of(row)}"):
        cells = [
            (
                ", ".join(row["group"].values()),
                number(row["mean"]),
                _with_bounds(row, "shrunken_mean", "shrunken_ci"),
                _rank(row),
            )
            for row in sorted(group, key=lambda row: row["rank"] or float("inf"))
        ]
        yield terminal_table(head, cells, caption=title)


def _rank(row: Row) -> str:
    """Return a rank with its range."""
    if row["rank"] is None:
        return UNDEFINED
    low, high = row["rank_ci"]
    return f"{row['rank']}" if low == high else f"{row['rank']} ({low} to {high})"


def _print_disparities(console: Console, rows: Sequence[Row]) -> None:
    """Print the metrics of disparity over all groups."""
    tables = list(_disparity_tables(rows))
    if tables:
        has_chance = any(row["null_median"] is not None for row in rows)
        console.print("[bold]Disparity[/]" + (f" {CHANCE}" if has_chance else ""))
    _print_all(console, tables)


def _disparity_tables(rows: Sequence[Row]) -> Iterator[RichTable]:
    """Yield a table for each feature and grouping, of statistics by metric."""
    order = list(dict.fromkeys(row["statistic"] for row in rows))
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for row in sorted(rows, key=lambda row: order.index(row["statistic"])):
        if row["metric"] not in SHOWN_METRICS or row["value"] is None:
            continue
        text = number(row["value"])
        if row["null_median"] is not None:
            text += f"\n({number(row['null_median'])})"
        statistics = tables.setdefault(f"{row['feature']} by {grouping_of(row)}", {})
        statistics.setdefault(words(row["statistic"]), {})[row["metric"]] = text
    for title, statistics in tables.items():
        cells = [
            (name, *(metrics.get(metric, UNDEFINED) for metric in SHOWN_METRICS))
            for name, metrics in statistics.items()
        ]
        table = terminal_table(("statistic", *SHOWN_METRICS), cells, caption=title)
        for column in table.columns[1:]:
            column.no_wrap = True
        yield table


def _summary_tables(rows: Sequence[Row], level: str) -> Iterator[RichTable]:
    """Yield a table for each feature, of groups by statistic."""
    statistics = [words(name) for name in dict.fromkeys(row["statistic"] for row in rows)]
    for feature in dict.fromkeys(row["feature"] for row in rows):
        groups = grouped(
            (", ".join(filter(None, [row["domain"], *row["group"].values()])), row)
            for row in rows
            if row["feature"] == feature
        )
        cells = [
            [
                *(name, str(group[0]["n"]), str(group[0]["n_missing"])),
                *(_with_bounds(row, "value") for row in group),
            ]
            for name, group in groups.items()
        ]
        head = ("group", "n", "missing", *statistics)
        yield terminal_table(head, cells, caption=f"{feature} [{level}]")


def _with_bounds(row: Mapping[str, Any], key: str, bounds: str = "ci") -> str:
    """Return a number with its interval, or with the reason for having none."""
    if row[bounds] is None:
        reason = row["reason"] if row[key] is None and bounds == "ci" else None
        return number(row[key]) + (f" ({reason})" if reason else "")
    low, high = row[bounds]
    return interval(row[key], low, high, row.get("reason"))
