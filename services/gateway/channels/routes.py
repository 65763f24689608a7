"""The routes of channels: the same verbs as the command line."""

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.auditing import CallerAudit
from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.channels.commands import ChannelCommands
from biaswatch.services.gateway.channels.queries import ChannelQueries
from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery
from biaswatch.shared.requests.channel_views import RetriedChannel
from biaswatch.shared.runtime.blocking import in_thread


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
