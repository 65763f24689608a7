"""Answers of twins: read from an export or a table, paired by set, without words for groups."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from biaswatch.shared.contracts import Message
from biaswatch.shared.conventions.group_words import GROUP_WORDS, masked
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import json_lines_of_file

NAME = "name"
MAX_SET_CHARACTERS = 200
MIN_PART_CHARACTERS = 3
"""Shorter parts of names and labels are words of the language: `of`, `a`."""
Row = tuple[str, Mapping[str, Any]]
"""Place and columns of a row of `biaswatch export`: set, text, `groups.NAME`, `stimuli.NAME`."""
_MESSAGES = TypeAdapter(tuple[Message, ...])
_EVERY_GROUP_WORD = frozenset(word for words in GROUP_WORDS.values() for word in words)


@dataclass(frozen=True)
class Answer:
    """One answer of a twin: its group, its stimuli, the question and the text."""

    group: str
    order: tuple[str, ...]
    """Its other groups, its repeat and its key: answers of two groups are paired in this order."""
    stimuli: Mapping[str, str]
    question: str
    text: str


AnswersBySet = dict[str, dict[str, list[Answer]]]
"""The answers by set and group, in pairing order."""


@dataclass(frozen=True)
class TwinAnswers:
    """The answers of one target with a set, a group and a text, and the number of rows."""

    sets: AnswersBySet
    rows: int

    @property
    def left_out(self) -> int:
        """The number of rows without a text, a group, or a twin of another group."""
        return self.rows - sum(map(_paired, self.sets.values()))


def rows_of_file(path: Path) -> Iterator[Row]:
    """Yield the rows of JSON lines, or of a table in CSV or Parquet.

    Raises
    ------
    UsageError
        The file cannot be read.
    """
    if path.suffix.lower() not in {".csv", ".parquet"}:
        yield from json_lines_of_file(path, "file of answers")
        return
    from biaswatch.readers.table_files import frame_of

    frame = frame_of(path)
    for number, row in enumerate(frame.astype(object).to_dict("records"), start=1):
        known = {str(name): value for name, value in row.items() if value == value}  # no NaN
        yield f"{path}, row {number}", {name: v for name, v in known.items() if v is not None}


def twin_answers(rows: Iterable[Row], dimension: str, target: str | None = None) -> TwinAnswers:
    """Return the answers by set and group; `dimension` is a column, with or without `groups.`.

    Raises
    ------
    UsageError
        A row cannot be read, or the answers are of several targets and none is named.
    """
    answered = _of_target(rows, target)
    sets: AnswersBySet = defaultdict(lambda: defaultdict(list))
    column = _column_of(answered, dimension)
    for place, row in answered:
        if row.get(column) and row.get("set") and row.get("text"):
            answer = _answer(place, row, column)
            sets[str(row["set"])][answer.group].append(answer)
    for by_group in sets.values():
        for answers in by_group.values():
            answers.sort(key=lambda answer: answer.order)
    return TwinAnswers(sets, len(answered))


def _of_target(rows: Iterable[Row], target: str | None) -> list[Row]:
    """Return the rows of the target with this name, or of the only target."""
    by_target: dict[str, list[Row]] = defaultdict(list)
    for place, row in rows:
        if not isinstance(row, dict):
            raise UsageError(f"{place}: this is not a row of `biaswatch export`.")
        by_target[str(row.get("target") or "unnamed")].append((place, row))
    listed = ", ".join(sorted(by_target)) or "none"
    if target is not None and target not in by_target:
        raise UsageError(f"There are no answers of {target}; the targets are {listed}.")
    if target is None and len(by_target) > 1:
        raise UsageError(f"The answers are of several targets ({listed}): name one with --target.")
    return by_target[target] if target is not None else list(chain(*by_target.values()))


def _column_of(rows: Sequence[Row], dimension: str) -> str:
    """Return the column of groups: `groups.gender` of an export, or `gender` of a table."""
    columns = {name for _, row in rows for name in row}
    for column in (f"groups.{dimension}", dimension):
        if column in columns:
            return column
    dimensions = {name.removeprefix("groups.") for name in columns if name.startswith("groups.")}
    known = ", ".join(sorted(dimensions or columns)) or "none"
    raise UsageError(f"No answer has a group of {dimension!r}; the dimensions are {known}.")


def _answer(place: str, row: Mapping[str, Any], column: str) -> Answer:
    for name in (column, "text"):
        if not isinstance(row[name], str):
            raise UsageError(f"{place}: `{name}` must be a text.")
    if len(str(row["set"])) > MAX_SET_CHARACTERS:
        raise UsageError(f"{place}: `set` has more than {MAX_SET_CHARACTERS} characters.")
    try:
        messages = _MESSAGES.validate_json(row.get("messages") or "[]")
    except ValidationError:
        raise UsageError(f"{place}: `messages` is not as `biaswatch export` writes it.") from None
    further = (row[name] for name in sorted(row) if name.startswith("groups.") and name != column)
    stimuli = {
        name.removeprefix("stimuli."): str(value)
        for name, value in row.items()
        if (name == NAME or name.startswith("stimuli.")) and value
    }
    return Answer(
        group=row[column],
        order=(*map(str, further), str(row.get("repeat", 0)).zfill(9), str(row.get("key"))),
        stimuli=stimuli,
        question=messages[-1].content if messages else str(row.get("prompt") or ""),
        text=row["text"],
    )


def _paired(by_group: Mapping[str, Sequence[Answer]]) -> int:
    """Return how many answers of a set have a twin of another group."""
    return sum(
        max(
            (min(len(own), len(by_group[other])) for other in by_group if other != group), default=0
        )
        for group, own in by_group.items()
    )


def without_groups(first: Answer, second: Answer) -> dict[str, str]:
    """Return the question and both answers without the words that name groups."""
    words = {*_EVERY_GROUP_WORD, *_with_parts(first.group), *_with_parts(second.group)}
    for factor in first.stimuli.keys() | second.stimuli.keys():
        values = {first.stimuli.get(factor), second.stimuli.get(factor)}
        if factor == NAME:
            words |= {word for value in values if value for word in _with_parts(value)}
        elif len(values) > 1:
            words |= {value for value in values if value}
    parts = {"Question": first.question} if first.question else {}
    parts |= {"First answer": first.text, "Second answer": second.text}
    return {part: masked(text, words) for part, text in parts.items()}


def _with_parts(label: str) -> set[str]:
    """Return a label or a name, its words, and their singular forms."""
    words = label.replace("_", " ").replace("-", " ").split()
    parts = {label, " ".join(words), *words}
    parts |= {word.removesuffix("s") for word in words}
    return {part for part in parts if len(part) >= MIN_PART_CHARACTERS}
