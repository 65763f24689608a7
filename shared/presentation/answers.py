"""Answers of a run: question, reply, readings; twins side by side; rows of a file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from biaswatch.shared.contracts import Ending, Features, Probe, Response
from biaswatch.shared.presentation.tables import PageColumn, PageTable, number_cell, words_cell

WORDS = re.compile(r"\s+|\w+\s*|[^\w\s]+\s*")
"""A word with the space behind it, so that marks of neighbouring words meet."""
MOST_WORDS = 3000
"""Longer texts are shown without marks: comparing them takes time that grows with the square."""


@dataclass(frozen=True)
class AnswerReading:
    """What one extractor read in one answer."""

    extractor: str
    version: str
    feature: str
    value: float | None
    baseline: float | None
    missing: str | None
    """Why there is no value."""


@dataclass(frozen=True)
class AnswerView:
    """One answer with its question and readings; texts are None where they may not be read."""

    key: str
    set_id: str | None
    target: str
    scaffold: str
    repeat: int
    groups: dict[str, str]
    asked: str | None
    answered: str | None
    missing: str | None
    """Why there is no answer."""
    model: str | None
    readings: tuple[AnswerReading, ...]


def answer_view(
    probe: Probe, response: Response | None, measured: Sequence[Features]
) -> AnswerView:
    """Return the view of one answer; of one that has not arrived, nothing but its plan."""
    return AnswerView(
        key=probe.key,
        set_id=probe.set_id,
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        groups=probe.groups,
        asked=_asked(response.probe) if response else None,
        answered=response.text if response else None,
        missing=_missing(response),
        model=response.model if response else None,
        readings=tuple(readings_of(measured)),
    )


def readings_of(measured: Iterable[Features]) -> list[AnswerReading]:
    """Return every number of every extractor, in a stable order."""
    found = []
    for each in sorted(measured, key=lambda one: (one.extractor, one.extractor_version)):
        names = each.values or {"": None}
        for name, value in names.items():
            why = each.unscorable or (None if value is not None else "undefined for this answer")
            found.append(
                AnswerReading(
                    each.extractor,
                    each.extractor_version,
                    name,
                    value,
                    each.baseline.get(name),
                    why,
                )
            )
    return found


@dataclass(frozen=True)
class MarkedText:
    """A stretch of a text, and whether the other text has it too."""

    text: str
    differs: bool


def differences(a: str, b: str) -> tuple[list[MarkedText], list[MarkedText]]:
    """Return both texts in parts that tell where they differ, word by word."""
    one, two = WORDS.findall(a), WORDS.findall(b)
    if max(len(one), len(two)) > MOST_WORDS:
        return [MarkedText(a, differs=False)], [MarkedText(b, differs=False)]
    found: tuple[list[MarkedText], list[MarkedText]] = [], []
    for kind, a_from, a_to, b_from, b_to in SequenceMatcher(None, one, two, False).get_opcodes():
        for parts, words, begin, end in (
            (found[0], one, a_from, a_to),
            (found[1], two, b_from, b_to),
        ):
            if begin < end:
                parts.append(MarkedText("".join(words[begin:end]), differs=kind != "equal"))
    return found


def _asked(probe: Probe) -> str | None:
    if probe.messages:
        return "\n\n".join(message.content for message in probe.messages)
    return "\n\n".join(f"{name}: {text}" for name, text in probe.variables.items()) or None


def _missing(response: Response | None) -> str | None:
    if response is None:
        return "did not arrive"
    if response.ending is Ending.ANSWERED:
        return None
    return f"{response.ending}: {response.reason}" if response.reason else response.ending.value


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
