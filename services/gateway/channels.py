"""Notification channels: list, test and retry."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.contracts.alarm import AlarmDelivery, trial_of
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.platform import ChannelView, RetriedChannel
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store

ANNOUNCED_WITHIN = timedelta(minutes=10)
"""A channel that no diagnoser has announced for so long is gone."""
COUNTED = timedelta(days=7)


class ChannelQueries:
    """Reads channels for people; it blocks, so call it in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def channels(self) -> list[ChannelView]:
        """Return every channel that there is, or to which alarms were sent within seven days."""
        now = self._now()
        known = {each.name: each for each in self._store.channels.known(now - ANNOUNCED_WITHIN)}
        counts = self._store.alarm_deliveries.counts(now - COUNTED)
        names = sorted(known.keys() | {channel for channel, _ in counts})
        return [
            ChannelView(
                name=name,
                status=known.get(name),
                alarms={state: n for (channel, state), n in counts.items() if channel == name},
                last_failure=self._store.alarm_deliveries.latest_trouble(name),
            )
            for name in names
        ]

    def delivery(self, alarm_id: str) -> list[AlarmDelivery]:
        """Return what became of an alarm, or of the trial of a channel, by channel."""
        return self._store.alarm_deliveries.of_alarms([alarm_id])

    def check_known(self, name: str) -> None:
        """Raise NotFoundError where no diagnoser has the channel."""
        known = [each.name for each in self.channels() if each.status is not None]
        if name not in known:
            raise NotFoundError(
                f"There is no channel of this name; the diagnoser has {', '.join(known) or 'none'}."
                " BIASWATCH_DIAGNOSER_CHANNELS_FILE names the file that declares them."
            )


@dataclass(frozen=True)
class ChannelCommands:
    """Writes to the store what the diagnoser then sends; it blocks, so call it in a thread."""

    store: Store
    queries: ChannelQueries
    now: Callable[[], datetime]

    def try_channel(self, name: str) -> AlarmDelivery:
        """Have the diagnoser send a trial, once; its deliveries tell what became of it."""
        trial = trial_of(name, self.now(), self.store.tenant)
        self.store.alarm_deliveries.expect([trial])
        return trial

    def retry(self, name: str) -> RetriedChannel:
        """Send again what a channel refused or did not take, and at once what waits for it."""
        return RetriedChannel(alarms=self.store.alarm_deliveries.retry(name, self.now()))


def channel_routes(
    commands: ChannelCommands, queries: ChannelQueries, tokens: Tokens, audit: CallerAudit
) -> APIRouter:
    """Return the routes of channels."""
    router = APIRouter(prefix="/v1")
    read, run = [Depends(tokens.may_read)], [Depends(tokens.may_run)]
    router.add_api_route("/channels", queries.channels, dependencies=read)
    router.add_api_route("/alarms/{alarm_id}/deliveries", queries.delivery, dependencies=read)

    @router.post("/channels/{name:path}/test", status_code=202, dependencies=run)
    async def try_channel(name: str) -> AlarmDelivery:
        """Send a message to a channel that says it is a trial."""
        await in_thread(queries.check_known, name)
        async with audit.act(AuditAction.CHANNEL_TEST, name):
            return await in_thread(commands.try_channel, name)

    @router.post("/channels/{name:path}/retry", status_code=202, dependencies=run)
    async def retry_channel(name: str) -> RetriedChannel:
        """Send a channel again what it has refused, or not taken in time."""
        async with audit.act(AuditAction.CHANNEL_RETRY, name):
            return await in_thread(commands.retry, name)

    return router
