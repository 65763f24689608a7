"""Production traffic: exchanges as their owner sends them, and the windows they are cut into."""

from datetime import UTC, datetime, timedelta
from math import floor
from typing import Annotated

from pydantic import AwareDatetime, Field, PositiveInt

from shared.contracts.identity import Name, Token
from shared.contracts.probe import Message
from shared.contracts.record import TEXT, Part, Purpose, Record

TRAFFIC = "traffic"
"""The provider of targets that nobody asks: users do, and their answers are sent in."""
MENTIONED = "mentioned_"
"""What the dimensions of detected groups begin with, so that nobody takes them for known ones."""

LONGEST_S = 3650 * 24 * 3600
"""Ten years: who waits longer has made a slip, and dates do not go on for ever."""


Words = tuple[Name, ...]


class Traffic(Part):
    """How production traffic is watched."""

    window_s: PositiveInt = Field(le=LONGEST_S)
    """How long a window is; windows begin at whole multiples of it since 1970, in UTC."""
    mentions: dict[Name, dict[Name, Words]] = {}
    """Words by dimension and group. A user's message with words of one group alone has that group
    in the dimension `mentioned_<dimension>`; no word, or words of two groups, and it has none."""


class Window(Part):
    """A stretch of time; what was said in it is a round of a monitor of traffic."""

    begins: AwareDatetime
    """Its first moment."""
    ends: AwareDatetime
    """The first moment after it."""

    @property
    def next(self) -> "Window":
        """Return the window after this one."""
        return Window(begins=self.ends, ends=self.ends + (self.ends - self.begins))


def window_at(moment: datetime, window_s: int) -> Window:
    """Return the window a moment belongs to."""
    number = floor(moment.timestamp() / window_s)
    begins = datetime.fromtimestamp(number * window_s, UTC)
    return Window(begins=begins, ends=begins + timedelta(seconds=window_s))


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
