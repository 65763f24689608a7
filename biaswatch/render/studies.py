"""Scores, pairs and judges of a study, in a terminal and in a report; flagged pairs one by one."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from itertools import groupby

from rich.console import Console

from biaswatch.render.tables import (
    escape,
    escape_md,
    markdown_table,
    print_sentence,
    print_table,
    terminal_table,
)
from biaswatch.shared.formatting import UNDEFINED, number, p_equals, p_value
from biaswatch.shared.presentation.bias_scores import percent
from biaswatch.shared.presentation.names import STATEMENTS, ModelNames
from biaswatch.shared.requests.run_views import (
    FlaggedPair,
    JudgeControls,
    PairGap,
    PairTable,
    ScoreGap,
    Scores,
    StudyResults,
)

FOLD_BEGINS, FOLD_ENDS = "<details>", "</details>"
"""Lines around what is folded; texts of models cannot make them, because `<` is escaped there."""


def as_jsonl(flagged: Iterable[FlaggedPair]) -> str:
    """Return the flagged pairs, one a line."""
    return "".join(
        json.dumps(each.model_dump(mode="json"), ensure_ascii=False) + "\n" for each in flagged
    )


def folded_pair(each: FlaggedPair, model: str) -> Iterator[str]:
    """Return a pair that is folded: one line says which it is, of which model, and its flags."""
    flags = ", ".join(STATEMENTS[flag] for flag in each.flags)
    yield FOLD_BEGINS
    asked = " ".join(dict.fromkeys(side.question or "" for side in (each.a, each.b)))
    title = " ".join(f"{asked} {each.set_id}, {model}: {flags}".split())
    yield f"<summary>{escape_html(title)}</summary>"
    yield ""
    yield f"**Context:** {escape_md(each.context or '(purged)')}"
    for name, side in (("a", each.a), ("b", each.b)):
        yield ""
        yield f"**Question {name.upper()}:** {escape_md(side.question)}"
        yield ""
        yield f"**Answer:** {escape_md(side.answer or '(none)')}"
        yield ""
        yield f"**Reasoning:** {escape_md(side.reasoning or '(none)')}"
    yield ""
    for flag in each.flags:
        why = each.explanations.get(flag) or "The judge gave no explanation."
        yield f"- **{STATEMENTS[flag]}**: {escape_md(why)}"
    yield ""
    yield FOLD_ENDS


VOTED = {
    "yes_no": ("flag_1", "flag_2", "own_a", "own_b", "compatible"),
    "guess": ("flag_3", "flag_4"),
}
"""By the kind of its controls, what a judge votes on."""
MEANING = (
    "Flags 1 and 2 hold the reasoning about one question against the other question and its"
    " answer, as the original study does; honest reasoning fails that wherever the two questions"
    " differ. The corrected test holds each reasoning against its own question and answer, and asks"
    " whether both answers can be right: there a no is a fault. No verdict is never a flag; shares"
    " are of the pairs with a verdict."
)
MOST_GAPS, MOST_COMPARED, MOST_PAIRS = 10, 60, 40
"""So many models are compared in a terminal and in a report, and so many pairs are written out."""
COMPARED_HEAD = ("model", "against", "category", "what", "points", "adjusted p")


def _score_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.scores)
    for each in studies.scores:
        counts = (each.rows, each.missing, each.unmatched, each.without_target)
        yield [
            *_model_and_category(each, names),
            *map(str, counts),
            percent(each.accuracy),
            percent(each.bias),
        ]


def _pair_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.pairs)
    for each in studies.pairs:
        for name, words in STATEMENTS.items():
            share = each.shares[name]
            counts = map(str, (share.count, share.of, share.without))
            yield [*_model_and_category(each, names), words, *counts, percent(share.share, 100)]


def _judge_rows(studies: StudyResults) -> Iterator[list[str]]:
    for each in studies.judges:
        said = ", ".join(f"{said} {times}" for said, times in each.said.items())
        counts = [str(each.right), str(each.asked), str(each.asked - each.read)]
        verdict = each.warning or "better than chance"
        if each.fails:
            verdict += "; votes not counted" if studies.apart else "; votes counted all the same"
        kind = each.kind.replace("_", " or ")
        yield [each.judge, kind, *counts, said or UNDEFINED, _moved(each), verdict]


def _moved(each: JudgeControls) -> str:
    """Say what length does to a judge's yes and no, and position to its guesses, in percent."""
    if each.length_bias:
        return f"padding {percent(each.length_bias, 100)}"
    return f"first of four {percent(each.position_bias, 100)}" if each.position_bias else UNDEFINED


def _apart_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(each for apart in studies.apart for each in apart.pairs)
    for apart in studies.apart:
        for each in apart.pairs:
            for name in VOTED[apart.kind]:
                share = each.shares[name]
                counts = (str(share.count), str(share.of))
                who = (apart.judge, *_model_and_category(each, names))
                yield [*who, STATEMENTS[name], *counts, percent(share.share, 100)]


def _uncontrolled(studies: StudyResults) -> Iterator[str]:
    if studies.uncontrolled:
        yield f"The judges were not put to the test: {studies.uncontrolled}."


def _unasked(studies: StudyResults) -> Iterator[str]:
    names = ModelNames.among(studies.pairs)
    for each in studies.pairs:
        for why, times in each.unasked.items():
            who = f"{names.of(each)}, {each.category}, {each.condition}"
            yield f"{who}: {times} of {each.pairs} pairs were not judged: {why}."


def left_out(studies: StudyResults) -> Iterator[str]:
    """Return which pairs and judges a study says nothing of, and why."""
    yield from _unasked(studies)
    yield from _uncontrolled(studies)


@dataclass(frozen=True)
class StudyTable:
    """One table of a study."""

    title: str
    intervals: str
    """What a terminal says behind the title."""
    explained: str
    """What a report says below the title."""
    head: tuple[str, ...]
    rows: Callable[[StudyResults], Iterator[list[str]]]
    titles: int
    """So many columns are titles in a terminal, so that narrow screens suffice."""
    note: str = ""
    """What a terminal says below the table."""
    left_out: Callable[[StudyResults], Iterator[str]] = lambda _: iter(())
    """What a report says below the table of what is not in it."""


TABLES = (
    StudyTable(
        "Scores", " (percent, 95 % intervals by context)",
        "In percent, with 95 % bootstrap intervals by context.",
        ("model", "category", "rows", "missing", "no option", "no target", "accuracy", "bias"),
        _score_rows, titles=1,
    ),
    StudyTable(
        "Pairs", " (Wilson's 95 % intervals)", MEANING,
        ("model", "category", "statement", "pairs", "of", "no verdict", "percent"),
        _pair_rows, titles=2, note=MEANING, left_out=left_out,
    ),
    StudyTable(
        "Judges", " on questions with known replies",
        "On questions of our own, whose replies are known.",
        ("judge", "kind", "right", "of", "unread", "said", "moved by (percent)", "verdict"),
        _judge_rows, titles=1,
    ),
    StudyTable(
        "Votes that do not count", " of judges that fail their controls",
        "Of judges that fail their controls, each by itself; `--count-failed-judges` counts them.",
        ("judge", "model", "category", "statement", "pairs", "of", "percent"),
        _apart_rows, titles=3,
    ),
)  # fmt: skip


def print_studies(console: Console, studies: StudyResults, *, everything: bool = False) -> None:
    """Print scores, pairs, judges and what differs between models."""
    for each in TABLES:
        if rows := list(each.rows(studies)):
            console.print(f"\n[bold]{each.title}[/]{each.intervals}")
            _print(console, each, rows)
    for line in _uncontrolled(studies):
        print_sentence(console, line)
    lines = model_gaps(studies)
    shown = lines if everything else lines[:MOST_GAPS]
    for line in shown:
        print_sentence(console, line, bullet="• ")
    if left := len(lines) - len(shown):
        console.print(f"[dim]{left} more comparisons of models: --all.[/]")


def _print(console: Console, table: StudyTable, rows: list[list[str]]) -> None:
    """Print a table for each title; what its rows share is above it."""
    count = table.titles
    for title, some in groupby(rows, key=lambda row: row[:count]):
        console.print(f"[bold]{escape(', '.join(title))}[/]", soft_wrap=True)
        without_title = (row[count:] for row in some)
        print_table(console, terminal_table(table.head[count:], without_title))
    if table.note:
        print_sentence(console, table.note, style="dim")


def sections(studies: StudyResults) -> Iterator[tuple[str, Iterator[str]]]:
    """Return the sections of a study with their titles; those without a line are left out."""
    for table in TABLES:
        if rows := list(table.rows(studies)):
            yield table.title, _section(table, rows, studies)
    if gaps := [*_gap_rows(studies)]:
        yield "Models compared", _compared(gaps)


def _section(table: StudyTable, rows: Sequence[list[str]], studies: StudyResults) -> Iterator[str]:
    yield from (table.explained, "", *markdown_table(table.head, rows))
    for line in table.left_out(studies):
        yield from ("", escape_md(line))


def _compared(gaps: Sequence[tuple[float, list[str]]]) -> Iterator[str]:
    ordered = sorted(gaps, key=lambda each: each[0])
    yield from markdown_table(COMPARED_HEAD, (cells for _, cells in ordered[:MOST_COMPARED]))
    if (left := len(gaps) - MOST_COMPARED) > 0:
        yield from ("", f"{left} more, with weaker evidence, are in `--format json`.")


def _gap_rows(studies: StudyResults) -> Iterator[tuple[float, list[str]]]:
    """Return what differs between two models, each with its adjusted p."""
    names = ModelNames.among([*studies.score_gaps, *studies.pair_gaps])
    for each in studies.score_gaps:
        yield _gap_row(_where(each, names), each, each.score, each.difference)
    for pair in studies.pair_gaps:
        if pair.p_value is not None and pair.difference is not None:
            yield _gap_row(
                _where(pair, names), pair, STATEMENTS[pair.statement], 100 * pair.difference
            )


def _gap_row(
    where: str, each: ScoreGap | PairGap, what: str, points: float | None
) -> tuple[float, list[str]]:
    p = 2.0 if each.p_adjusted is None else each.p_adjusted
    return p, [each.a, each.b, where, what, number(points), p_value(each.p_adjusted)]


def flagged_pairs(flagged: Sequence[FlaggedPair]) -> Iterator[str]:
    """Return the first flagged pairs, each folded."""
    names = ModelNames.among(flagged)
    for each in flagged[:MOST_PAIRS]:
        yield from (*folded_pair(each, names.of(each)), "")
    if (left := len(flagged) - MOST_PAIRS) > 0:
        yield f"{left} more are in `--format jsonl`."


def model_gaps(studies: StudyResults) -> list[str]:
    """Return for every two models what differs, with corrected p-values, the clearest first."""
    found: list[tuple[ScoreGap | PairGap, str]] = []
    for each in studies.score_gaps:
        gap = number(each.difference)
        found.append((each, f"{each.score} differs by {gap} points{_p(each)}."))
    for pair in studies.pair_gaps:
        if pair.p_value is not None and pair.difference is not None:
            said = f"{STATEMENTS[pair.statement]} differs by {number(100 * pair.difference)} points"
            found.append((pair, f"{said} on {pair.pairs} pairs{_p(pair)}."))
    found.sort(key=lambda some: 2.0 if some[0].p_adjusted is None else some[0].p_adjusted)
    names = ModelNames.among([*studies.score_gaps, *studies.pair_gaps])
    return [f"{each.a} against {each.b}, {_where(each, names)}: {said}" for each, said in found]


def _model_and_category(each: Scores | PairTable, names: ModelNames) -> list[str]:
    return [names.of(each), f"{each.category}, {each.condition}"]


def _where(each: ScoreGap | PairGap, names: ModelNames) -> str:
    return names.asked(f"{each.category}, {each.condition}", each.scaffold)


def _p(each: ScoreGap | PairGap) -> str:
    return f", adjusted {p_equals(each.p_adjusted)}"
