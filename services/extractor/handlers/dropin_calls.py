"""Calls one drop-in extractor; its errors affect only its own texts."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import ValidationError

from biaswatch.services.extractor.domain import Measured, Reading
from biaswatch.services.extractor.domain.dropin_protocol import (
    BROKEN,
    BrokenContract,
    OtherVersion,
    batches_of,
    body_of,
    outcomes_of,
)
from biaswatch.services.extractor.handlers.measuring import (
    ExtractorCounters,
    baselines_of,
    features_of,
    readings_of,
)
from biaswatch.shared.bus.jetstream import NoReply, Requester, ServiceReply
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.contracts.dropin import Checked, DropInSpec, endpoint
from biaswatch.shared.errors import TransientError
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store.extractors import Baselines, Numbers

DIED_OR_HUNG = "the extractor died or hung on this text"
DEATHS = 3
"""Failures of a healthy extractor on one text before the text is recorded as unscorable."""
MAX_SUSPECTS = 10_000
SPARE_BYTES = 64 * 1024
"""Part of the message size reserved for the frame of a call."""


class SuspectTexts:
    """Texts of unanswered calls, and how often each failed alone."""

    def __init__(self) -> None:
        self._deaths: dict[Reading, int] = {}

    def any_of(self, readings: Sequence[Reading]) -> bool:
        """Tell whether any of these is suspected."""
        return any(reading in self._deaths for reading in readings)

    def add(self, readings: Sequence[Reading], deaths: int) -> None:
        """Add texts; the oldest are dropped beyond a limit."""
        for reading in readings:
            self._deaths[reading] = self._deaths.get(reading, 0) + deaths
        while len(self._deaths) > MAX_SUSPECTS:
            del self._deaths[first(self._deaths, "There are no suspects.")]

    def clear(self, reading: Reading) -> None:
        """Remove a text that was answered."""
        self._deaths.pop(reading, None)

    def is_fatal(self, reading: Reading) -> bool:
        """Tell whether the extractor failed on a text too often."""
        return self._deaths.get(reading, 0) >= DEATHS


class CallDropIn:
    """The handler of responses for one drop-in extractor at one version."""

    def __init__(
        self,
        spec: DropInSpec,
        caller: Requester,
        baselines: Baselines,
        counters: ExtractorCounters,
        suspects: SuspectTexts,
        *,
        now: Callable[[], datetime],
        call_s: float,
    ) -> None:
        self.spec = spec
        self._caller = caller
        self._baselines = baselines
        self._counters = counters
        self._suspects = suspects
        self._now = now
        self._call_s = call_s

    async def __call__(self, batch: Sequence[Response]) -> Sequence[Features]:
        """Return the features of the responses whose probes name this extractor."""
        responses = [r for r in batch if self.spec.name in r.probe.measure]
        if not responses:
            return []
        baselines = await self._baseline_values(baselines_of(responses))
        outcomes = await self.measured(readings_of(responses, self.spec.name))
        return features_of(responses, self.spec, outcomes, baselines, self._counters, self._now())

    async def _baseline_values(self, texts: Sequence[str]) -> dict[str, Numbers]:
        """Return the values of baseline texts; each text is measured once and then stored."""
        spec = self.spec
        if not texts:
            return {}
        known = await in_thread(self._baselines.find, spec.name, spec.version, texts)
        new = [text for text in texts if text not in known]
        outcomes = await self.measured([Reading(text) for text in new])
        fresh = {text: values for text, (values, why) in zip(new, outcomes, strict=True) if not why}
        await in_thread(self._baselines.keep, spec.name, spec.version, fresh, self._now())
        return known | fresh

    async def measured(self, readings: Sequence[Reading]) -> list[Measured]:
        """Measure texts, in as few calls as its spec and the bus allow.

        Raise TransientError if it does not answer; the texts are then redelivered.
        """
        measured: list[Measured] = []
        max_bytes = self._caller.max_bytes - SPARE_BYTES
        for batch in batches_of(readings, self.spec.max_batch, max_bytes):
            if self._suspects.any_of(batch):
                measured += [await self._measure_suspect(reading) for reading in batch]
            else:
                measured += await self._measure_batch(batch)
        return measured

    async def _measure_batch(self, batch: list[Reading]) -> list[Measured]:
        try:
            subject = endpoint(self.spec.name, "extract")
            reply = await self._caller.ask(subject, body_of(batch), timeout_s=self._call_s)
        except NoReply as silence:
            self._suspects.add(batch, deaths=0)
            self._counters.fail("it did not answer a call")
            raise TransientError(f"{self.spec.name}: {silence}") from None
        try:
            return self._read(reply, len(batch))
        except BrokenContract:
            if len(batch) == 1:
                return [({}, BROKEN)]
        return [result for reading in batch for result in await self._measure_batch([reading])]

    async def _measure_suspect(self, reading: Reading) -> Measured:
        """Measure a suspected text alone, after checking that the extractor is healthy."""
        if self._suspects.is_fatal(reading):
            return {}, DIED_OR_HUNG
        await self.check()
        try:
            [measured] = await self._measure_batch([reading])
        except TransientError:
            self._suspects.add([reading], deaths=1)
            raise
        self._suspects.clear(reading)
        return measured

    def _read(self, reply: ServiceReply, texts: int) -> list[Measured]:
        if reply.error_code is not None:
            self._counters.fail("it answered a call with an error")
            if texts == 1:
                plain = re.fullmatch(r"[0-9]{3}", reply.error_code)
                code = reply.error_code if plain else "no status"
                return [({}, f"the extractor failed: {code}")]
            raise BrokenContract("it answered with an error")
        try:
            return outcomes_of(reply.data, self.spec, texts)
        except OtherVersion as error:
            self._counters.fail(str(error))
            raise TransientError(f"{self.spec.name}: {error}") from None
        except BrokenContract as broken:
            self._counters.fail(str(broken))
            raise

    async def check(self) -> None:
        """Raise TransientError unless it reports that it is healthy."""
        reply = await self._caller.ask(endpoint(self.spec.name, "check"), timeout_s=self._call_s)
        try:
            status = Checked.model_validate_json(reply.data).status
        except ValidationError:
            status = "no status"
        if status != "ok":
            raise TransientError(f"{self.spec.name} reports that it cannot work now.")
