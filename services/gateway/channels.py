"""Notification channels: list, test and retry."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.shared.contracts import AuditAction, Right
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, trial_of
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.platform import ChannelView, RetriedChannel
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

COUNTED_PERIOD = timedelta(days=7)


@dataclass(frozen=True)
class ChannelQueries:
    """Blocking queries and commands of channels; call them in a thread."""

    store: Store
    now: Callable[[], datetime]

    def channels(self) -> list[ChannelView]:
        """Return the existing channels, and those that got alarms within seven days."""
        now = self.now()
        known = {status.name: status for status in self.store.channels.known(now)}
        counts = self.store.alarm_deliveries.counts(now - COUNTED_PERIOD)
        return [
            ChannelView(
                name=name,
                status=known.get(name),
                alarms={state: n for (channel, state), n in counts.items() if channel == name},
                last_failure=self.store.alarm_deliveries.latest_trouble(name),
            )
            for name in sorted(known.keys() | {channel for channel, _ in counts})
        ]

    def deliveries(self, alarm_id: str) -> list[AlarmDelivery]:
        """Return the deliveries of an alarm, or of a test, by channel."""
        return self.store.alarm_deliveries.of_alarms([alarm_id])

    def check_known(self, name: str) -> None:
        """Raise NotFoundError if no notifier announces the channel."""
        known = [channel.name for channel in self.channels() if channel.status is not None]
        if name not in known:
            raise NotFoundError(
                f"There is no channel of this name; the notifier has {', '.join(known) or 'none'}."
                " BIASWATCH_NOTIFIER_CHANNELS_FILE names the file that declares them."
            )

    def test(self, name: str) -> AlarmDelivery:
        """Ask the notifier to send one test message, and return its delivery."""
        trial = trial_of(name, self.now(), self.store.tenant)
        self.store.alarm_deliveries.expect([trial])
        return trial

    def retry(self, name: str) -> RetriedChannel:
        """Send refused and expired alarms of a channel again, and waiting ones at once."""
        return RetriedChannel(alarms=self.store.alarm_deliveries.retry(name, self.now()))


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of channels."""
    router = APIRouter(prefix="/v1")
    read, run = [ctx.tokens.require(Right.READ)], [ctx.tokens.require(Right.RUN)]
    queries = ChannelQueries(ctx.store, now)
    router.add_api_route("/channels", queries.channels, dependencies=read)
    router.add_api_route("/alarms/{alarm_id}/deliveries", queries.deliveries, dependencies=read)

    @router.post("/channels/{name:path}/test", status_code=202, dependencies=run)
    async def try_channel(name: str) -> AlarmDelivery:
        """Send a test message to a channel."""
        await in_thread(queries.check_known, name)
        async with ctx.audit.act(AuditAction.CHANNEL_TEST, name):
            return await in_thread(queries.test, name)

    @router.post("/channels/{name:path}/retry", status_code=202, dependencies=run)
    async def retry_channel(name: str) -> RetriedChannel:
        """Send alarms again that a channel refused or did not take in time."""
        async with ctx.audit.act(AuditAction.CHANNEL_RETRY, name):
            return await in_thread(queries.retry, name)

    return router
