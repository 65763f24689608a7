"""Measures responses with the extractors their probes ask for; counts, and announces, each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from biaswatch.services.extractor.domain import Extractor, Measured, Reading, measured_all
from biaswatch.services.extractor.domain.extractor import NOT_FINITE, WRONG_FEATURES
from biaswatch.shared.contracts import CallSpan, Ending, ExtractorStatus, Features, Response
from biaswatch.shared.contracts.dropin import DropInSpec
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store.extractors import Baselines, Extractors, Numbers

FAILED = ("the extractor", NOT_FINITE, WRONG_FEATURES, "model")
"""How reasons begin that tell of the extractor, and not of the text."""


class ExtractorCounters:
    """Texts measured and the last error: counted by one thread, read by another."""

    def __init__(self) -> None:
        self.texts = 0
        self.last_error: str | None = None
        self._read = 0

    def note(self, reasons: Iterable[str | None]) -> None:
        """Count texts, by the reason each has no numbers for, or None."""
        for reason in reasons:
            self.texts += 1
            if reason and reason.startswith(FAILED):
                self.last_error = reason

    def fail(self, sentence: str) -> None:
        """Remember what went wrong with no text in particular."""
        self.last_error = sentence

    def rate_per_s(self, over_s: float) -> float:
        """Return the texts a second since this was last asked."""
        new, self._read = self.texts - self._read, self.texts
        return new / over_s


async def announce(
    extractors: Mapping[str, Extractor],
    announcements: Extractors,
    counters: Mapping[str, ExtractorCounters],
    *,
    now: Callable[[], datetime],
    every_s: float,
) -> None:
    """Announce the extractors of this process, with their rates over `every_s`."""
    statuses = [
        builtin_status(extractor, counters[name], every_s, now())
        for name, extractor in extractors.items()
    ]
    # In one transaction: whoever waits for one to run must not find half of them.
    await in_thread(announcements.announce, *statuses)


def builtin_status(
    extractor: Extractor, counters: ExtractorCounters, over_s: float, at: datetime
) -> ExtractorStatus:
    """Return the announcement of an extractor of this process."""
    return ExtractorStatus(
        name=extractor.name,
        version=extractor.version,
        features=tuple(extractor.features),
        seen_at=at,
        instrument=extractor.instrument,
        rate_per_s=counters.rate_per_s(over_s),
        last_error=counters.last_error,
    )


class MeasureResponses:
    """The handler of responses; it computes, so it runs in a thread."""

    def __init__(
        self,
        extractors: Mapping[str, Extractor],
        baselines: Baselines,
        *,
        now: Callable[[], datetime],
        counters: Mapping[str, ExtractorCounters] | None = None,
    ) -> None:
        self._extractors = extractors
        self._baselines = baselines
        self._now = now
        self._counters = counters or {}

    def __call__(self, batch: Sequence[Response]) -> Sequence[Features]:
        """Return the features of each response by each extractor its probe asks for."""
        return [
            features
            for extractor in self._extractors.values()
            if (asked := [each for each in batch if extractor.name in each.probe.measure])
            for features in self._features(extractor, asked)
        ]

    def _features(self, extractor: Extractor, asked: Sequence[Response]) -> list[Features]:
        baselines = self._of_baselines(extractor, asked)
        outcomes = measured_all(extractor, readings_of(asked))
        counters = self._counters.get(extractor.name)
        return features_of(asked, extractor, outcomes, baselines, counters, self._now())

    def _of_baselines(
        self, extractor: Extractor, asked: Sequence[Response]
    ) -> Mapping[str, Numbers]:
        """Return the numbers of every baseline text; each text is measured once, ever."""
        texts = baselines_of(asked)
        known = self._baselines.find(extractor.name, extractor.version, texts) if texts else {}
        new = [text for text in texts if text not in known]
        if not new:
            return known
        found = measured_all(extractor, [Reading(text) for text in new])
        # What is unscorable may be so for a while only: a model that is not there yet.
        fresh = {text: values for text, (values, why) in zip(new, found, strict=True) if not why}
        self._baselines.keep(extractor.name, extractor.version, fresh, self._now())
        return known | fresh


def baselines_of(asked: Sequence[Response]) -> list[str]:
    """Return the baseline texts that are wanted, each once."""
    return sorted({each.probe.baseline for each in asked if each.probe.baseline})


def readings_of(asked: Sequence[Response]) -> list[Reading]:
    """Return what there is to read: the responses that are answers, in their order."""
    return [
        Reading(str(each.text), each.probe.expected, each.probe.baseline)
        for each in asked
        if _is_answer(each)
    ]


def _is_answer(response: Response) -> bool:
    return response.ending is Ending.ANSWERED and response.text is not None


def features_of(
    asked: Sequence[Response],
    extractor: Extractor | DropInSpec,
    outcomes: Sequence[Measured],
    baselines: Mapping[str, Numbers],
    counters: ExtractorCounters | None,
    at: datetime,
) -> list[Features]:
    """Return the record of each response; `outcomes` are those of `readings_of`."""
    remaining = iter(outcomes)
    found: list[Measured] = [
        first(remaining, "An answer has no measurement.")
        if _is_answer(each)
        else ({}, f"no answer: {each.reason}")
        for each in asked
    ]
    if counters:
        counters.note([reason for _, reason in found])
    return [
        Features(
            tenant=response.tenant,
            purpose=response.purpose,
            at=at,
            run_id=response.probe.run_id,
            probe_id=response.probe.id,
            response_id=response.id,
            unit_id=response.probe.unit_id,
            extractor=extractor.name,
            extractor_version=extractor.version,
            instrument=extractor.instrument,
            values=dict(values),
            baseline=dict(baselines.get(response.probe.baseline or "", {})),
            unscorable=unscorable,
            span=_span_of(response, extractor.name),
        )
        for response, (values, unscorable) in zip(asked, found, strict=True)
    ]


def _span_of(response: Response, extractor: str) -> CallSpan | None:
    """Return the span that an extractor's measurements of a response go back to, if they do."""
    asked = response.evaluated
    return asked.span if asked is not None and extractor in asked.extractors else None
