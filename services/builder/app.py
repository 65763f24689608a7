"""The builder keeps the replies of models to the questions of builds."""

import sys
from collections.abc import Sequence

from biaswatch.services.builder.settings import KEY_PREFIX, BuilderSettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Record, Response
from biaswatch.shared.runtime.model_questions import ModelReplies
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store


def build(settings: BuilderSettings) -> Service:
    """Return the service that keeps replies to the questions of every build."""
    store = Store.open(settings.store)
    return reply_keeper(settings, kept_replies(store), store)


def kept_replies(store: Store) -> ModelReplies:
    """Return the replies that the store keeps for builds."""
    return ModelReplies(store.records, KEY_PREFIX)


def reply_keeper(settings: BuilderSettings, replies: ModelReplies, store: Store) -> Service:
    """Return a service that keeps `replies`; it closes the store when it ends."""

    async def keep(response: Response) -> Sequence[Record]:
        await replies.keep([response])
        return ()

    stage = Stage("builder", Response, keep, slots=settings.builder_slots)
    return Service("builder", settings, stages=[stage], close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(BuilderSettings, build))
