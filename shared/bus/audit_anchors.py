"""The anchors of the audit trail as the bus keeps them, which nobody can remove."""

from collections.abc import AsyncIterator

from biaswatch.shared.bus.dead_letters import MessageStore
from biaswatch.shared.contracts import AuditAnchor, route_of
from biaswatch.shared.errors import PoisonError


async def audit_anchors(messages: MessageStore) -> AsyncIterator[AuditAnchor]:
    """Return every anchor, the oldest first; what is none is passed over."""
    route, sequence = route_of(AuditAnchor), 1
    while message := await messages.next_message(route.stream, route.subjects, sequence):
        sequence = message.sequence + 1
        try:
            yield AuditAnchor.decode(message.data)
        except PoisonError:
            continue
