"""The state of each extractor, counted and announced: texts measured, the last error."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from services.extractor.domain import Extractor
from services.extractor.domain.extractor import NOT_FINITE, WRONG_FEATURES
from shared.contracts import ExtractorStatus
from shared.runtime.blocking import in_thread
from shared.store.extractors import Extractors

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
    """Announce the extractors of this process, for ever: a job of the service."""
    while True:
        statuses = [
            builtin_status(extractor, counters[name], every_s, now())
            for name, extractor in extractors.items()
        ]
        # In one transaction: whoever waits for one to run must not find half of them.
        await in_thread(announcements.announce, *statuses)
        await asyncio.sleep(every_s)


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
