"""The extractor's composition root."""

import sys

from biaswatch.services.extractor.handlers.dropin_discovery import DropIns
from biaswatch.services.extractor.handlers.loading import configured, load
from biaswatch.services.extractor.handlers.measuring import (
    ExtractorCounters,
    MeasureResponses,
    announce,
)
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Response
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store


def build(settings: ExtractorSettings) -> Service:
    """Return the extractor service with the extractors of its settings."""
    names = [name.strip() for name in settings.extractor_names.split(",")]
    models = settings.models
    extractors = load(names, settings.extractor_folder, models=models)
    if settings.extractor_models:
        extractors |= configured(settings.extractor_models, models)
    counters = {name: ExtractorCounters() for name in extractors}
    store = Store.open(settings.store, statement_s=settings.store_statement_s)

    announce_s = settings.extractor_announce_s

    async def announce_all(_: Publisher) -> None:
        await announce(extractors, store.extractors, counters, now=now, every_s=announce_s)

    measure = MeasureResponses(extractors, store.baselines, now=now, counters=counters)
    stage = Stage("extractor", Response, measure, slots=1, batch=settings.extractor_batch)
    drop_ins = DropIns(
        store,
        set(extractors),
        now=now,
        look_every_s=settings.extractor_discover_s,
        announce_every_s=announce_s,
        call_s=settings.extractor_call_s,
        batch=settings.extractor_batch,
    )
    return Service(
        "extractor",
        settings,
        stages=[stage],
        jobs=[Job(announce_all, "announce extractors", every_s=announce_s)],
        supervisors=[drop_ins.job],
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(ExtractorSettings, build))
