"""The extractor's composition root."""

import sys
from datetime import UTC, datetime

from services.extractor.handlers.dropin_discovery import DropIns
from services.extractor.handlers.loading import configured, load
from services.extractor.handlers.measuring import ExtractorCounters, MeasureResponses, announce
from services.extractor.settings import ExtractorSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Response
from shared.models.device import ModelOptions
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: ExtractorSettings) -> Service:
    """Return the extractor service with the extractors its settings name."""
    names = [name.strip() for name in settings.extractor_names.split(",")]
    models = ModelOptions(settings.extractor_device, settings.extractor_download)
    extractors = load(names, settings.extractor_folder, models=models)
    if settings.extractor_models:
        extractors |= configured(settings.extractor_models, models)
    counters = {name: ExtractorCounters() for name in extractors}
    store = Store.open(settings.store)

    async def say_so(_: Publisher) -> None:
        await announce(
            extractors, store.extractors, counters, now=now, every_s=settings.extractor_announce_s
        )

    measure = MeasureResponses(extractors, store.baselines, now=now, counters=counters)
    stage = Stage("extractor", Response, measure, slots=1, batch=settings.extractor_batch)
    drop_ins = DropIns(
        store,
        set(extractors),
        now=now,
        look_every_s=settings.extractor_discover_s,
        announce_every_s=settings.extractor_announce_s,
        call_s=settings.extractor_call_s,
        batch=settings.extractor_batch,
    )
    return Service(
        "extractor",
        settings,
        stages=[stage],
        jobs=[say_so],
        supervisors=[drop_ins.supervise],
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(ExtractorSettings, build))
