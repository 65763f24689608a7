"""The queue of answers to label, with words that name groups hidden."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Label, LabelSample, current_labels
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
    own = {
        label.response_id: label
        for label in current_labels(list(labels))
        if label.person_id == person_id
        and (label.extractor, label.feature) == (sample.extractor, sample.feature)
    }
    drawn = [answer.response_id for answer in sample.drawn]
    done = [own[id_] for id_ in drawn if id_ in own]
    return QueueState(
        next_id=next((id_ for id_ in drawn if id_ not in own), None),
        labelled=sum(label.value is not None for label in done),
        skipped=sum(label.value is None for label in done),
        total=len(drawn),
        last_id=max(done, key=lambda label: label.at).response_id if done else None,
    )


def typed_value(sample: LabelSample, typed: str) -> float | None:
    """Return the label that was typed; None where the person could not tell.

    Raises
    ------
    UsageError
        The value is not on the scale; the message lists the values.
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
    raise UsageError(f"{typed[:20] or 'Nothing'} is not a label here: {scale_words(sample)}.")


def scale_words(sample: LabelSample) -> str:
    """Return what can be typed: `0 or 1`, `a number from -1 to 1`."""
    if sample.choices:
        *rest, last = (f"{choice:g}" for choice in sample.choices)
        return f"{', '.join(rest)} or {last}" if rest else last
    return f"a number from {sample.low:g} to {sample.high:g}"


HIDDEN = "[...]"


def hidden_words(text: str, words: Sequence[str]) -> str:
    """Return text without these words, whatever their case; parts of longer words stay.

    Of words that begin alike the longest goes. Who draws a sample chooses the words, so a text
    takes about the same time however they are chosen: at each place only the last word that is not
    behind it in the alphabet, and its prefixes, can match.
    """
    known = sorted({low for word in words if (low := _lower(word))})
    if not known:
        return text
    beginnings = _beginnings(known)
    low, kept, end = _lower(text), [], 0
    longest = max(map(len, known))
    firsts = "".join(sorted({re.escape(word[0]) for word in known}))
    for match in re.finditer(rf"(?<!\w)[{firsts}]", low):
        start = match.start()
        if start < end:
            continue
        place = bisect_right(known, low[start : start + longest]) - 1
        word = known[place] if place >= 0 else None
        while word is not None and not _matches_at(low, start, word):
            word = beginnings[word]
        if word is not None:
            kept += [text[end:start], HIDDEN]
            end = start + len(word)
    return "".join([*kept, text[end:]])


def _beginnings(known: Sequence[str]) -> dict[str, str | None]:
    """Return for each word, in order, the longest other one that it begins with."""
    known_from: dict[str, str | None] = {}
    prefixes: list[str] = []
    for word in known:
        while prefixes and not word.startswith(prefixes[-1]):
            prefixes.pop()
        known_from[word] = prefixes[-1] if prefixes else None
        prefixes.append(word)
    return known_from


def _matches_at(text: str, start: int, word: str) -> bool:
    after = text[start + len(word) : start + len(word) + 1]
    return text.startswith(word, start) and not (after.isalnum() or after == "_")


def _lower(text: str) -> str:
    """Return text in small letters, as long as it was."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
