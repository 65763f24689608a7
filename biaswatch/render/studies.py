"""Scores, pairs and judges as people read them in a terminal; the meaning of every column."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.render.findings import number
from biaswatch.render.tables import escape

Studies = Mapping[str, Any]

STATEMENTS = {
    "answer_consistent": "same person in both",
    "different": "different persons",
    "mixed": "mixed with cannot-know",
    "both_unknown": "both cannot-know",
    "flag_1": "flag 1 (A to B: no)",
    "flag_2": "flag 2 (B to A: no)",
    "flag_3": "flag 3 (question A not guessed)",
    "flag_4": "flag 4 (question B not guessed)",
    "flagged": "any flag",
    "own_a": "reasoning A fits its own question",
    "own_b": "reasoning B fits its own question",
    "compatible": "both answers can be right",
}
MEANING = (
    "Flags 1 and 2 hold the reasoning about one question against the other question and its"
    " answer, as the original study does; honest reasoning fails that wherever the two questions"
    " differ. The corrected test holds each reasoning against its own question and answer, and asks"
    " whether both answers can be right: there a no is a fault. No verdict is never a flag; shares"
    " are of the pairs with a verdict."
)
MOST_GAPS = 20


def show(console: Console, studies: Studies) -> None:
    """Print scores, pairs, judges and what differs between models."""
    if studies.get("scores"):
        console.print("\n[bold]Scores[/] (percent, 95 % intervals by context)")
        _print(console, SCORE_HEAD, score_rows(studies), titles=1)
    if studies.get("pairs"):
        console.print("\n[bold]Pairs[/] (Wilson's 95 % intervals)")
        _print(console, PAIR_HEAD, pair_rows(studies), titles=2)
        console.print(f"[dim]{escape(MEANING)}[/]")
    if studies.get("judges"):
        console.print("\n[bold]Judges[/] on questions with known replies")
        _print(console, JUDGE_HEAD, judge_rows(studies), titles=1)
    lines = gap_sentences(studies)
    for line in lines[:MOST_GAPS]:
        console.print(f"• {escape(line)}")
    if len(lines) > MOST_GAPS:
        console.print(f"[dim]{len(lines) - MOST_GAPS} more comparisons are in the report.[/]")


SCORE_HEAD = (
    "model", "category", "rows", "missing", "no option", "no target", "accuracy", "bias",
)  # fmt: skip
PAIR_HEAD = ("model", "category", "statement", "pairs", "of", "no verdict", "percent")
JUDGE_HEAD = ("judge", "kind", "right", "of", "unread", "said", "verdict")


def score_rows(studies: Studies) -> Iterator[list[str]]:
    """Return a row for each model, category and condition."""
    for each in studies.get("scores") or ():
        counts = [str(each[k]) for k in ("rows", "missing", "unmatched", "without_target")]
        yield [*_where(each), *counts, percent(each["accuracy"]), percent(each["bias"])]


def pair_rows(studies: Studies) -> Iterator[list[str]]:
    """Return a row for each statement about the pairs of a model, category and condition."""
    for each in studies.get("pairs") or ():
        for name, words in STATEMENTS.items():
            share = each["shares"][name]
            counts = [str(share[k]) for k in ("count", "of", "without")]
            yield [*_where(each), words, *counts, percent(share["share"], 100)]


def judge_rows(studies: Studies) -> Iterator[list[str]]:
    """Return a row for each judge and kind of question."""
    for each in studies.get("judges") or ():
        said = ", ".join(f"{said} {times}" for said, times in each["said"].items())
        unread = str(each["asked"] - each["read"])
        right = [str(each["right"]), str(each["asked"]), unread]
        verdict = each["warning"] or "better than chance"
        yield [each["judge"], each["kind"].replace("_", " or "), *right, said or "-", verdict]


def gap_sentences(studies: Studies) -> list[str]:
    """Say for every two models what differs, with corrected p-values."""
    found = []
    for each in studies.get("score_gaps") or ():
        gap = number(each["difference"])
        found.append(f"{_versus(each)}: {each['score']} differs by {gap} points{_p(each)}.")
    for each in studies.get("pair_gaps") or ():
        if each["p_value"] is not None:
            gap = number(100 * each["difference"])
            words = STATEMENTS[each["statement"]]
            found.append(
                f"{_versus(each)}: {words} differs by {gap} points on {each['pairs']} pairs"
                f"{_p(each)}."
            )
    return found


def percent(estimate: Mapping[str, Any], times: float = 1) -> str:
    """Write an estimate in percent with its interval, or why it has none."""
    value, low, high = (estimate.get(k) for k in ("value", "low", "high"))
    if value is None:
        return f"- [{estimate.get('reason') or 'undefined'}]"
    if low is None or high is None:
        return f"{times * value:.1f} [{estimate.get('reason') or 'no interval'}]"
    return f"{times * value:.1f} [{times * low:.1f}, {times * high:.1f}]"


def _where(each: Mapping[str, Any]) -> list[str]:
    scaffold = "" if each["scaffold"] == "direct" else f", {each['scaffold']}"
    return [each["target"] + scaffold, f"{each['category']}, {each['condition']}"]


def _versus(each: Mapping[str, Any]) -> str:
    return f"{each['a']} against {each['b']}, {each['category']}, {each['condition']}"


def _p(each: Mapping[str, Any]) -> str:
    return f", adjusted p = {number(each['p_adjusted'], 2)}"


def _print(
    console: Console, head: tuple[str, ...], rows: Iterator[list[str]], *, titles: int
) -> None:
    """Print a table for each title; what rows share stands above, so narrow screens suffice."""
    for title, some in groupby(rows, key=lambda row: row[:titles]):
        console.print(escape(", ".join(title)), soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="underline")
        for name in head[titles:]:
            table.add_column(escape(name), overflow="fold")
        for row in some:
            table.add_row(*map(escape, row[titles:]))
        console.print(table)
