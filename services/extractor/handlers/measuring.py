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
        fresh = {
            text: values for text, (values, why) in zip(new, found, strict=True) if why is None
        }
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
    extractor: Extractor,
    outcomes: Sequence[Measured],
    baselines: Mapping[str, Numbers],
    counters: ExtractorCounters | None,
    at: datetime,
) -> list[Features]:
    """Return the record of each response; `outcomes` are those of `readings_of`."""
    remaining = iter(outcomes)
    found: list[Measured] = [
        next(remaining) if _is_answer(each) else ({}, f"no answer: {each.reason}") for each in asked
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
        )
        for response, (values, unscorable) in zip(asked, found, strict=True)
    ]
