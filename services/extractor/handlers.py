"""Measures responses, and says which extractors are there to measure."""

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from services.extractor.domain import Extractor, Reading, measured
from shared.contracts import Ending, Features, Response
from shared.errors import ConfigurationError
from shared.runtime.threads import in_thread
from shared.store.instruments import Instruments

ROOM = "services.extractor.extractors"


def load(names: Sequence[str]) -> dict[str, Extractor]:
    """Load the extractors of these names, and nothing of the others.

    Raises
    ------
    ConfigurationError
        There is no such extractor, or a library it needs is not installed.
    """
    return {name: _load(name) for name in names}


def _load(name: str) -> Extractor:
    try:
        extractor: Extractor = importlib.import_module(f"{ROOM}.{name}").build()
    except ModuleNotFoundError as error:
        if error.name == f"{ROOM}.{name}":
            raise ConfigurationError(
                f"There is no extractor {name!r}. Put it into services/extractor/extractors/"
                f"{name}.py, or correct BIASWATCH_EXTRACTOR_NAMES."
            ) from None
        raise ConfigurationError(
            f"The extractor {name} needs {error.name}, which is not installed. Install the"
            " `extractor` extra (or `models`, for models)."
        ) from None
    return extractor


class Measure:
    """The handler of responses; it computes, so it runs in a thread."""

    def __init__(self, extractors: Mapping[str, Extractor], *, now: Callable[[], datetime]) -> None:
        self._extractors = extractors
        self._now = now

    def __call__(self, batch: Sequence[Response]) -> Sequence[Features]:
        """Give the features of each response by each extractor its probe asks for."""
        return [
            self._features(self._extractors[name], response)
            for response in batch
            for name in response.probe.measure
            if name in self._extractors
        ]

    def _features(self, extractor: Extractor, response: Response) -> Features:
        probe = response.probe
        answered = response.ending is Ending.ANSWERED and response.text is not None
        answer = Reading(response.text or "", probe.expected) if answered else None
        values, unscorable = measured(extractor, answer, f"no answer: {response.reason}")
        baseline, _ = measured(extractor, Reading(probe.baseline) if probe.baseline else None, None)
        return Features(
            tenant=response.tenant,
            purpose=response.purpose,
            at=self._now(),
            run_id=probe.run_id,
            probe_id=probe.id,
            response_id=response.id,
            unit_id=probe.unit_id,
            extractor=extractor.name,
            extractor_version=extractor.version,
            values=dict(values),
            baseline=dict(baseline),
            unscorable=unscorable,
        )


async def announce(
    extractors: Sequence[Extractor],
    instruments: Instruments,
    *,
    now: Callable[[], datetime],
    every_s: float,
) -> None:
    """Be the service's job: say again and again which extractors are running."""
    while True:
        for each in extractors:
            await in_thread(instruments.announce, each.name, each.version, each.features, now())
        await asyncio.sleep(every_s)
