"""One person's queue: which drawn answer comes next, what a typed key means, what is undone."""

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
