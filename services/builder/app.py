"""The builder's composition root: who reads, who answers, who ranks."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from services.builder.domain.plan import Plan
from services.builder.domain.ranking import LexicalRanking
from services.builder.handlers.asking import LanguageModel, NoModel, ScriptedModel
from services.builder.handlers.build import Build
from services.builder.handlers.build_files import inside
from services.builder.handlers.bus_asking import BusModel, Hear
from services.builder.handlers.sources import ReadSources, WebPages
from services.builder.handlers.verb_finders import verb_finder
from services.builder.handlers.web_addresses import Allowed, public
from services.builder.handlers.web_fetching import FetchLimits, PageFetcher
from services.builder.handlers.web_pages import PageCache
from services.builder.handlers.wikipedia import Wikipedia
from services.builder.settings import BuilderSettings
from shared.bus.jetstream import Connection, JetStreamPublisher
from shared.bus.stage import Stage
from shared.contracts import Response, Target
from shared.contracts.identity import derived_id
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: BuilderSettings) -> Service:
    """Return the service that hears replies to the questions of any build."""
    store = Store.open(settings.store)
    return _hearing(settings, Hear(store.records), store)


def _hearing(settings: BuilderSettings, hear: Hear, store: Store) -> Service:
    stage = Stage("builder", Response, hear, slots=settings.builder_slots)
    return Service("builder", settings, stages=[stage], close=[store.close])


@asynccontextmanager
async def asking(
    plan: Plan, target: Target, settings: BuilderSettings, *, nonce: str = ""
) -> AsyncIterator[LanguageModel]:
    """Return who asks this model through the bus, while the context lasts.

    The same plan asks the same questions, so what was answered before is found again; with another
    nonce everything is asked afresh.
    """
    connection = await Connection.open(
        settings.nats_url,
        name="builder",
        seed_file=settings.nats_seed_file,
        ca_file=settings.nats_ca_file,
    )
    store = Store.open(settings.store)
    hear = Hear(store.records)
    service = _hearing(settings, hear, store)
    inside = asyncio.current_task()
    working = asyncio.create_task(service.run(with_health=False))
    # Nobody would hear the replies any more: the build ends with the reason.
    working.add_done_callback(lambda ended: _failure(ended) and inside and inside.cancel())
    try:
        yield BusModel(
            target,
            derived_id("build", plan.model_dump(mode="json"), nonce),
            JetStreamPublisher(connection),
            store.records,
            hear,
            now=now,
            patience_s=settings.builder_reply_timeout_s,
        )
    except asyncio.CancelledError:
        if failure := _failure(working):
            raise failure from None
        raise
    finally:
        service.stop()
        await asyncio.gather(working, return_exceptions=True)
        if not connection.lost.is_set():
            await connection.close()


def _failure(task: "asyncio.Task[None]") -> BaseException | None:
    return task.exception() if task.done() and not task.cancelled() else None


def build_of(
    plan: Plan, home: Path, settings: BuilderSettings, language_model: LanguageModel | None = None
) -> Build:
    """Return the build of a plan whose files lie in `home`.

    Without an language_model the plan's script answers, or nobody.
    """
    if language_model is None:
        script = plan.model.script if plan.model else None
        language_model = ScriptedModel(inside(home, script)) if script else NoModel()
    ranking = LexicalRanking()
    web = web_of(settings)
    return Build(
        plan,
        home,
        sources=ReadSources(web, Wikipedia(web.answer, ranking), language_model, plan.domain),
        language_model=language_model,
        ranking=ranking,
        verbs=verb_finder(plan.prompts.verbs),
    )


def web_of(settings: BuilderSettings, allowed: Allowed = public) -> WebPages:
    """Return the web as these settings meet it.

    `allowed` is for tests alone, whose servers are on this machine: no setting can widen it.
    """
    limits = FetchLimits(
        user_agent=settings.builder_user_agent,
        pause_s=settings.builder_pause_s,
        timeout_s=settings.builder_timeout_s,
        largest_bytes=settings.builder_largest_bytes,
        tries=settings.builder_tries,
    )
    cache = PageCache(settings.cache, settings.builder_cache_days, now=now)
    return WebPages(PageFetcher(limits, clock=time.monotonic, allowed=allowed), cache)


if __name__ == "__main__":
    sys.exit(serve(BuilderSettings, build))
