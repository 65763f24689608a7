"""Channels as the API shows them."""

from pydantic import BaseModel

from biaswatch.shared.contracts.alarm_delivery import ChannelStatus, DeliveryState


class ChannelView(BaseModel):
    """A channel, and what became of the alarms that were sent to it."""

    name: str
    """Its name; of a webhook in a monitor's file, `webhook/` and the monitor."""
    status: ChannelStatus | None
    """What the diagnoser says of it; null where no diagnoser has it now."""
    alarms: dict[DeliveryState, int]
    """The alarms of the last seven days, by how far they have come."""
    last_failure: str | None
    """Why the last of those that were not delivered has failed."""


class RetriedChannel(BaseModel):
    """How many alarms are sent again."""

    alarms: int
