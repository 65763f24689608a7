"""`bw.judge`: a model that rates texts, made of a function that writes its question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biaswatch.services.extractor.domain import Measured
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

NO_TEXT = "text is None"


@dataclass(frozen=True)
class Judge:
    """A model that rates texts; pass it to `bw.measure`."""

    name: str
    question: Callable[[str], str]
    """The question about a text; it has to ask for a rating on the scale."""
    target: str
    scale: tuple[float, float]
    features: tuple[str, ...] = ("rating",)

    def suite(self, texts: Sequence[str | None]) -> Suite:
        """Return the questions about the texts.

        Raises
        ------
        UsageError
            All texts are None.
        """
        probes = [
            {"key": str(number), "prompt": self.question(text), "groups": {}}
            for number, text in enumerate(texts)
            if text is not None
        ]
        if not probes:
            raise UsageError(f"The judge {self.name} has no text to rate: all texts are None.")
        return Suite.model_validate(
            {"name": self.name, "extractors": ["rating"], "needs": "rating", "form": "text",
             "ranges": {"rating": self.scale}, "probes": probes}
        )  # fmt: skip

    def measured(self, texts: Sequence[str | None]) -> list[Measured]:
        """Return the rating of each text, or the reason for none.

        Raises
        ------
        UsageError
            The target is unknown, or its key is missing.
        """
        from biaswatch.api.platforms import run

        rows = {row["key"]: row for row in run(self.suite(texts), self.target).rows}
        return [
            _rating(rows[str(n)]) if str(n) in rows else ({}, NO_TEXT) for n in range(len(texts))
        ]


def _rating(row: Mapping[str, Any]) -> Measured:
    rating = row.get("rating.rating")
    if isinstance(rating, int | float):
        return {"rating": float(rating)}, None
    return {}, str(row.get("reason") or row.get("rating.missing") or "no rating")


def judge(
    target: str, *, scale: tuple[float, float] = (1, 5)
) -> Callable[[Callable[[str], str]], Judge]:
    """Decorate a function from a text to a question: it becomes a judge.

    The question has to ask for a rating on the scale. In `bw.measure`, its column is `NAME.rating`;
    each text is one call of the target. A text without a rating counts as missing.

    Examples
    --------
    >>> import biaswatch as bw
    >>> @bw.judge("openai:gpt-5-mini", scale=(1, 5))
    ... def warmth(text: str) -> str:
    ...     return f"How warm is this answer? {text!r} Rating: N, from 1 to 5."
    >>> warmth.suite(["Sure!"]).probes[0].prompt
    "How warm is this answer? 'Sure!' Rating: N, from 1 to 5."
    """

    def decorate(question: Callable[[str], str]) -> Judge:
        return Judge(question.__name__, question, target, scale)

    return decorate
