"""An answer as a page shows it: what was asked, what came, how every extractor read it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from biaswatch.shared.contracts import Ending, Features, Probe, Response

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
