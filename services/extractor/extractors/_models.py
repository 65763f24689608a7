"""Puts a model behind an extractor: loaded when first needed, one reason where it is not there."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from services.extractor.domain import Unscorable
from services.extractor.domain.classified import Classified, Linear
from shared.models.classifier import Classifier
from shared.models.device import Models
from shared.models.passes import ModelUnavailable
from shared.telemetry import log

UNAVAILABLE = "model unavailable"
R = TypeVar("R")


def classified(name: str, model: str, formulas: Mapping[str, Linear], models: Models) -> Classified:
    """Return the extractor that is this model with these formulas."""
    models.require()
    classify = told(Classifier(model, models).scores)
    return Classified(name, model, formulas, classify)


def told(ask: Callable[[Sequence[str]], list[R]]) -> Callable[[Sequence[str]], list[R]]:
    """Turn a missing model into a reason that is recorded, and a sentence that is logged."""

    def ask_or_say(texts: Sequence[str]) -> list[R]:
        try:
            return ask(texts)
        except ModelUnavailable as missing:
            log("extractor").warning("a model is unavailable", why=str(missing))
            raise Unscorable(UNAVAILABLE) from None

    return ask_or_say
