"""The queue of answers to label, with words that name groups hidden."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Label, LabelSample, standing_labels
from biaswatch.shared.errors import UsageError

SKIP, UNDO = "s", "u"


@dataclass(frozen=True)
class QueueState:
    """How far a person is in a sample."""

    next_id: str | None
    """The answer to label now; None at the end."""
    labelled: int
    skipped: int
    total: int
    last_id: str | None
    """The answer that would be undone."""


def queue_state(sample: LabelSample, labels: Sequence[Label], person_id: str) -> QueueState:
    """Return how far a person is; what was skipped does not come again."""
    mine = {
        each.response_id: each
        for each in standing_labels(list(labels))
        if each.person_id == person_id
        and (each.extractor, each.feature) == (sample.extractor, sample.feature)
    }
    drawn = [each.response_id for each in sample.drawn]
    done = [mine[id_] for id_ in drawn if id_ in mine]
    return QueueState(
        next_id=next((id_ for id_ in drawn if id_ not in mine), None),
        labelled=sum(each.value is not None for each in done),
        skipped=sum(each.value is None for each in done),
        total=len(drawn),
        last_id=max(done, key=lambda each: each.at).response_id if done else None,
    )


def typed_value(sample: LabelSample, typed: str) -> float | None:
    """Return the label that was typed; None where the person could not tell.

    Raises
    ------
    UsageError
        It is no value of the scale; the sentence says which there are.
    """
    if typed == SKIP:
        return None
    try:
        value = float(typed.replace(",", "."))
    except ValueError:
        value = float("nan")
    if (sample.choices and value in sample.choices) or (
        not sample.choices and sample.low <= value <= sample.high
    ):
        return value
    raise UsageError(f"{typed[:20] or 'Nothing'} is no label here: {scale_words(sample)}.")


def scale_words(sample: LabelSample) -> str:
    """Return what can be typed: `0 or 1`, `a number from -1 to 1`."""
    if sample.choices:
        *others, last = (f"{each:g}" for each in sample.choices)
        return f"{', '.join(others)} or {last}" if others else last
    return f"a number from {sample.low:g} to {sample.high:g}"


HIDDEN = "[...]"


def hidden_words(text: str, words: Sequence[str]) -> str:
    """Return text without these words, whatever their case; parts of longer words stay.

    Of words that begin alike the longest goes. Who draws a sample chooses the words, so a text
    takes about the same time however they are chosen: at each place only the last word that is not
    behind it in the alphabet, and what that word begins with, can stand there.
    """
    known = sorted({low for word in words if (low := _lower(word))})
    if not known:
        return text
    beginnings = _beginnings(known)
    low, kept, end = _lower(text), [], 0
    longest = max(map(len, known))
    firsts = "".join(sorted({re.escape(word[0]) for word in known}))
    for found in re.finditer(rf"(?<!\w)[{firsts}]", low):
        start = found.start()
        if start < end:
            continue
        place = bisect_right(known, low[start : start + longest]) - 1
        word = known[place] if place >= 0 else None
        while word is not None and not _stands_at(low, start, word):
            word = beginnings[word]
        if word is not None:
            kept += [text[end:start], HIDDEN]
            end = start + len(word)
    return "".join([*kept, text[end:]])


def _beginnings(known: Sequence[str]) -> dict[str, str | None]:
    """Return for each word, in order, the longest other one that it begins with."""
    found: dict[str, str | None] = {}
    begun: list[str] = []
    for word in known:
        while begun and not word.startswith(begun[-1]):
            begun.pop()
        found[word] = begun[-1] if begun else None
        begun.append(word)
    return found


def _stands_at(text: str, start: int, word: str) -> bool:
    after = text[start + len(word) : start + len(word) + 1]
    return text.startswith(word, start) and not (after.isalnum() or after == "_")


def _lower(text: str) -> str:
    """Return text in small letters, as long as it was."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := each.lower()) == 1 else each for each in text)
