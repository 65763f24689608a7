"""The changes between two runs: the answer in a sentence, rows for JSON and CSV, a table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biaswatch.render.tables import print_sentence, print_table, terminal_table
from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangeVerdict,
    RunChange,
    RunChanges,
)
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError
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
from biaswatch.written_files import written_whole

Row = dict[str, Any]
WORDS = {
    ChangeVerdict.CHANGED.value: "changed",
    ChangeVerdict.NO_CHANGE.value: "no change beyond the tolerance",
    ChangeVerdict.NOT_ENOUGH.value: "not enough evidence",
}
STYLES = {ChangeVerdict.CHANGED.value: "bold red", ChangeVerdict.NO_CHANGE.value: "green"}
MOST_NAMED = 5
MOST_SHOWN = 10
"""So many changes are shown unless all are asked for."""


def change_rows(found: RunChanges) -> list[Row]:
    """Return the changes as JSON has them: what is decided first, then by p."""
    words = list(WORDS)
    return sorted(
        (_row(each) for each in found.changes),
        key=lambda row: (words.index(row["verdict"]), _sorted_p(row), row["of"]),
    )


def _sorted_p(row: Row) -> float:
    """Return what sorts: a change that is known comes before all tests of its verdict."""
    p = _comparable_p(row)
    return p if p is not None else -1.0 if row["verdict"] == ChangeVerdict.CHANGED else 2.0


def _row(each: RunChange) -> Row:
    subject = each.subject
    return {
        "of": subject.of.value,
        "feature": subject.feature,
        "domain": subject.domain or None,
        "dimension": subject.dimension,
        "a": subject.a,
        "b": subject.b,
        "before": each.before,
        "after": each.after,
        "change": each.change.value,
        "ci": _bounds(each.change.low, each.change.high),
        "ci_by_itself": _bounds(each.by_itself.low, each.by_itself.high),
        "p_value": computed_p(each.p_value),
        "p_adjusted": computed_p(each.p_adjusted),
        "p_equivalence": computed_p(each.p_equivalence_adjusted),
        "p_reason": TOO_SMALL if each.p_value == 0 else None,
        "method": each.change.method,
        "prompts": each.prompts,
        "n_before": each.n_before,
        "n_after": each.n_after,
        "n_missing_before": each.n_missing_before,
        "n_missing_after": each.n_missing_after,
        "verdict": each.verdict.value,
        "survives_missing": each.survives_missing,
        "reason": each.reason,
    }


def answer_of(rows: Sequence[Row], about: Mapping[str, Any]) -> str:
    """Return in a sentence whether anything changed, and in another what was not compared."""
    alone = about["only_before"] + about["only_after"] if about["matched"] else 0
    left = f" {alone} prompts that only one run has were not compared." if alone else ""
    return answer_sentence(rows) + left


def answer_sentence(rows: Sequence[Row]) -> str:
    """Return in one sentence whether anything changed."""
    if not rows:
        return "Nothing was compared: the runs share no answers."
    counts = [sum(row["verdict"] == verdict for row in rows) for verdict in WORDS]
    changed, same, unclear = counts
    asked = f"{len(rows)} gaps, means and shares of missing answers"
    if changed:
        shown = "; ".join(_changed(row) for row in rows[: min(changed, MOST_NAMED)])
        more = f"; and {changed - MOST_NAMED} more" if changed > MOST_NAMED else ""
        return f"Yes, {changed} of {asked} changed: {shown}{more}."
    if not unclear:
        return f"No, none of {asked} changed by more than its tolerance."
    unmeasured = sum(_is_unmeasured(row) for row in rows)
    lost = f", and {unmeasured} {NOT_MEASURED}" if unmeasured else ""
    return (
        f"Not shown: none of {asked} is found to have changed; of {same} it is shown that they did"
        f" not change by more than their tolerance, of {unclear - unmeasured} there is not enough"
        f" evidence{lost}."
    )


def _is_unmeasured(row: Row) -> bool:
    """Tell whether one run has no value of what is compared."""
    return row["of"] != ChangeOf.MISSING.value and not (row["n_before"] and row["n_after"])


def _changed(row: Row) -> str:
    values = f"from {number(row['before'])} to {number(row['after'])}"
    return f"{_subject(row)} {values}{_missing_note(row)}"


def _subject(row: Row) -> str:
    of = {
        ChangeOf.GAP.value: f"the gap {row['a']} - {row['b']} of {row['feature']}",
        ChangeOf.MEAN.value: f"the mean of {row['feature']}",
        ChangeOf.MISSING.value: f"the share of missing answers of {row['feature']}",
    }[row["of"]]
    group = f" for {row['a']}" if row["a"] and row["b"] is None else ""
    return f"{of}{group}" + (f" ({_where(row['domain'])})" if row["domain"] else "")


def _where(domain: str) -> str:
    """Return a model and how it was asked, in words."""
    model, apart, scaffold = domain.rpartition(", ")
    return f"{model}{apart}{scaffold.replace('_', ' ') if apart else scaffold}"


def write_changes(rows: Sequence[Row], output: Path) -> None:
    """Write the changes as a file.

    Raises
    ------
    UsageError
        The ending is neither .csv nor .parquet, or the file cannot be written.
    """
    if output.suffix not in {".csv", ".parquet"}:
        raise UsageError(f"{output} is neither CSV nor Parquet; its ending says what it shall be.")
    frame = pd.DataFrame(rows)
    with written_whole(output) as part:
        frame.to_csv(part, index=False) if output.suffix == ".csv" else frame.to_parquet(part)


def print_changes(
    answer: str,
    rows: Sequence[Row],
    about: Mapping[str, Any],
    warnings: Sequence[str],
    *,
    everything: bool = False,
) -> None:
    """Print the answer, the changes, and what was compared."""
    console = Console(emoji=False)
    print_sentence(console, answer, style="bold")
    console.print()
    most = len(rows) if everything else min(len(rows), MOST_SHOWN)
    print_table(console, _change_table(rows[:most], coverage(about["alpha"])))
    if left := len(rows) - most:
        print_sentence(console, f"{left} more that say less: --all, --json, -o.")
    console.print()
    print_sentence(console, " ".join(about_sentences(about)), style="dim")
    for warning in warnings:
        print_sentence(console, warning, style="yellow")


def _change_table(rows: Sequence[Row], level: str) -> Table:
    head = ("what", "before", "after", f"change [{level}]", "p adjusted", "verdict")
    cells = []
    for row in rows:
        low, high = row["ci"] or (None, None)
        verdict = NOT_MEASURED if _is_unmeasured(row) else WORDS[row["verdict"]]
        said = verdict + _missing_note(row)
        cells.append(
            (
                _subject(row),
                number(row["before"]),
                number(row["after"]),
                interval(row["change"], low, high, row["reason"]),
                p_value(_comparable_p(row)),
                Text(said, style=STYLES.get(row["verdict"], "")),
            )
        )
    return terminal_table(head, cells)


def _missing_note(row: Row) -> str:
    return f", but {COULD_UNDO}" if row["survives_missing"] is False else ""


def about_sentences(about: Mapping[str, Any]) -> Iterator[str]:
    """Return what was compared, on which prompts, and what the intervals cover."""
    if not about["matched"]:
        yield (
            f"All prompts of each run count: {about['prompts']} of both,"
            f" {about['only_before']} of the first alone, {about['only_after']} of the second."
        )
    else:
        yield (
            f"Both runs have {about['prompts']} prompts in common; a prompt's change is one value."
        )
    if about["matched"] and (about["only_before"] or about["only_after"]):
        yield (
            f"Left out: {about['only_before']} prompts of the first run alone and"
            f" {about['only_after']} of the second alone."
        )
    if about["claim"] == Claim.BANK:
        yield "The conclusions are about these prompts alone: each answer to them is a unit."
    yield (
        f"The tolerance is {about['tolerance']:g}, of shares of missing answers"
        f" {about['missing_tolerance']:g}; intervals and verdicts hold for all {about['family']}"
        " tests together."
    )


def _comparable_p(row: Row) -> float | None:
    """Return the adjusted p; one that is too small to be computed is 0."""
    return 0.0 if row["p_reason"] else row["p_adjusted"]


def _bounds(low: float | None, high: float | None) -> list[float | None] | None:
    return None if low is None and high is None else [low, high]
