"""Answers of a run: question, reply, readings; twins side by side; rows of a file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from biaswatch.shared.contracts import CONVERSATION, Ending, Features, Probe, Response
from biaswatch.shared.contracts.derived_features import SEPARATOR
from biaswatch.shared.contracts.response import TURN_STEP, USER_STEP
from biaswatch.shared.contracts.tools import MAX_STEPS
from biaswatch.shared.lookup import first
from biaswatch.shared.presentation.answer_filters import AnswerFilter, group_name
from biaswatch.shared.presentation.tables import (
    Table,
    names,
    number_cell,
    numbers,
    text_cell,
    words,
)

WORDS = re.compile(r"\s+|\w+\s*|[^\w\s]+\s*")
"""A word with the space behind it, so that marks of adjacent words join."""
MAX_COMPARED_WORDS = 3000
"""Longer texts have no marks, because the time to compare grows with the square."""
MAX_MARKED_CHARS = 60
"""Longer stimuli are texts, not words for a group."""
MAX_STEP_CHARACTERS = 300
"""Longer arguments and results of tools are cut on pages; an exported file has all of them."""
FILE_TITLES = (
    *("key", "set", "target", "scaffold", "repeat", "groups", "asked", "answered", "missing"),
    *("model", "extractor", "version", "feature", "value", "baseline", "unmeasured"),
)


@dataclass(frozen=True)
class AnswerReading:
    """One feature of one answer."""

    extractor: str
    version: str
    feature: str
    value: float | None
    baseline: float | None
    missing: str | None
    """Reason for a missing value."""


@dataclass(frozen=True)
class AnswerView:
    """One answer with its question and readings; hidden texts are None."""

    key: str
    set_id: str | None
    target: str
    scaffold: str
    repeat: int
    groups: dict[str, str]
    question: str | None
    reply: str | None
    missing: str | None
    """Reason for a missing answer."""
    model: str | None
    readings: tuple[AnswerReading, ...]
    response_id: str | None = None
    group_words: tuple[str, ...] = ()
    """Words for its groups: names of people, and the groups themselves."""
    steps: tuple[str, ...] = ()
    """Calls of tools that led to the answer: name, arguments, result; texts, like the answer."""

    @property
    def label(self) -> str:
        """The name of the answer within its set."""
        return f"{self.key}/{self.repeat}" if self.repeat else self.key

    @property
    def query(self) -> str:
        """The query for this answer."""
        group = next((group_name(*item) for item in self.groups.items()), "")
        return AnswerFilter(group=group, target=self.target, set=self.set_id or "").query()

    @property
    def about(self) -> str:
        """The groups of the answer, for people."""
        about = ", ".join(self.groups.values()) or self.key
        return f"{about} (repeat {self.repeat})" if self.repeat else about


def answer_view(
    probe: Probe, response: Response | None, measured: Sequence[Features]
) -> AnswerView:
    """Return the view of one answer, or of its plan alone before it arrives."""
    return AnswerView(
        key=probe.key,
        set_id=probe.set_id,
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        groups=probe.groups,
        question=_question(response.probe) if response else None,
        reply=_reply_text(response) if response else None,
        missing=_why_missing(response),
        model=response.model if response else None,
        readings=tuple(_readings(measured, response)),
        response_id=response.id if response else None,
        group_words=tuple(
            word
            for word in (*probe.stimuli.values(), *probe.groups.values())
            if len(word) <= MAX_MARKED_CHARS
        ),
        steps=tuple(_tool_steps(response)) if response else (),
    )


def _reply_text(response: Response) -> str | None:
    """Return the text of the answer, or the replies of a conversation by turn."""
    replies = [
        f"{speaker} {step.name.removeprefix(prefix)}: {response.said[step.name]}"
        for step in response.steps
        for prefix, speaker in ((USER_STEP, "Simulated user"), (TURN_STEP, "Reply"))
        if step.name.startswith(prefix) and step.name in response.said
    ]
    return "\n\n".join(replies) or response.text


def _tool_steps(response: Response) -> Iterator[str]:
    """Yield a line for each call of a tool, with cut arguments and result."""
    for step in response.tool_steps[:MAX_STEPS]:
        yield f"{step.name} {_cut(step.arguments)}: {_cut(step.result) or 'no result'}"
    if more := len(response.tool_steps[MAX_STEPS:]):
        yield f"and {more:,} more"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_STEP_CHARACTERS else f"{text[:MAX_STEP_CHARACTERS]}…"


def _question(probe: Probe) -> str | None:
    """Return the messages and variables of a prompt as one text."""
    variables = (f"{name}: {text}" for name, text in probe.variables.items())
    return "\n\n".join((*(message.content for message in probe.messages), *variables)) or None


def _why_missing(response: Response | None) -> str | None:
    """Return the reason for a missing answer; None for an answer."""
    if response is None:
        return "did not arrive"
    if response.ending is Ending.ANSWERED:
        return None
    return f"{response.ending}: {response.reason}" if response.reason else response.ending.value


def _readings(measured: Iterable[Features], response: Response | None) -> Iterator[AnswerReading]:
    """Yield every number of every extractor, in a stable order."""
    for row in sorted(measured, key=lambda row: (row.extractor, row.extractor_version)):
        values: dict[str, float | None] = {**row.values} or {"": None}
        for name, value in values.items():
            undefined = None if value is not None else _why_undefined(name, response)
            missing = row.unscorable or undefined
            baseline = row.baseline.get(name)
            yield AnswerReading(
                row.extractor, row.extractor_version, name, value, baseline, missing
            )


def _why_undefined(feature: str, response: Response | None) -> str:
    """Return why a feature has no value, for one of a conversation by its turn."""
    if response is None or response.probe.scaffold != CONVERSATION:
        return "undefined for this answer"
    turn = feature.rpartition(SEPARATOR)[2]
    if not turn.isdecimal():
        return "a reply has no value"
    reasons = {step.name: step.reason for step in response.steps}
    if f"{TURN_STEP}{turn}" not in reasons:
        return "this message was left out"
    reason = reasons[f"{TURN_STEP}{turn}"]
    return f"no value in this reply: {reason}" if reason else "no value in this reply"


@dataclass(frozen=True)
class MarkedText:
    """Part of a text, marked where the other text differs."""

    text: str
    differs: bool


def differences(a: str, b: str) -> tuple[list[MarkedText], list[MarkedText]]:
    """Return both texts in parts, word by word."""
    one, two = WORDS.findall(a), WORDS.findall(b)
    if max(len(one), len(two)) > MAX_COMPARED_WORDS:
        return [MarkedText(a, differs=False)], [MarkedText(b, differs=False)]
    first, second = list[MarkedText](), list[MarkedText]()
    for kind, a_from, a_to, b_from, b_to in SequenceMatcher(None, one, two, False).get_opcodes():
        differs = kind != "equal"
        if a_from < a_to:
            first.append(MarkedText("".join(one[a_from:a_to]), differs))
        if b_from < b_to:
            second.append(MarkedText("".join(two[b_from:b_to]), differs))
    return first, second


def marked_words(text: str, words: Sequence[str]) -> list[MarkedText]:
    """Return a text in parts, with every occurrence of some words marked, whatever its case."""
    if not words:
        return [MarkedText(text, differs=False)]
    longest_first = sorted(set(words), key=len, reverse=True)
    pattern = rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?!\w)"
    parts = re.split(pattern, text, flags=re.IGNORECASE)
    return [MarkedText(part, differs=n % 2 == 1) for n, part in enumerate(parts) if part]


@dataclass(frozen=True)
class TwinSide:
    """One of two answers side by side."""

    label: str
    answer: AnswerView
    parts: tuple[list[MarkedText], list[MarkedText]] | None
    """Question and answer in parts; None without texts."""

    @property
    def differing(self) -> str:
        """The words missing from the other question; "" if all differ."""
        question = self.parts[0] if self.parts else []
        return (
            ""
            if all(part.differs for part in question)
            else ", ".join(
                part.text.strip() for part in question if part.differs and part.text.strip()
            )
        )


def side_by_side(
    twins: Sequence[AnswerView], a: str, b: str, *, texts: bool
) -> tuple[TwinSide, TwinSide] | None:
    """Return the two labelled twins, or the first two, with their differences marked."""
    by_label = {twin.label: twin for twin in twins}
    if len(by_label) < 2:
        return None
    one = by_label.get(a) or twins[0]
    two = by_label.get(b) or first(
        (twin for twin in twins if twin is not one), "A set of twins has one member."
    )
    if not texts:
        return TwinSide(one.label, one, None), TwinSide(two.label, two, None)
    question = differences(one.question or "", two.question or "")
    reply = differences(one.reply or "", two.reply or "")
    return (
        TwinSide(one.label, one, (question[0], reply[0])),
        TwinSide(two.label, two, (question[1], reply[1])),
    )


def label_of(twins: Sequence[AnswerView], group: str) -> str:
    """Return the label of the first twin of a group; "" without one."""
    return next((twin.label for twin in twins if group in twin.groups.values()), "")


def readings_table(twins: Sequence[AnswerView]) -> Table:
    """Return a row for each answer of a set, and a column for each number."""
    features = dict.fromkeys(
        (row.extractor, row.feature) for twin in twins for row in twin.readings if row.feature
    )
    columns = (*names("group"), *numbers(*(words(feature) for _, feature in features)))
    values = [{(row.extractor, row.feature): row.value for row in twin.readings} for twin in twins]
    rows = [
        (
            text_cell(twin.about, note=twin.missing),
            *(number_cell(by_feature.get(feature)) for feature in features),
        )
        for twin, by_feature in zip(twins, values, strict=True)
    ]
    return Table("Every number of every twin", columns, tuple(rows))


def file_rows(answers: Iterable[AnswerView]) -> Iterator[list[str | float | None]]:
    """Yield a row for each reading; an answer without readings has one row too."""
    for row in answers:
        groups = "; ".join(f"{name}={group}" for name, group in row.groups.items())
        answer = [
            *(row.key, row.set_id, row.target, row.scaffold, row.repeat, groups),
            *(row.question, row.reply, row.missing, row.model),
        ]
        for read in row.readings:
            yield [
                *answer,
                *(read.extractor, read.version, read.feature),
                *(read.value, read.baseline, read.missing),
            ]
        if not row.readings:
            yield [*answer, *[None] * 6]
