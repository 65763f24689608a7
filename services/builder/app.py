"""The builder's composition root: who reads, who answers, who ranks."""

import time
from datetime import UTC, datetime
from pathlib import Path

from services.builder.domain.continuations import RuleVerbs
from services.builder.domain.plan import Plan
from services.builder.domain.ranking import LexicalRanking
from services.builder.handlers.asking import Asker, Nobody, Scripted
from services.builder.handlers.building import Build
from services.builder.handlers.reading import ReadSources, Web
from services.builder.handlers.web.addresses import Allowed, public
from services.builder.handlers.web.cache import PageCache
from services.builder.handlers.web.fetching import Fetch, Manners
from services.builder.handlers.web.wikipedia import Wikipedia
from services.builder.settings import BuilderSettings


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build_of(
    plan: Plan, home: Path, settings: BuilderSettings, asker: Asker | None = None
) -> Build:
    """Give the build of a plan whose files lie in `home`.

    Without an asker the plan's script answers, or nobody.
    """
    if asker is None:
        script = plan.model.script if plan.model else None
        asker = Scripted(home / script) if script else Nobody()
    ranking = LexicalRanking()
    web = web_of(settings)
    return Build(
        plan,
        home,
        sources=ReadSources(web, Wikipedia(web.answer, ranking), asker, plan.domain),
        asker=asker,
        ranking=ranking,
        verbs=RuleVerbs(),
    )


def web_of(settings: BuilderSettings, allowed: Allowed = public) -> Web:
    """Give the web as these settings meet it.

    `allowed` is for tests alone, whose servers are on this machine: no setting can widen it.
    """
    manners = Manners(
        user_agent=settings.builder_user_agent,
        pause_s=settings.builder_pause_s,
        timeout_s=settings.builder_timeout_s,
        largest_bytes=settings.builder_largest_bytes,
        tries=settings.builder_tries,
    )
    cache = PageCache(settings.cache, settings.builder_cache_days, now=now)
    return Web(Fetch(manners, clock=time.monotonic, allowed=allowed), cache)
