"""Channels and what became of alarms on their way to them, in words."""

from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, DeliveryState
from biaswatch.shared.requests.platform import ChannelView


def delivered_in_words(delivery: AlarmDelivery) -> str:
    """Return what became of an alarm on its way to a channel."""
    at = f"{delivery.next_at:%Y-%m-%d %H:%M:%S} UTC"
    why = f": {delivery.why}" if delivery.why else ""
    if delivery.state is not DeliveryState.WAITING:
        return f"{delivery.channel}: {delivery.state} at {at}{why}"
    if not delivery.attempts:
        return f"{delivery.channel}: waiting to be sent"
    times = "once" if delivery.attempts == 1 else f"{delivery.attempts} times"
    return f"{delivery.channel}: tried {times}, again at {at}{why}"


def channel_in_words(channel: ChannelView) -> str:
    """Return a channel in one line: its kind, what became of alarms, what is wrong."""
    status = channel.status
    if status is not None:
        kind = status.kind
    else:
        kind = "of a monitor's file" if "/" in channel.name else "declared no longer"
    counts = ", ".join(f"{n} {state}" for state, n in sorted(channel.alarms.items()))
    parts = [f"{channel.name}  {kind}  {counts or 'no alarm yet'}"]
    if status is not None and status.trouble:
        parts.append(f"It cannot be used: {status.trouble}")
    if channel.last_failure:
        parts.append(f"Last failure: {channel.last_failure}")
    return "  ".join(parts)
