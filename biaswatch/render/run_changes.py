"""Changes between two runs: the answer in a sentence, rows for JSON and files, a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biaswatch.render.table_rows import comparable_p
from biaswatch.render.terminal import print_sentence, print_table, terminal_table
from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangeVerdict,
    RunChange,
    RunChanges,
)
from biaswatch.shared.contracts import Claim
from biaswatch.shared.formatting import (
    COULD_UNDO,
    NOT_MEASURED,
    TOO_SMALL,
    computed_p,
    coverage,
    interval,
    number,
    p_value,
)
from biaswatch.shared.presentation.correction_rows import bounds
from biaswatch.shared.presentation.names import scaffold_words

Row = dict[str, Any]
WORDS = {
    ChangeVerdict.CHANGED.value: "changed",
    ChangeVerdict.NO_CHANGE.value: "no change beyond the tolerance",
    ChangeVerdict.INCONCLUSIVE.value: "inconclusive",
}
STYLES = {ChangeVerdict.CHANGED.value: "bold red", ChangeVerdict.NO_CHANGE.value: "green"}
MAX_NAMED = 5
"""Changes in the answer."""
MAX_ROWS = 10
"""Changes in the table, unless all are requested."""


def change_rows(changes: RunChanges) -> list[Row]:
    """Return the changes for JSON, by verdict and then by p-value."""
    order = list(WORDS)
    return sorted(
        (_row(change) for change in changes.changes),
        key=lambda row: (order.index(row["verdict"]), _sort_p(row), row["of"]),
    )


def _sort_p(row: Row) -> float:
    """Return the p-value to sort by: a change known without a test comes first."""
    p = comparable_p(row)
    return p if p is not None else -1.0 if row["verdict"] == ChangeVerdict.CHANGED else 2.0


def _row(change: RunChange) -> Row:
    """Return a change as a row for JSON."""
    subject = change.subject
    return {
        "of": subject.of.value,
        "feature": subject.feature,
        "domain": subject.domain or None,
        "dimension": subject.dimension,
        "a": subject.a,
        "b": subject.b,
        "before": change.before,
        "after": change.after,
        "change": change.change.value,
        "ci": bounds(change.change.low, change.change.high),
        "ci_by_itself": bounds(change.by_itself.low, change.by_itself.high),
        "p_value": computed_p(change.p_value),
        "p_adjusted": computed_p(change.p_adjusted),
        "p_equivalence": computed_p(change.p_equivalence_adjusted),
        "p_reason": TOO_SMALL if change.p_value == 0 else None,
        "method": change.change.method,
        "prompts": change.prompts,
        "n_before": change.n_before,
        "n_after": change.n_after,
        "n_missing_before": change.n_missing_before,
        "n_missing_after": change.n_missing_after,
        "verdict": change.verdict.value,
        "survives_missing": change.survives_missing,
        "reason": change.reason,
    }


def answer_of(rows: Sequence[Row], about: Mapping[str, Any]) -> str:
    """Return the answer, and the number of prompts without a match."""
    alone = about["only_before"] + about["only_after"] if about["matched"] else 0
    left = f" {alone} prompts that only one run has were not compared." if alone else ""
    return answer_sentence(rows) + left


def answer_sentence(rows: Sequence[Row]) -> str:
    """Return in one sentence whether anything changed."""
    if not rows:
        return "Nothing was compared: the runs share no answers."
    changed, same, unclear = (sum(row["verdict"] == verdict for row in rows) for verdict in WORDS)
    compared = f"{len(rows)} gaps, means and shares of missing answers"
    if changed:
        named = "; ".join(
            f"{_subject(row)} from {number(row['before'])} to {number(row['after'])}{_doubt(row)}"
            for row in rows[: min(changed, MAX_NAMED)]
        )
        more = f"; and {changed - MAX_NAMED} more" if changed > MAX_NAMED else ""
        return f"Yes, {changed} of {compared} changed: {named}{more}."
    if not unclear:
        return f"No, none of {compared} changed by more than its tolerance."
    unmeasured = sum(map(_is_unmeasured, rows))
    lost = f", and {unmeasured} {NOT_MEASURED}" if unmeasured else ""
    unchanged = f"{same} changed by at most their tolerance, " if same else ""
    return (
        f"Not shown: none of {compared} is shown to have changed; {unchanged}"
        f"{unclear - unmeasured} are inconclusive{lost}."
    )


def _is_unmeasured(row: Row) -> bool:
    """Return whether one run has no value to compare."""
    return row["of"] != ChangeOf.MISSING.value and not (row["n_before"] and row["n_after"])


def _subject(row: Row) -> str:
    """Return what changed, with its group and model: `the mean of score for black`."""
    subject = {
        ChangeOf.GAP.value: f"the gap {row['a']} - {row['b']} of {row['feature']}",
        ChangeOf.MEAN.value: f"the mean of {row['feature']}",
        ChangeOf.MISSING.value: f"the share of missing answers of {row['feature']}",
    }[row["of"]]
    group = f" for {row['a']}" if row["a"] and row["b"] is None else ""
    if not row["domain"]:
        return subject + group
    model, comma, scaffold = row["domain"].rpartition(", ")
    where = f"{model}{comma}{scaffold_words(scaffold) if comma else scaffold}"
    return f"{subject}{group} ({where})"


def _doubt(row: Row) -> str:
    """Return the doubt from missing answers, as the end of a sentence."""
    return f", but {COULD_UNDO}" if row["survives_missing"] is False else ""


def print_changes(
    answer: str,
    rows: Sequence[Row],
    about: Mapping[str, Any],
    warnings: Sequence[str],
    *,
    everything: bool = False,
) -> None:
    """Print the answer, the changes, and the compared data."""
    console = Console(emoji=False)
    print_sentence(console, answer, style="bold")
    console.print()
    shown = rows if everything else rows[:MAX_ROWS]
    print_table(console, _change_table(shown, coverage(about["alpha"])))
    if left := len(rows) - len(shown):
        print_sentence(console, f"{left} more with weaker evidence: --all, --json, -o.")
    console.print()
    print_sentence(console, " ".join(about_sentences(about)), style="dim")
    for warning in warnings:
        print_sentence(console, warning, style="yellow")


def _change_table(rows: Sequence[Row], level: str) -> RichTable:
    titles = ("what", "before", "after", f"change [{level}]", "p adjusted", "verdict")
    return terminal_table(titles, map(_change_cells, rows))


def _change_cells(row: Row) -> tuple[str | Text, ...]:
    low, high = row["ci"] or (None, None)
    verdict = NOT_MEASURED if _is_unmeasured(row) else WORDS[row["verdict"]]
    return (
        _subject(row),
        number(row["before"]),
        number(row["after"]),
        interval(row["change"], low, high, row["reason"]),
        p_value(comparable_p(row)),
        Text(verdict + _doubt(row), style=STYLES.get(row["verdict"], "")),
    )


def about_sentences(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the number of compared prompts, and the coverage of the intervals."""
    prompts, first, second = about["prompts"], about["only_before"], about["only_after"]
    if about["matched"]:
        yield f"Both runs have {prompts} prompts in common; a prompt's change is one value."
        if first or second:
            yield (
                f"Left out: {first} prompts of the first run alone and {second} of the second"
                " alone."
            )
    else:
        yield (
            f"All prompts of each run count: {prompts} of both, {first} of the first alone,"
            f" {second} of the second."
        )
    if about["claim"] == Claim.BANK:
        yield "The conclusions are about these prompts alone: each answer to them is a unit."
    families = about["families"]
    yield (
        f"The tolerance is {about['tolerance']:g}, of shares of missing answers"
        f" {about['missing_tolerance']:g}. Two families, each corrected at {about['alpha']:g}: gaps"
        f" ({families['gaps']}); means and shares of missing answers ({families['levels']})."
    )
