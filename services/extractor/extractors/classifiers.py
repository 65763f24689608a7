"""Extractors based on a text classifier, with a formula over its labels for each feature."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from biaswatch.services.extractor.domain import (
    Extractor,
    Outcome,
    Reading,
    Unscorable,
    batch_of_one,
)
from biaswatch.shared.lookup import first
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.forward_passes import ModelUnavailable
from biaswatch.shared.models.text_models import Classifier
from biaswatch.shared.telemetry import log

Scores = Mapping[str, float]
Classify = Callable[[Sequence[str]], Sequence[Scores | Exception]]
R = TypeVar("R")


@dataclass(frozen=True)
class LinearFormula:
    """A linear function of the scores of labels: offset + sum of weight x score."""

    weights: Mapping[str, float]
    offset: float = 0.0

    def of(self, scores: Scores) -> float:
        """Return the value; raise Unscorable if the model lacks a label."""
        known = {label.lower(): score for label, score in scores.items()}
        if missing := [label for label in self.weights if label.lower() not in known]:
            raise Unscorable(f"model has no label {missing[0]}")
        return self.offset + sum(w * known[label.lower()] for label, w in self.weights.items())


def score_of(label: str) -> LinearFormula:
    """Return the formula for the score of one label."""
    return LinearFormula({label: 1.0})


@dataclass(frozen=True)
class ClassifierExtractor:
    """A classifier with a formula for each feature."""

    name: str
    model: str
    formulas: Mapping[str, LinearFormula]
    classify: Classify
    edition: str = "1"
    """Changes with the formulas; the version consists of it and the model."""

    @property
    def version(self) -> str:
        """The edition and the model."""
        return f"{self.edition} {self.model}"

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(self.formulas)

    @property
    def instrument(self) -> str:
        """The model."""
        return f"the classifier {self.model}"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Measure one text."""
        return batch_of_one(self, reading)

    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        """Measure many texts in as few passes as possible."""
        texts = [reading.text for reading in readings if reading.text.strip()]
        try:
            scores = iter(self.classify(texts))
        except Unscorable as unavailable:
            return [unavailable] * len(readings)
        return [
            self._outcome(first(scores, "The model returned fewer results than texts."))
            if reading.text.strip()
            else Unscorable("empty text")
            for reading in readings
        ]

    def _outcome(self, scores: Scores | Exception) -> Outcome:
        if isinstance(scores, Exception):
            return Unscorable(f"model failed on this text: {type(scores).__name__}")
        try:
            return {name: formula.of(scores) for name, formula in self.formulas.items()}
        except Unscorable as missing:
            return missing


def classified(
    name: str, model: str, formulas: Mapping[str, LinearFormula], models: ModelOptions
) -> ClassifierExtractor:
    """Return the extractor with this model and these formulas."""
    models.require()
    classify = unscorable_if_unavailable(Classifier(model, models).scores)
    return ClassifierExtractor(name, model, formulas, classify)


def unscorable_if_unavailable(
    run: Callable[[Sequence[str]], list[R]],
) -> Callable[[Sequence[str]], list[R]]:
    """Wrap a model so that it raises Unscorable, and logs, when it is not installed."""

    def run_or_raise(texts: Sequence[str]) -> list[R]:
        try:
            return run(texts)
        except ModelUnavailable as missing:
            log("extractor").warning("a model is unavailable", why=str(missing))
            raise Unscorable("model unavailable") from None

    return run_or_raise


MODELS: Mapping[str, tuple[str, Mapping[str, LinearFormula]]] = {
    "regard": (
        "sasha/regardv3",
        {"regard_score": LinearFormula({"positive": 1.0, "negative": -1.0}, offset=1.0)},
    ),
    "sentiment": (
        "lxyuan/distilbert-base-multilingual-cased-sentiments-student",
        {"sentiment_score": LinearFormula({"positive": 0.5, "negative": -0.5}, offset=0.5)},
    ),
    "toxicity": ("unitary/toxic-bert", {"toxicity_score": score_of("toxic")}),
    "toxicity_junglelee": (
        "JungleLee/bert-toxic-comment-classification",
        {"toxicity_score": score_of("toxic")},
    ),
    "stereotype": (
        "holistic-ai/stereotype-deberta-v3-base-tasksource-nli",
        {
            f"stereotype_{kind}_score": score_of(f"stereotype_{kind}")
            for kind in ("gender", "religion", "profession", "race")
        },
    ),
    "personality": (
        "Navya1602/editpersonality_classifier",
        {
            f"{trait}_score": score_of(trait)
            for trait in (
                "extraversion",
                "neuroticism",
                "agreeableness",
                "conscientiousness",
                "openness",
            )
        },
    ),
}
"""Models and formulas by extractor: regard from 0 to 2, all others from 0 to 1."""


def build(name: str, models: ModelOptions) -> Extractor:
    """Return a built-in classifier extractor."""
    model, formulas = MODELS[name]
    return classified(name, model, formulas, models)


EXTRACTORS: Mapping[str, Callable[..., Extractor]] = {name: partial(build, name) for name in MODELS}
