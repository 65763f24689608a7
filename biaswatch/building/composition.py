"""Creates a build: its sources, model and ranking."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from biaswatch.building.build import Build
from biaswatch.building.build_files import path_inside
from biaswatch.building.language_models import BusModel, NoModel, ScriptedModel
from biaswatch.building.model_questions import LanguageModel
from biaswatch.building.plan import Plan
from biaswatch.building.ranking import ranking_of
from biaswatch.building.settings import KEY_PREFIX, BuilderSettings
from biaswatch.building.sources import ReadSources, WebPages, Wikipedia
from biaswatch.building.verb_finders import verb_finder
from biaswatch.building.web_fetching import FetchLimits, PageFetcher
from biaswatch.building.web_pages import PageCache
from biaswatch.shared.bus.jetstream import Connection, JetStreamPublisher
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Target, derived_id
from biaswatch.shared.runtime.model_questions import ModelReplies
from biaswatch.shared.store import Store


@asynccontextmanager
async def model_over_bus(
    plan: Plan, target: Target, settings: BuilderSettings, *, nonce: str = ""
) -> AsyncIterator[LanguageModel]:
    """Connect to a model over the bus for the duration of the context.

    The generator asks the questions; the recorder stores the replies, where the build reads them.
    A plan always asks the same questions, so earlier replies are reused. Another nonce asks all
    questions again.
    """
    connection = await Connection.open(
        settings.nats_url,
        name="builder",
        seed_file=settings.nats_seed_file,
        ca_file=settings.nats_ca_file,
    )
    try:
        with Store.open(settings.store, statement_s=settings.store_statement_s) as store:
            yield BusModel(
                target,
                derived_id("build", plan.model_dump(mode="json"), nonce),
                JetStreamPublisher(connection),
                ModelReplies(store.records, KEY_PREFIX),
                now=now,
                idle_s=settings.builder_reply_timeout_s,
            )
    finally:
        if not connection.lost.is_set():
            await connection.close()


def build_of(
    plan: Plan, home: Path, settings: BuilderSettings, language_model: LanguageModel | None = None
) -> Build:
    """Return the build of a plan with its files in `home`.

    Without a language model, the plan's script answers; without a script, no question is answered.
    """
    if language_model is None:
        script = plan.model.script if plan.model else None
        language_model = ScriptedModel(path_inside(home, script)) if script else NoModel()
    ranking = ranking_of(plan.nearness, settings.builder_embedder)
    web = web_of(settings)
    return Build(
        plan,
        home,
        sources=ReadSources(web, Wikipedia(web.answer, ranking), language_model, plan.domain),
        language_model=language_model,
        ranking=ranking,
        verbs=verb_finder(plan.prompts.verbs),
    )


def web_of(
    settings: BuilderSettings, transport: httpx2.AsyncBaseTransport | None = None
) -> WebPages:
    """Return the reader of web pages, with the limits of these settings.

    `transport` is for tests alone, whose servers are on this machine: no setting can widen it.
    """
    limits = FetchLimits(
        user_agent=settings.builder_user_agent,
        pause_s=settings.builder_pause_s,
        timeout_s=settings.builder_timeout_s,
        largest_bytes=settings.builder_largest_bytes,
        tries=settings.builder_tries,
    )
    cache = PageCache(settings.cache, settings.builder_cache_days, now=now)
    return WebPages(PageFetcher(limits, clock=time.monotonic, transport=transport), cache)
