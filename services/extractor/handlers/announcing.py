"""Says again and again which extractors are running here, and how they do."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from services.extractor.domain import Extractor
from services.extractor.handlers.tally import Tally
from shared.runtime.blocking import in_thread
from shared.store.extractors import Extractors, ExtractorStatus


async def announce(
    extractors: Mapping[str, Extractor],
    instruments: Extractors,
    tallies: Mapping[str, Tally],
    *,
    now: Callable[[], datetime],
    every_s: float,
) -> None:
    """Be the service's job."""
    while True:
        told = [
            instrument_of(extractor, tallies[name], every_s, now())
            for name, extractor in extractors.items()
        ]
        # In one transaction: whoever waits for one to run must not find half of them.
        await in_thread(instruments.announce, *told)
        await asyncio.sleep(every_s)


def instrument_of(
    extractor: Extractor, tally: Tally, over_s: float, at: datetime
) -> ExtractorStatus:
    """Return what is told of an extractor of this process."""
    return ExtractorStatus(
        name=extractor.name,
        version=extractor.version,
        features=tuple(extractor.features),
        seen_at=at,
        instrument=extractor.instrument,
        rate_per_s=tally.rate_per_s(over_s),
        last_error=tally.last_error,
    )
