"""The extractor's composition root."""

import sys
from datetime import UTC, datetime

from services.extractor.handlers import DropIns, Measure, announce, load
from services.extractor.handlers.tally import Tally
from services.extractor.settings import ExtractorSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Response
from shared.models.device import Models
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: ExtractorSettings) -> Service:
    """Return the extractor service with the extractors its settings name."""
    names = [name.strip() for name in settings.extractor_names.split(",")]
    models = Models(settings.extractor_device, settings.extractor_download)
    extractors = load(names, settings.extractor_folder, models=models)
    if settings.extractor_models:
        from services.extractor.handlers.configured import configured

        extractors |= configured(settings.extractor_models, models)
    tallies = {name: Tally() for name in extractors}
    store = Store.open(settings.store)

    async def say_so(_: Publisher) -> None:
        await announce(
            extractors,
            store.extractors,
            tallies,
            now=now,
            every_s=settings.extractor_announce_s,
        )

    measure = Measure(extractors, store.baselines, now=now, tallies=tallies)
    stage = Stage("extractor", Response, measure, slots=1, batch=settings.extractor_batch)
    drop_ins = DropIns(
        store,
        set(extractors),
        now=now,
        look_every_s=settings.extractor_discover_s,
        tell_every_s=settings.extractor_announce_s,
        call_s=settings.extractor_call_s,
        batch=settings.extractor_batch,
    )
    return Service(
        "extractor",
        settings,
        stages=[stage],
        jobs=[say_so],
        supervisors=[drop_ins.oversee],
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(ExtractorSettings, build))
