"""Measures responses, each with the extractors its probe asks for."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from services.extractor.domain import Extractor, Measured, Reading, measured_all
from services.extractor.handlers.extractor_status import ExtractorCounters
from shared.contracts import Ending, Features, Response
from shared.store.extractors import Baselines, Numbers


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
        found = self._of_answers(extractor, asked)
        if counters := self._counters.get(extractor.name):
            counters.note([reason for _, reason in found])
        return [
            features_of(
                response, extractor, one, baselines.get(response.probe.baseline or ""), self._now()
            )
            for response, one in zip(asked, found, strict=True)
        ]

    def _of_answers(self, extractor: Extractor, asked: Sequence[Response]) -> list[Measured]:
        readings = [reading_of(response) for response in asked]
        outcomes = iter(measured_all(extractor, [each for each in readings if each]))
        return [
            next(outcomes) if reading else ({}, why_unread(response))
            for reading, response in zip(readings, asked, strict=True)
        ]

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
        fresh = {
            text: values for text, (values, why) in zip(new, found, strict=True) if why is None
        }
        self._baselines.keep(extractor.name, extractor.version, fresh, self._now())
        return known | fresh


def baselines_of(asked: Sequence[Response]) -> list[str]:
    """Return the baseline texts that are wanted, each once."""
    return sorted({each.probe.baseline for each in asked if each.probe.baseline})


def reading_of(response: Response) -> Reading | None:
    """Return what there is to read, or None where the target gave no answer."""
    if response.ending is not Ending.ANSWERED or response.text is None:
        return None
    return Reading(response.text, response.probe.expected, response.probe.baseline)


def why_unread(response: Response) -> str:
    """Say why there is nothing to read."""
    return f"no answer: {response.reason}"


def features_of(
    response: Response, extractor: Extractor, found: Measured, base: Numbers | None, at: datetime
) -> Features:
    """Return the record of one measurement."""
    values, unscorable = found
    probe = response.probe
    return Features(
        tenant=response.tenant,
        purpose=response.purpose,
        at=at,
        run_id=probe.run_id,
        probe_id=probe.id,
        response_id=response.id,
        unit_id=probe.unit_id,
        extractor=extractor.name,
        extractor_version=extractor.version,
        instrument=extractor.instrument,
        values=dict(values),
        baseline=dict(base or {}),
        unscorable=unscorable,
    )
