"""Scores, pairs and judges of a study, on a terminal and in a report; flagged pairs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from itertools import groupby

from rich.console import Console

from biaswatch.render.markdown import FOLD_BEGINS, FOLD_ENDS, escape_md, markdown_table
from biaswatch.render.study_tables import TABLES, StudyTable
from biaswatch.render.terminal import (
    escape,
    print_bullets,
    print_sentence,
    print_table,
    terminal_table,
)
from biaswatch.shared.formatting import number, p_equals, p_value
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.names import STATEMENTS, ModelNames
from biaswatch.shared.requests.run_views import FlaggedPair, PairGap, ScoreGap, StudyResults

MAX_TERMINAL_GAPS, MAX_REPORT_GAPS, MAX_PAIRS = 10, 60, 40
"""Comparisons of models on a terminal and in a report, and flagged pairs in a report."""


def missing_results(studies: StudyResults) -> Iterator[str]:
    """Yield the pairs and judges without results, and why."""
    names = ModelNames.among(studies.pairs)
    for row in studies.pairs:
        for reason, count in row.unasked.items():
            where = f"{names.of(row)}, {row.category}, {row.condition}"
            yield f"{where}: {count} of {row.pairs} pairs were not judged: {reason}."
    yield from _uncontrolled(studies)


def _uncontrolled(studies: StudyResults) -> Iterator[str]:
    if studies.uncontrolled:
        yield f"The judges were not put to the test: {studies.uncontrolled}."


def print_studies(console: Console, studies: StudyResults, *, everything: bool = False) -> None:
    """Print scores, pairs, judges, and differences between models."""
    for table in TABLES:
        if rows := list(table.rows(studies)):
            console.print(f"\n[bold]{table.title}[/]{table.subtitle}")
            _print_rows(console, table, rows)
    for sentence in _uncontrolled(studies):
        print_sentence(console, sentence)
    gaps = _model_gaps(studies)
    shown = gaps if everything else gaps[:MAX_TERMINAL_GAPS]
    print_bullets(console, (gap.sentence for gap in shown))
    if left := len(gaps) - len(shown):
        console.print(f"[dim]{left} more comparisons of models: --all.[/]")


def _print_rows(console: Console, table: StudyTable, rows: Sequence[list[str]]) -> None:
    """Print a table for each title shared by rows."""
    count = table.title_columns
    for title, group in groupby(rows, key=lambda row: row[:count]):
        console.print(f"[bold]{escape(', '.join(title))}[/]", soft_wrap=True)
        print_table(console, terminal_table(table.head[count:], (row[count:] for row in group)))
    if table.is_pairs:
        print_sentence(console, table.explanation, style="dim")


def sections(studies: StudyResults) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the sections of a study with their titles, without empty ones."""
    for table in TABLES:
        if rows := list(table.rows(studies)):
            lines = [table.explanation, "", *markdown_table(table.head, rows)]
            for sentence in missing_results(studies) if table.is_pairs else ():
                lines += ["", escape_md(sentence)]
            yield table.title, lines
    if gaps := _model_gaps(studies):
        head = ("model", "against", "category", "what", "points", "adjusted p")
        lines = list(markdown_table(head, (gap.cells for gap in gaps[:MAX_REPORT_GAPS])))
        if (left := len(gaps) - MAX_REPORT_GAPS) > 0:
            lines += ["", f"{left} more, with weaker evidence, are in `--format json`."]
        yield "Models compared", lines


@dataclass(frozen=True)
class ModelGapRow:
    """A difference between two models."""

    a: str
    b: str
    where: str
    what: str
    points: float | None
    pairs: str
    p: float | None

    @property
    def cells(self) -> list[str]:
        """The row of a table."""
        return [self.a, self.b, self.where, self.what, number(self.points), p_value(self.p)]

    @property
    def sentence(self) -> str:
        """The difference with its adjusted p-value."""
        differs = f"{self.what} differs by {number(self.points)} points{self.pairs}"
        return f"{self.a} against {self.b}, {self.where}: {differs}, adjusted {p_equals(self.p)}."


def _model_gaps(studies: StudyResults) -> list[ModelGapRow]:
    """Return the differences between models, the strongest evidence first."""
    names = ModelNames.among([*studies.score_gaps, *studies.pair_gaps])

    def where(row: ScoreGap | PairGap) -> str:
        return names.with_its_scaffold(f"{row.category}, {row.condition}", row.scaffold)

    gaps = [
        ModelGapRow(row.a, row.b, where(row), row.score, row.difference, "", row.p_adjusted)
        for row in studies.score_gaps
    ]
    gaps += [
        ModelGapRow(
            *(row.a, row.b, where(row), STATEMENTS[row.statement], 100 * row.difference),
            f" on {row.pairs} pairs",
            row.p_adjusted,
        )
        for row in studies.pair_gaps
        if row.p_value is not None and row.difference is not None
    ]
    return sorted(gaps, key=lambda gap: 2.0 if gap.p is None else gap.p)


def as_jsonl(flagged: Iterable[FlaggedPair]) -> str:
    """Return the flagged pairs, one a line."""
    return "".join(
        json.dumps(pair.model_dump(mode="json"), ensure_ascii=False) + "\n" for pair in flagged
    )


def flagged_pairs(flagged: Sequence[FlaggedPair], most: int | None = MAX_PAIRS) -> Iterator[str]:
    """Yield the first flagged pairs of each model, or all of them, each folded."""
    names = ModelNames.among(flagged)
    by_model = grouped(((pair.target, pair.scaffold), pair) for pair in flagged)
    listed = [pair for model in sorted(by_model) for pair in by_model[model][:most]]
    for pair in listed:
        yield from (*_folded_pair(pair, names.of(pair)), "")
    if left := len(flagged) - len(listed):
        yield f"{left} more: `--pairs all`, or `--format jsonl`."


def _folded_pair(pair: FlaggedPair, model: str) -> Iterator[str]:
    """Yield a pair behind its question, model and flags."""
    flags = ", ".join(STATEMENTS[flag] for flag in pair.flags)
    questions = " ".join(dict.fromkeys(side.question or "" for side in (pair.a, pair.b)))
    title = " ".join(f"{questions} {pair.set_id}, {model}: {flags}".split())
    yield from (FOLD_BEGINS, f"<summary>{escape_html(title)}</summary>", "")
    yield f"**Context:** {escape_md(pair.context or '(purged)')}"
    for name, side in (("A", pair.a), ("B", pair.b)):
        yield from ("", f"**Question {name}:** {escape_md(side.question)}")
        yield from ("", f"**Answer:** {escape_md(side.answer or '(none)')}")
        yield from ("", f"**Reasoning:** {escape_md(side.reasoning or '(none)')}")
    yield ""
    for flag in pair.flags:
        why = pair.explanations.get(flag) or "The judge gave no explanation."
        yield f"- **{STATEMENTS[flag]}**: {escape_md(why)}"
    yield from ("", FOLD_ENDS)
