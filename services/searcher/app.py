"""The searcher: its job and its store."""

import sys
from collections.abc import Callable
from datetime import datetime

from biaswatch.services.searcher.handlers.rounds import SearchRounds
from biaswatch.services.searcher.settings import SearcherSettings
from biaswatch.shared.clock import now
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store


def build(settings: SearcherSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the searcher on the store its settings name; the clock dates its records."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    rounds = SearchRounds(store, now=clock)

    return Service(
        "searcher",
        settings,
        jobs=[Job(rounds.run_once, "start rounds of searches", every_s=settings.searcher_look_s)],
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(SearcherSettings, build))
