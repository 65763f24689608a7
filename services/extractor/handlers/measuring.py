"""Measures responses with the extractors of their probes, and announces the extractors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from biaswatch.services.extractor.domain import Extractor, Measured, Reading, measured_all
from biaswatch.services.extractor.domain.extractor import NOT_FINITE, WRONG_FEATURES
from biaswatch.services.extractor.domain.replies import (
    TRUNCATED,
    ReplyText,
    combined,
    steps_of,
    texts_of,
)
from biaswatch.shared.contracts import (
    CONSTRAINED_STEP,
    STEP_LIMIT,
    CallSpan,
    ExtractorStatus,
    Features,
    Reservation,
    Response,
)
from biaswatch.shared.contracts.dropin import DropInSpec
from biaswatch.shared.conventions.probe_options import options_of
from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.ratings import Scale
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store.extractors import Baselines, Extractors, Numbers

FAILED = ("the extractor", NOT_FINITE, WRONG_FEATURES, "model")
"""Prefixes of reasons that concern the extractor and not the text."""


class ExtractorCounters:
    """Measured texts and the last error of an extractor."""

    def __init__(self) -> None:
        self.texts = 0
        self.last_error: str | None = None
        self._read = 0

    def note(self, reasons: Iterable[str | None]) -> None:
        """Count texts, given for each the reason why it has no values, or None."""
        for reason in reasons:
            self.texts += 1
            if reason and reason.startswith(FAILED):
                self.last_error = reason

    def fail(self, sentence: str) -> None:
        """Record an error that concerns no particular text."""
        self.last_error = sentence

    def rate_per_s(self, over_s: float) -> float:
        """Return the texts per second since the last call."""
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
    """Announce the extractors of this process, with their rates over the last `every_s`."""
    statuses = [
        builtin_status(extractor, counters[name], every_s, now())
        for name, extractor in extractors.items()
    ]
    # In one transaction, so that readers see all of them or none.
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
    """The handler of responses for all extractors of this process."""

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
        """Return the features of each response by each extractor of its probe."""
        features: list[Features] = []
        for extractor in self._extractors.values():
            responses = [r for r in batch if extractor.name in r.probe.measure]
            if not responses:
                continue
            baselines = self._baseline_values(extractor, responses)
            outcomes = measured_all(extractor, readings_of(responses, extractor.name))
            counters = self._counters.get(extractor.name)
            features += features_of(
                responses, extractor, outcomes, baselines, counters, self._now()
            )
        return features

    def _baseline_values(
        self, extractor: Extractor, responses: Sequence[Response]
    ) -> Mapping[str, Numbers]:
        """Return the values of all baseline texts; each text is measured once and then stored."""
        texts = baselines_of(responses)
        known = self._baselines.find(extractor.name, extractor.version, texts) if texts else {}
        new = [text for text in texts if text not in known]
        if not new:
            return known
        outcomes = measured_all(extractor, [Reading(text) for text in new])
        # Unscorable ones are not stored, as the reason may be temporary, such as a missing model.
        fresh = {text: values for text, (values, why) in zip(new, outcomes, strict=True) if not why}
        self._baselines.keep(extractor.name, extractor.version, fresh, self._now())
        return known | fresh


def baselines_of(responses: Sequence[Response]) -> list[str]:
    """Return the baseline texts of responses, without duplicates."""
    return sorted({r.probe.baseline for r in responses if r.probe.baseline})


def readings_of(responses: Sequence[Response], extractor: str) -> list[Reading]:
    """Return the inputs of an extractor: the texts that it can measure, one after the other."""
    return [
        Reading(
            reply.text or "",
            response.probe.expected,
            response.probe.baseline,
            cut_off=reply.reason == TRUNCATED,
            scale=_scale_of(response),
            options=options_of(response.probe),
            scored=response.scored,
            tools=response.probe.tools,
            tool_steps=steps_of(response),
            abandoned=reply.reason == STEP_LIMIT,
        )
        for response in responses
        for reply in texts_of(response)
        if reply.is_measurable(response, extractor)
    ]


def _scale_of(response: Response) -> Scale:
    requested = response.probe.requested
    return (requested.low, requested.high) if requested else (None, None)


def features_of(
    responses: Sequence[Response],
    extractor: Extractor | DropInSpec,
    outcomes: Sequence[Measured],
    baselines: Mapping[str, Numbers],
    counters: ExtractorCounters | None,
    at: datetime,
) -> list[Features]:
    """Return the features of each response, given the outcomes of `readings_of(responses)`."""
    remaining = iter(outcomes)
    measured = [_measured(response, extractor, remaining) for response in responses]
    if counters:
        counters.note([reason for _, reason in measured])
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
            reservation=None if unscorable else _reservation_of(response, extractor.name),
            span=_span_of(response, extractor.name),
        )
        for response, (values, unscorable) in zip(responses, measured, strict=True)
    ]


def _measured(
    response: Response, extractor: Extractor | DropInSpec, outcomes: Iterator[Measured]
) -> Measured:
    """Take the outcomes of the texts of a response, and return its measurement."""
    measured: list[tuple[ReplyText, Measured]] = []
    for reply in texts_of(response):
        outcome: Measured = ({}, f"no answer: {reply.reason}")
        if reply.is_measurable(response, extractor.name):
            values, unscorable = first(outcomes, "An answer has no measurement.")
            if not unscorable or reply.reason != TRUNCATED:  # cut off before the part, it lacks it
                outcome = values, unscorable
        measured.append((reply, outcome))
    return combined(response, tuple(extractor.features), measured)


def _reservation_of(response: Response, extractor: str) -> Reservation | None:
    requested = response.probe.requested
    if requested is None or requested.part != extractor:
        return None
    if any(step.name == CONSTRAINED_STEP for step in response.steps):
        return Reservation.CONSTRAINED
    cut_off = any(reply.reason == TRUNCATED for reply in texts_of(response))
    return Reservation.CUT_OFF if cut_off else None


def _span_of(response: Response, extractor: str) -> CallSpan | None:
    """Return the span to which measurements of a response are sent back, if requested."""
    evaluated = response.evaluated
    return evaluated.span if evaluated and extractor in evaluated.extractors else None
