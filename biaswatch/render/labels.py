"""Labels of people on a terminal: expected gain, progress, corrected findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rich.console import Console

from biaswatch.render.terminal import (
    escape,
    print_bullets,
    print_sentence,
    print_table,
    rich_table,
    terminal_table,
)
from biaswatch.shared.analysis.labels.table_corrections import TableCorrection
from biaswatch.shared.contracts import CorrectedGroup, Correction
from biaswatch.shared.formatting import number, number_name
from biaswatch.shared.presentation.corrections import (
    SAMPLING_ASSUMPTION,
    correction_sentences,
    correction_title,
    corrections_table,
    error_table,
    table_correction_sentences,
)
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.exports import ExportedAnswer
from biaswatch.shared.requests.labels import (
    LabelPlan,
    RunCorrections,
    SampleProgress,
    repeats_in_words,
)

MAX_DISAGREEMENTS = 20
MAX_QUOTE_CHARS = 60
"""Length of a quoted answer on which people disagree."""
MEANS_AND_ERRORS = ((0, 1, 2, 3), (0, 4, 5, 6))
"""Columns of the table of errors, in two tables that fit a terminal."""


def print_label_plan(plan: LabelPlan) -> None:
    """Print the precision of 50, 100, ... labels of each group."""
    console = Console(emoji=False)
    groups = ", ".join(f"{name} {n}" for name, n in plan.groups.items())
    feature = number_name(plan.extractor, plan.feature)
    print_sentence(console, f"{feature} by {words(plan.dimension)}: {groups}.")
    if not plan.lines:
        print_sentence(console, "A group has fewer than 50 answers, too few to plan labels.")
        return
    print_sentence(
        console,
        f"By readings alone a gap of two groups has an interval of ± {number(plan.by_readings)},"
        " which ignores the instrument's error. With labels:",
    )
    rows = [
        (
            str(row.labels_of_a_group),
            "labels alone" if not row.correlation else f"{row.correlation:g}",
            f"± {number(row.half_width)}",
            number(row.smallest_gap),
        )
        for row in plan.lines
    ]
    titles = ("labels of a group", "if they correlate with readings", "interval", "found in 80 %")
    print_table(console, terminal_table(titles, rows))
    print_sentence(console, repeats_in_words(plan))


def print_progress(samples: Sequence[SampleProgress]) -> None:
    """Print the progress of labelling, group by group."""
    console = Console(emoji=False)
    names = ModelNames.among(row for sample in samples for row in sample.strata)
    rows = [
        (
            number_name(sample.sample.extractor, sample.sample.feature),
            *(names.of(row), row.group, str(row.answers), str(row.drawn), str(row.labelled)),
        )
        for sample in samples
        for row in sample.strata
    ]
    titles = ("number", "target", "group", "answers", "drawn", "labelled")
    print_table(console, terminal_table(titles, rows))
    for sample in samples:
        if sample.skipped:
            print_sentence(console, f"People skipped {sample.skipped} answers.")


def print_corrected(
    corrected: RunCorrections,
    disagreements: Mapping[str, Sequence[str]],
    answers: Sequence[ExportedAnswer],
) -> None:
    """Print findings as labels correct them, and answers with disagreeing labels.

    Parameters
    ----------
    disagreements
        The label of each person, by the id of the answer.
    answers
        The known ones of those answers.
    """
    console = Console(emoji=False)
    if corrected.behind:
        print_sentence(console, "New labels are not in these numbers yet.")
    elif not corrected.corrections:
        print_sentence(console, "Nothing is labelled yet. `biaswatch labels sample` draws answers.")
    names = ModelNames.among(corrected.corrections)
    for row in corrected.corrections:
        console.print(f"\n[bold]{escape(correction_title(row, names))}[/]")
        _print_errors(console, row.groups)
    print_bullets(console, correction_sentences(corrected.corrections))
    known = {answer.response_id: answer for answer in answers}
    for id_, labels in list(disagreements.items())[:MAX_DISAGREEMENTS]:
        answer = _quoted(known[id_]) if id_ in known else f"the answer {id_}"
        print_bullets(console, [f"People differ on {answer}: {', '.join(labels)}."])
    if (left := len(disagreements) - MAX_DISAGREEMENTS) > 0:
        print_sentence(console, f"{left} more answers on which people differ: --json.")


def print_corrections(
    console: Console, corrections: Sequence[Correction], extractors: Sequence[str]
) -> None:
    """Print the effect of labels on a run's findings, or that there are none."""
    if not corrections:
        sentence = (
            f"All numbers are by the reading of {' and '.join(extractors)}: this run has no labels."
            " `biaswatch labels sample` draws answers to label."
        )
        print_sentence(console, sentence, style="dim")
        return
    title = "The declared findings of this run, as labels of people correct them:"
    print_sentence(console, title, style="bold")
    print_table(console, rich_table(corrections_table(corrections)), "")
    print_bullets(console, correction_sentences(corrections))


def print_table_corrections(console: Console, corrections: Sequence[TableCorrection]) -> None:
    """Print a table's gaps as labels correct them, and the readings' errors."""
    print_sentence(console, "As labels of people correct the gaps:", style="bold")
    print_table(console, rich_table(corrections_table(corrections)), "")
    for row in corrections:
        _print_errors(console, row.groups)
    print_bullets(console, table_correction_sentences(corrections))
    print_sentence(console, SAMPLING_ASSUMPTION, style="dim")


def _print_errors(console: Console, groups: Iterable[CorrectedGroup]) -> None:
    table = error_table(groups)
    for places in MEANS_AND_ERRORS:
        columns = tuple(table.columns[n] for n in places)
        rows = tuple(tuple(row[n] for n in places) for row in table.rows)
        print_table(console, rich_table(replace(table, columns=columns, rows=rows)), "")


def _quoted(answer: ExportedAnswer) -> str:
    """Return an answer's key in its suite, and its beginning where it may be read."""
    text = " ".join((answer.text or "").split())
    if len(text) > MAX_QUOTE_CHARS:
        text = f"{text[: MAX_QUOTE_CHARS - 1]}…"
    return f"{answer.key} (“{text}”)" if text else answer.key
