"""True and false sentences in phrasings by somebody who had not seen the checker."""

import random
from collections.abc import Iterator

from benchmarks.checker import foreign_sentences as foreign
from benchmarks.checker.number_sentences import sentences_with_numbers
from benchmarks.checker.statement_sentences import names_of, sign_of
from benchmarks.checker.tables import Told, tables
from biaswatch.services.evaluator.domain.subjects import measure_of

Foreign = tuple[Told, str, str]
"""The subject; `correct`, or what was planted; the sentence."""


def foreign_planted() -> Iterator[Foreign]:
    """Return every sentence about every table, in a fixed order."""
    rng = random.Random(3)
    for told in tables():
        for kind, text, _ in sentences_with_numbers(told, rng, foreign.NUMBERS):
            yield told, kind, text
        for kind, text in (*_directions(told), *_significance(told), *_intervals(told)):
            yield told, kind, text
        names = names_of(told, sign_of(told))
        yield from ((told, "cause", each.format(**names)) for each in foreign.CAUSES)
        yield from ((told, "correct", each.format(**names)) for each in foreign.NO_CAUSES)


def _directions(told: Told) -> Iterator[tuple[str, str]]:
    if sign := sign_of(told):
        for each in foreign.DIRECTIONS:
            yield "correct", each.format(**names_of(told, sign))
            yield "direction", each.format(**names_of(told, -sign))


def _significance(told: Told) -> Iterator[tuple[str, str]]:
    test = next(m for m in told.subject.measures if m.p_value is not None)
    significant = test.p_value is not None and test.p_value < told.subject.alpha
    names = names_of(told, sign_of(told))
    for phrasings, true in (
        (foreign.SIGNIFICANT, significant),
        (foreign.NOT_SIGNIFICANT, not significant),
    ):
        for each in phrasings:
            yield "correct" if true else "significance", each.format(**names)


def _intervals(told: Told) -> Iterator[tuple[str, str]]:
    for phrasings, includes in ((foreign.INCLUDES, True), (foreign.EXCLUDES, False)):
        for each in phrasings:
            named = "odds_ratio" if "odds" in each or "OR" in each else "relative_risk"
            measure = measure_of(told.subject, named)
            if measure and measure.low is not None and measure.high is not None:
                true = (measure.low <= 1 <= measure.high) is includes
                yield "correct" if true else "interval", each
