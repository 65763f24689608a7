"""The readings of answers as tables: beside one another on a page, one a line in a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biaswatch.shared.presentation.answer_views import AnswerView, MarkedText, differences
from biaswatch.shared.presentation.page_tables import PageColumn, PageTable, number_cell, words_cell

FILE_TITLES = (
    "key", "set", "target", "scaffold", "repeat", "groups", "asked", "answered", "missing", "model",
    "extractor", "version", "feature", "value", "baseline", "unmeasured",
)  # fmt: skip


@dataclass(frozen=True)
class TwinSide:
    """One of two answers that stand side by side."""

    label: str
    answer: AnswerView
    parts: tuple[list[MarkedText], list[MarkedText]] | None
    """Question and answer, in parts; None without texts."""


def label_of(answer: AnswerView) -> str:
    """Return what tells the answers of a set apart."""
    return f"{answer.key}/{answer.repeat}" if answer.repeat else answer.key


def groups_of(answer: AnswerView) -> str:
    """Return whom an answer is about, for a person."""
    said = ", ".join(answer.groups.values()) or answer.key
    return f"{said} (repeat {answer.repeat})" if answer.repeat else said


def side_by_side(
    twins: Sequence[AnswerView], a: str, b: str, *, texts: bool
) -> tuple[TwinSide, TwinSide] | None:
    """Return two twins with their differences marked: those asked for, or the first two."""
    by_label = {label_of(each): each for each in twins}
    if len(by_label) < 2:
        return None
    one = by_label.get(a) or twins[0]
    others = [each for each in twins if each is not one]
    two = by_label.get(b) or others[0]
    if not texts:
        return TwinSide(label_of(one), one, None), TwinSide(label_of(two), two, None)
    asked = differences(one.asked or "", two.asked or "")
    answered = differences(one.answered or "", two.answered or "")
    return (
        TwinSide(label_of(one), one, (asked[0], answered[0])),
        TwinSide(label_of(two), two, (asked[1], answered[1])),
    )


def readings_table(twins: Sequence[AnswerView]) -> PageTable:
    """Return a row for each answer of a set, and a column for each number."""
    names = list(
        dict.fromkeys(
            (r.extractor, r.feature) for each in twins for r in each.readings if r.feature
        )
    )
    rows = []
    for each in twins:
        values = {(one.extractor, one.feature): one.value for one in each.readings}
        numbers = (number_cell(values.get(name)) for name in names)
        rows.append((words_cell(groups_of(each), note=each.missing), *numbers))
    columns = (PageColumn(feature.replace("_", " "), numeric=True) for _, feature in names)
    caption = "Every number of every twin"
    return PageTable(caption, (PageColumn("group", name=True), *columns), tuple(rows))


def file_rows(answers: Iterable[AnswerView]) -> list[list[str | float | None]]:
    """Return a line for each reading; an answer that nobody measured has one line too."""
    rows: list[list[str | float | None]] = []
    for each in answers:
        groups = "; ".join(f"{name}={group}" for name, group in each.groups.items())
        known = [each.key, each.set_id, each.target, each.scaffold, each.repeat, groups]
        said = [*known, each.asked, each.answered, each.missing, each.model]
        read = [
            [one.extractor, one.version, one.feature, one.value, one.baseline, one.missing]
            for one in each.readings
        ]
        rows += [[*said, *one] for one in read or [[None] * 6]]
    return rows
