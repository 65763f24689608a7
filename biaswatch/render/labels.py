"""Labels of people in the terminal: what they would bring, how far they are, what they correct."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from biaswatch.render.corrections import error_tables
from biaswatch.render.tables import escape, print_sentence, print_table, terminal_table
from biaswatch.shared.formatting import number, number_name
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.requests.exports import ExportedAnswer
from biaswatch.shared.requests.labels import (
    LabelPlan,
    RunCorrections,
    SampleProgress,
    repeats_in_words,
)

MOST_DISAGREEMENTS = 20
MOST_CHARACTERS = 60
"""Of an answer on which people differ."""


def print_label_plan(found: LabelPlan) -> None:
    """Print what 50, 100, ... labels of each group would bring, and what few cannot show."""
    console = Console(emoji=False)
    groups = ", ".join(f"{name} {n}" for name, n in found.groups.items())
    named = number_name(found.extractor, found.feature)
    print_sentence(console, f"{named} by {found.dimension.replace('_', ' ')}: {groups}.")
    print_sentence(
        console,
        f"By readings alone a gap of two groups has an interval of ± {number(found.by_readings)},"
        " which knows nothing of the instrument's error. With labels:",
    )
    rows = [
        (
            str(each.labels_of_a_group),
            "labels alone" if not each.correlation else f"{each.correlation:g}",
            f"± {number(each.half_width)}",
            number(each.smallest_gap),
        )
        for each in found.lines
    ]
    head = ("labels of a group", "if they correlate with readings", "interval", "found in 80 %")
    print_table(console, terminal_table(head, rows))
    print_sentence(console, repeats_in_words(found))


def print_progress(found: Sequence[SampleProgress]) -> None:
    """Print how far the samples of a run are labelled, group by group."""
    console = Console(emoji=False)
    head = ("number", "target", "group", "answers", "drawn", "labelled")
    names = ModelNames.among(one for each in found for one in each.strata)
    rows = [
        (
            number_name(each.sample.extractor, each.sample.feature),
            *(names.of(one), one.group, str(one.answers), str(one.drawn), str(one.labelled)),
        )
        for each in found
        for one in each.strata
    ]
    print_table(console, terminal_table(head, rows))
    for each in found:
        if each.skipped:
            print_sentence(console, f"Of {each.skipped} answers nobody could tell.")


def print_corrected(
    found: RunCorrections, differing: Mapping[str, Sequence[str]], answers: Sequence[ExportedAnswer]
) -> None:
    """Print findings by readings and as labels correct them, and on which answers people differ.

    Parameters
    ----------
    differing
        What each person said of an answer, by its id.
    answers
        Those answers, as far as they are found.
    """
    console = Console(emoji=False)
    if found.behind:
        print_sentence(console, "Labels have come that these numbers do not hold yet.")
    elif not found.corrections:
        print_sentence(console, "Nothing is labelled yet. `biaswatch labels sample` draws answers.")
    names = ModelNames.among(found.corrections)
    for each in found.corrections:
        named = number_name(each.extractor, each.feature)
        title = f"{names.of(each)}: {named} by {each.dimension.replace('_', ' ')}"
        console.print(f"\n[bold]{escape(title)}[/]")
        for table in error_tables(each.groups):
            print_table(console, table)
    for sentence in correction_sentences(found.corrections):
        print_sentence(console, sentence, bullet="• ")
    known = {each.response_id: each for each in answers}
    for id_, values in list(differing.items())[:MOST_DISAGREEMENTS]:
        called = _called(known[id_]) if id_ in known else f"the answer {id_}"
        print_sentence(console, f"People differ on {called}: {', '.join(values)}.", bullet="• ")
    if (left := len(differing) - MOST_DISAGREEMENTS) > 0:
        print_sentence(console, f"{left} more answers on which people differ: --json.")


def _called(answer: ExportedAnswer) -> str:
    """Return an answer's name in its suite, and how it begins where that may be read."""
    begins = " ".join((answer.text or "").split())
    if not begins:
        return answer.key
    shown = begins if len(begins) <= MOST_CHARACTERS else f"{begins[: MOST_CHARACTERS - 1]}…"
    return f"{answer.key} (“{shown}”)"
