"""What a live system said to one of its users, as its owner sends it."""

from typing import Annotated

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.contracts.record import TEXT, Purpose, Record
from biaswatch.shared.contracts.spans import CallSpan


class Exchange(Record):
    """One question of a user and the answer to it; becomes a response for every monitor of it."""

    kind = "exchange"
    identity = ("source", "key", "said_at_ms")

    purpose: Purpose = Purpose.PRODUCTION
    """Always production."""
    at: AwareDatetime
    """When it was taken in; this moment, and no later one, tells whether it is late."""
    sending: NonNegativeInt | None = None
    """Which sending of the answer this is: a redelivery by the bus has the same number, an answer
    that its owner sends again another one. Without it, `at` tells them apart."""
    history: bool = False
    """Whether it was recorded before anybody watched, and is read as if it had come at `said_at`:
    by the histories of monitors alone."""
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
    facts: dict[Name, Name] = {}
    """What else is known of it: topic, language, product. Monitors may compare within them."""
    unit_id: Name | None = None
    """The user or the conversation; without it, the exchange is described and is no evidence."""
    model: str | None = None
    """What answered."""
    fingerprint: str | None = None
    """Which version of it."""
    finish_reason: str | None = None
    """Why the answer ended."""
    redacted: dict[Token, PositiveInt] = {}
    """How often something was replaced in its texts, by what stands there instead."""
    span: CallSpan | None = None
    """The span of the call in its owner's traces, where there is one."""

    @property
    def sending_name(self) -> str:
        """Return what distinguishes this sending from others of the same answer."""
        return self.at.isoformat() if self.sending is None else str(self.sending)

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
