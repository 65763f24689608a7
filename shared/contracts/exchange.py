"""What a live system said to one of its users, as its owner sends it."""

from typing import Annotated

from pydantic import AwareDatetime

from shared.contracts.identity import Name, Token
from shared.contracts.probe import Message
from shared.contracts.record import TEXT, Purpose, Record


class Exchange(Record):
    """One question of a user and the answer to it; becomes a response for every monitor of it."""

    kind = "exchange"
    identity = ("source", "key", "said_at_ms")

    purpose: Purpose = Purpose.PRODUCTION
    """Always production."""
    source: Token
    """Which live system: `support` where monitors have the target `traffic:support`."""
    key: Name
    """The caller's own name of this exchange; what has the same one in a window is the same."""
    said_at: AwareDatetime
    """When the answer was given; tells its window."""
    asked: Annotated[tuple[Message, ...], TEXT] = ()
    """What the user said, where that may be known."""
    text: Annotated[str | None, TEXT] = None
    """The answer."""
    reason: Token | None = None
    """Why there is no answer: `content_filter`, `timeout`, ..."""
    groups: dict[Name, Name] = {}
    """Whom it is about or for, by dimension, as far as the caller knows."""
    unit_id: Name | None = None
    """The user or the conversation; without it, the exchange is described and is no evidence."""
    model: str | None = None
    """What answered."""
    fingerprint: str | None = None
    """Which version of it."""
    finish_reason: str | None = None
    """Why the answer ended."""

    @property
    def said_at_ms(self) -> int:
        """When the answer was given (Unix time in milliseconds)."""
        return int(self.said_at.timestamp() * 1000)

    @property
    def lane(self) -> str:
        """The live system's own."""
        return self.source

    @property
    def unit(self) -> str:
        """The user or conversation; the exchange itself where nobody is named."""
        return self.unit_id or self.key
