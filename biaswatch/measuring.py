"""Measure texts with extractors in this process, without bus, store or model calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from biaswatch.services.extractor.domain import Extractor, Measured, Reading, measured_all
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.model_reasoning import ReasonedText, after_reasoning
from biaswatch.shared.requests.exports import (
    AnswerMeasurements,
    DeclaredAnalysis,
    Measurement,
    PinnedExtractor,
)
from biaswatch.shared.runtime.settings import load_settings

AT_ONCE = 256
LOG = "log"


@dataclass(frozen=True)
class TextMeasurer:
    """Extractors loaded in this process."""

    extractors: Mapping[str, Extractor]

    @classmethod
    def named(cls, names: Sequence[str]) -> "TextMeasurer":
        """Load extractors by their names.

        Raises
        ------
        UsageError
            An extractor is unknown, or needs a library that is not installed.
        """
        wanted = [
            name.strip() for argument in names for name in argument.split(",") if name.strip()
        ]
        if not wanted:
            raise UsageError("Name an extractor: sentiment, refusal, words, ...")
        settings = load_settings(ExtractorSettings)
        models = settings.models
        try:
            return cls(load(wanted, settings.extractor_folder, models=models))
        except (ConfigurationError, UsageError) as error:
            reason = str(error).replace(" Correct BIASWATCH_EXTRACTOR_NAMES.", "")
            raise UsageError(reason) from None

    @classmethod
    def of(cls, extractors: Sequence[str | Extractor]) -> "TextMeasurer":
        """Return extractors and those of the names; raises like `named`."""
        own = {
            extractor.name: extractor for extractor in extractors if not isinstance(extractor, str)
        }
        names = [extractor for extractor in extractors if isinstance(extractor, str)]
        return cls({**(cls.named(names).extractors if names or not own else {}), **own})

    @property
    def pinned(self) -> list[PinnedExtractor]:
        """The extractors with their versions and features."""
        return [
            PinnedExtractor(
                name=extractor.name, version=extractor.version, features=list(extractor.features)
            )
            for extractor in self.extractors.values()
        ]

    def measure(self, texts: Sequence[str | None]) -> dict[str, list[Measured]]:
        """Return the measurement of each text, or the reason for none, by extractor."""
        parts = [None if text is None else after_reasoning(text) for text in texts]
        readings = [Reading(part.answer) for part in parts if part and not part.missing]
        measured: dict[str, list[Measured]] = {}
        for name, extractor in self.extractors.items():
            outcomes = iter(measured_all(extractor, readings))
            measured[name] = [
                ({}, why) if (why := _absence(part)) else first(outcomes, "A text was not read.")
                for part in parts
            ]
        return measured

    def measured_answers(
        self, answers: Iterable[Mapping[str, Any]]
    ) -> Iterator[AnswerMeasurements]:
        """Yield the measurements of recorded answers, in order."""
        remaining = iter(answers)
        while batch := list(islice(remaining, AT_ONCE)):
            measured = self.measure([answer.get("text") for answer in batch])
            for number, answer in enumerate(batch):
                yield _measured_answer(
                    answer, {name: outcomes[number] for name, outcomes in measured.items()}
                )

    def declared(self, name: str, answers: int) -> DeclaredAnalysis:
        """Return the default analysis of recorded answers."""
        return DeclaredAnalysis(
            run_id=name,
            suite=LOG,
            claim=Claim.POPULATION,
            features=[],
            selected_at_least={},
            extractors=self.pinned,
            targets=[LOG],
            scaffolds=[LOG],
            answers=answers,
            alpha=None,
            tolerance=None,
        )


def _absence(parts: ReasonedText | None) -> str | None:
    """Return the reason why a text has no answer, or None."""
    if parts is None:
        return "no answer"
    return f"no answer: {parts.missing}" if parts.missing else None


def _measured_answer(
    answer: Mapping[str, Any], measured: Mapping[str, Measured]
) -> AnswerMeasurements:
    reason = answer.get("reason")
    no_answer = f"no answer: {reason}" if reason else "no answer"
    facts = dict(answer.get("facts", {}))
    if model := answer.get("model"):
        facts.setdefault("model", str(model))
    return AnswerMeasurements(
        key=str(answer["id"]),
        target=LOG,
        scaffold=LOG,
        repeat=0,
        unit=str(answer.get("unit") or answer["id"]),
        set=None,
        groups=dict(answer.get("groups", {})),
        facts=facts,
        measured={
            name: Measurement(
                values=dict(values), missing=no_answer if why and "text" not in answer else why
            )
            for name, (values, why) in measured.items()
        },
    )
