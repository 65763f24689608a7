"""Extractors that are a classifier and a formula over its labels; a missing model is a reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from biaswatch.services.extractor.domain.extractor import Outcome, Reading, Unscorable, batch_of_one
from biaswatch.shared.lookup import first
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.forward_passes import ModelUnavailable
from biaswatch.shared.models.text_models import Classifier
from biaswatch.shared.telemetry import log

Scores = Mapping[str, float]
Classify = Callable[[Sequence[str]], Sequence[Scores | Exception]]


@dataclass(frozen=True)
class LinearFormula:
    """A number made of the scores of labels: offset + sum of weight x score."""

    weights: Mapping[str, float]
    offset: float = 0.0

    def of(self, scores: Scores) -> float:
        """Return the number; raise Unscorable where the model has no such label."""
        known = {label.lower(): score for label, score in scores.items()}
        if missing := [label for label in self.weights if label.lower() not in known]:
            raise Unscorable(f"model has no label {missing[0]}")
        return self.offset + sum(w * known[label.lower()] for label, w in self.weights.items())


def score_of(label: str) -> LinearFormula:
    """Return the formula that is one label's score."""
    return LinearFormula({label: 1.0})


@dataclass(frozen=True)
class ClassifierExtractor:
    """A classifier, and a formula for each feature."""

    name: str
    model: str
    formulas: Mapping[str, LinearFormula]
    classify: Classify
    edition: str = "1"
    """Changes when a formula does; together with the model's name it is the version."""

    @property
    def version(self) -> str:
        """The edition and the model: other weights are another instrument."""
        return f"{self.edition} {self.model}"

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return tuple(self.formulas)

    @property
    def instrument(self) -> str:
        """The model."""
        return f"the classifier {self.model}"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Measure one text."""
        return batch_of_one(self, reading)

    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        """Measure many texts in as few passes as there can be."""
        texts = [reading.text for reading in readings if reading.text.strip()]
        try:
            found = iter(self.classify(texts))
        except Unscorable as why:
            return [why] * len(readings)
        return [
            self._outcome(first(found, "The model has read fewer texts than it was given."))
            if reading.text.strip()
            else Unscorable("empty text")
            for reading in readings
        ]

    def _outcome(self, scores: Scores | Exception) -> Outcome:
        if isinstance(scores, Exception):
            return Unscorable(f"model failed on this text: {type(scores).__name__}")
        try:
            return {name: formula.of(scores) for name, formula in self.formulas.items()}
        except Unscorable as why:
            return why


UNAVAILABLE = "model unavailable"
R = TypeVar("R")


def classified(
    name: str, model: str, formulas: Mapping[str, LinearFormula], models: ModelOptions
) -> ClassifierExtractor:
    """Return the extractor that is this model with these formulas."""
    models.require()
    classify = unscorable_if_unavailable(Classifier(model, models).scores)
    return ClassifierExtractor(name, model, formulas, classify)


def unscorable_if_unavailable(
    ask: Callable[[Sequence[str]], list[R]],
) -> Callable[[Sequence[str]], list[R]]:
    """Turn a missing model into a reason that is recorded, and a sentence that is logged."""

    def ask_or_say(texts: Sequence[str]) -> list[R]:
        try:
            return ask(texts)
        except ModelUnavailable as missing:
            log("extractor").warning("a model is unavailable", why=str(missing))
            raise Unscorable(UNAVAILABLE) from None

    return ask_or_say
