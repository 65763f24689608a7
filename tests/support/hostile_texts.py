"""Texts made to keep a reader of answers busy, and all that reads answers without a model."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle, product

from biaswatch.building import model_questions as builder
from biaswatch.building.sentences import parts_of, problem_of
from biaswatch.services.evaluator.domain import model_questions as evaluator
from biaswatch.services.evaluator.domain.reading.foreign import read_report
from biaswatch.services.evaluator.domain.writing.draft import draft_in
from biaswatch.services.extractor.domain import Extractor, Reading
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.services.generator.domain.questions import RatingScale, rating_on
from biaswatch.shared import parsing
from biaswatch.shared.analysis.labels.queue import hidden_words
from biaswatch.shared.parsing.model_reasoning import after_reasoning
from biaswatch.shared.parsing.redaction import BUILT_IN, redact
from tests.support.records import make_subject

Reader = Callable[[str], object]
FLOOR_S = 0.01
"""CPU time below which growth is not looked at: that is noise."""
WIDEST_GROWTH = 8.0
"""Of the time, where the text grows fourfold: 4 is linear, 16 quadratic."""

_HEADS = (
    *("", "A", "1", "# ", "Rating", "Rating:", "score is", "answer", "answer is", "Answer: B"),
    *("verdict", "option", "choose", "so", "I am sorry", '"answer"', '{"rating": "', "1. "),
)
_RUNS = (
    *("\n", " ", "#", "*", "_", "-", ">", '"', "'", "(", ")", "[", "{", "0", ".", "!", ",", "\\"),
    *("\t", "\u2028", "\u2019", " \n", "-\n", "> \n", "#\n", "! ", "? ", "1.", "1,", "1 ", "a "),
    *("a.", "a'", "e.g. A ", "answer ", "Answer: A ", "answer is yes ", "rating 1 ", "option B "),
    *("so ", "but ", "not bad ", "sorry ", "yes ", "as an AI ", '{"', '{"a":', '{"a":[', "=\n"),
    *('{"answer":"', '"answer":"', "[1"),
)
_WORDS_ALIKE = [
    "b",
    *(run * (500 // len(run)) + str(n) for run in ("! ", "a ") for n in range(250)),
]
_OPTIONS = {"A": "the first: a b", "B": "the second: M. Hale"}
_TAILS = ("", "x", "\nRating: 3")


def hostile_texts(characters: int) -> Iterator[str]:
    """Yield texts of about this length: something that begins a pattern, a long run, an end."""
    for (head, run), tail in zip(product(_HEADS, _RUNS), cycle(_TAILS), strict=False):
        yield head + run * (characters // len(run)) + tail


def readers() -> Mapping[str, Reader]:
    """Return what reads answers in every service, by name."""
    scale = RatingScale(0, 100, whole=False)
    subject = make_subject()
    extractors = load(ExtractorSettings.model_fields["extractor_names"].default.split(","))
    return {
        "gateway: hidden words": lambda text: hidden_words(text, _WORDS_ALIKE),
        "gateway: redaction": lambda text: redact(text, list(BUILT_IN.values())),
        "generator: rating": lambda text: rating_on(scale, text),
        "generator: reasoning": after_reasoning,
        "oracle: yes or no": parsing.yes_or_no_in,
        "oracle: choice": parsing.choice_in,
        "choice by text": lambda text: parsing.choice_in(text, _OPTIONS, cut_off=True),
        "rating on a scale": lambda text: parsing.rating_in(text, (1, 5), cut_off=True),
        "oracle: reasoning": parsing.reasoning_in,
        "oracle: sentences": lambda text: parsing.sentences_in(text, 3),
        **{f"extractor: {name}": _measures(extractor) for name, extractor in extractors.items()},
        "evaluator: draft": draft_in,
        "evaluator: judgement": evaluator.judgement_in,
        "evaluator: report": lambda text: read_report(text, subject, structure=True),
        "builder: terms": builder.terms_in,
        "builder: pairs of terms": builder.term_pairs_in,
        "builder: yes or no": builder.yes_or_no,
        "builder: sentences": lambda text: list(map(problem_of, parts_of.__wrapped__(text))),
    }


def _measures(extractor: Extractor) -> Reader:
    return lambda text: extractor.measure(Reading(text))


def grows_faster(read: Reader, short: str, long: str) -> bool:
    """Return whether reading a text four times as long takes far more than four times as long.

    A busy machine slows down one measurement, so three in a row must say so.
    """
    return all(_grew(cpu_s(read, short), cpu_s(read, long)) for _ in range(3))


def _grew(short_s: float, long_s: float) -> bool:
    return long_s > FLOOR_S and long_s > WIDEST_GROWTH * max(short_s, 1e-6)


def cpu_s(read: Reader, text: str) -> float:
    """Return the CPU time of reading a text."""
    began = time.thread_time()
    with contextlib.suppress(Exception):  # that nothing can be read is an outcome
        read(text)
    return time.thread_time() - began
