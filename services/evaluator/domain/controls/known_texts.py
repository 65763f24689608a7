"""Known texts about a known table, with their correct scores.

Two dimensions of the rubric have a perfect text, a faulty one and one about something else; one
text is empty. Faulty texts are repeated with meaningless padding and under a reversed scale, which
must not change their score.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from biaswatch.services.evaluator.domain.subjects import interval_of, level_of, measure_of
from biaswatch.shared.contracts import Measure, Subject

INTERVAL, LIMITATIONS = "interval", "limitations"
CONTROLLED = (INTERVAL, LIMITATIONS)
"""Dimensions with known texts; an empty or unrelated text scores 0 there."""
MEASURE = "odds_ratio"
PERFECT, FAULTY, OFF_TOPIC, EMPTY = "perfect", "faulty", "off_topic", "empty"
PADDED, REVERSED = "padded", "reversed"
GOOD, MIDDLE, BAD = 0.75, 0.5, 0.25
"""Steps of the anchors: lower bound for perfect texts, upper bounds for others."""


@dataclass(frozen=True)
class KnownText:
    """A text, its dimension, and the range of correct scores."""

    dimension: str
    name: str
    text: str
    at_least: float = 0.0
    at_most: float = 1.0
    changed: str | None = None


_COUNTS = (48, 72, 30, 90)
# Literal, because the code that computes it loads slowly. A test compares the values.
_ODDS_RATIO = Measure(
    name=MEASURE, label="Odds Ratio", value=2.0, low=1.152, high=3.472, no_difference=1.0
)
_PERFECT_INTERVAL = (
    "The Odds Ratio of promotion for the day shift against the night shift is {value}, and its"
    " {level} confidence interval is {interval}. The interval does not contain 1, the value of no"
    " difference, so these data speak for a difference between the shifts at that level. Yet the"
    " interval is wide: the estimate is uncertain, because the counts are modest. Every value in"
    " that range fits the data about as well, from odds that are hardly higher to odds that are"
    " several times as high, so the size of the difference stays open even where its direction"
    " does not."
)
_FAULTY_INTERVAL = (
    "The Odds Ratio of promotion for the day shift against the night shift is {value}. Its {level}"
    " confidence interval is (0.312, 0.874). As the interval lies below 1, the night shift is"
    " promoted more often."
)
_PERFECT_LIMITATIONS = (
    "The data show one year of one firm and may be out of date, so the result holds for that year"
    " and may not hold today. Training, wishes and earlier posts were never recorded and cannot be"
    " adjusted for; if the shifts differ in them, the comparison changes. The two shifts may differ"
    " in things that were not measured, and an association does not show what caused it, so no"
    " cause may be read into these numbers. The results have to be read with caution. Before anyone"
    " acts on them, people who know the work of the firm and people who know its statistics should"
    " be consulted; they can say which of these gaps matters."
)
_FAULTY_LIMITATIONS = (
    "The data hold everything that bears on promotion, and nothing about them is uncertain. The"
    " figures prove their point completely and for all times. Readers can act at once,"
    " without advice from anyone."
)
_LIMITATIONS = (
    "The data show one year of one firm and may be out of date.",
    "Training, wishes and earlier posts were never recorded and cannot be adjusted for.",
    "The two shifts may differ in things that were not measured.",
    "An association does not show what caused it.",
    "People who act on the result should ask experts on the firm and its statistics.",
)
_OFF_TOPIC = (
    "Rye bread needs a sour starter that has stood overnight in a warm kitchen. Stir it into coarse"
    " flour with salt and caraway until the dough comes off the spoon. Let it rise in a basket,"
    " turn it onto a hot stone, and bake it until the crust sounds hollow."
)
_PADDING = (
    "This part of the report belongs to the whole of the report. The sentences above are the"
    " sentences above, and a reader who comes to this point has read them. The report goes on from"
    " sentence to sentence, as reports do, and each sentence follows the one before it. Words were"
    " chosen, put into an order, and left in that order. It may be read slowly or quickly, on paper"
    " or on a screen, by one person or by several. After these sentences no others of their kind"
    " come, and the report comes to its close."
)


def control_subject() -> Subject:
    """Return the statistics that the known texts describe."""
    return Subject(
        outcome="promotion",
        value="promoted",
        groups=("day shift", "night shift"),
        counts=_COUNTS,
        cases=sum(_COUNTS),
        measures=(_ODDS_RATIO,),
        limitations=_LIMITATIONS,
    )


@lru_cache(maxsize=1)
def known_texts() -> tuple[KnownText, ...]:
    """Return all known texts in a fixed order, copies after originals."""
    return tuple(_texts())


def _texts() -> Iterator[KnownText]:
    words = _numbers()
    for dimension, perfect, faulty in (
        (INTERVAL, _PERFECT_INTERVAL, _FAULTY_INTERVAL),
        (LIMITATIONS, _PERFECT_LIMITATIONS, _FAULTY_LIMITATIONS),
    ):
        yield KnownText(dimension, PERFECT, perfect.format(**words), at_least=GOOD)
        wrong = KnownText(dimension, FAULTY, faulty.format(**words), at_most=MIDDLE)
        yield wrong
        yield replace(wrong, text=f"{wrong.text} {_PADDING}", changed=PADDED)
        yield replace(wrong, changed=REVERSED)
        yield KnownText(dimension, OFF_TOPIC, _OFF_TOPIC, at_most=BAD)
    yield KnownText(LIMITATIONS, EMPTY, "", at_most=BAD)


def _numbers() -> Mapping[str, str]:
    subject = control_subject()
    measure = measure_of(subject, MEASURE)
    assert measure is not None  # noqa: S101 - for mypy; the table is ours
    return {
        "value": f"{measure.value:.3f}",
        "interval": interval_of(measure) or "",
        "level": level_of(subject),
    }
