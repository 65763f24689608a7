"""Production traffic: what is watched of it, and the windows of time it is cut into."""

from datetime import UTC, datetime, timedelta
from math import floor
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveInt, model_validator

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.contracts.record import TEXT, Part, Purpose, Record
from biaswatch.shared.contracts.response import CallSpan

TRAFFIC = "traffic"
"""The provider of targets of traffic: users ask, and the answers are sent in."""
MENTIONED = "mentioned_"
"""The prefix of the dimensions of detected groups, which tells them from known ones."""

LONGEST_S = 3650 * 24 * 3600
"""Ten years: who waits longer has made a slip, and dates do not go on for ever."""
POSITIONS = 2**32
"""In a window: as many as an id has for positions."""
NEIGHBOURS_WITHIN_S = 3600
"""An hour: what a daily cycle moves in less is small."""


Words = tuple[Name, ...]


class Traffic(Part):
    """How production traffic is watched."""

    window_s: PositiveInt = Field(le=LONGEST_S)
    """How long a window is; windows begin at whole multiples of it since 1970, in UTC."""
    mentions: dict[Name, dict[Name, Words]] = {}
    """Words by dimension and group. A user's message with words of one group alone has that group
    in the dimension `mentioned_<dimension>`; no word, or words of two groups, and it has none."""
    strata: tuple[Name, ...] = ()
    """Facts of an answer that users who are compared must share: topic, language, product."""
    cluster: Name | None = None
    """A fact above users, such as their company or account: users are compared within it, and each
    of its values is one factor of the evidence, once. Null: users are independent."""
    neighbours_within_s: PositiveInt | None = Field(default=None, le=LONGEST_S)
    """How far apart the first answers of users who are compared may be; null: an hour, and at most
    a window."""

    @property
    def matched_within(self) -> tuple[str, ...]:
        """The facts that users who are compared share: strata, and the cluster at the end."""
        return self.strata if self.cluster is None else (*self.strata, self.cluster)

    @property
    def max_distance_s(self) -> int:
        """How far apart the first answers of users who are compared may be."""
        return self.neighbours_within_s or min(NEIGHBOURS_WITHIN_S, self.window_s)

    @property
    def undeclared(self) -> set[str]:
        """Return the later fields that are not given; monitors without them keep their id."""
        return {"strata", "cluster", "neighbours_within_s"} - self.model_dump(
            exclude_defaults=True
        ).keys()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.strata)) < len(self.strata):
            raise ValueError("a stratum is declared twice")
        if self.cluster in self.strata:
            raise ValueError("the cluster is declared as a stratum, too; users are compared within")
        if (self.neighbours_within_s or 0) > self.window_s:
            raise ValueError("neighbours_within is at most the length of the window")
        return self


class Window(Part):
    """An interval of time; its answers are a round of a monitor of traffic."""

    begins: AwareDatetime
    """Its first moment."""
    ends: AwareDatetime
    """The first moment after it."""

    def position_of(self, moment: datetime) -> int:
        """Return when in the window a moment lies, in 2^32 parts.

        A moment that `window_at` rounded into the window by under a microsecond counts as its end.
        """
        one = timedelta(microseconds=1)
        part = (moment - self.begins) // one * POSITIONS // ((self.ends - self.begins) // one)
        return min(max(part, 0), POSITIONS - 1)

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
    at: AwareDatetime
    """When it was taken in; this moment, and no later one, tells whether it is late."""
    sending: NonNegativeInt | None = None
    """Which sending of the answer this is: a redelivery by the bus has the same number, an answer
    that its owner sends again another one. Without it, `at` tells them apart."""
    history: bool = False
    """True if it was recorded before any monitor watched, and is read as if sent at `said_at`:
    by the histories of monitors alone."""
    source: Token
    """Which live system: `support` where monitors have the target `traffic:support`."""
    key: Name
    """The caller's own name of this exchange; what has the same one in a window is the same."""
    said_at: AwareDatetime
    """When the answer was given; tells its window."""
    asked: Annotated[tuple[Message, ...], TEXT] = ()
    """The user's messages, where they may be known."""
    text: Annotated[str | None, TEXT] = None
    """The answer."""
    reason: Token | None = None
    """Why the answer is missing: `content_filter`, `timeout`, ..."""
    groups: dict[Name, Name] = {}
    """Whom it is about or for, by dimension, as far as the caller knows."""
    facts: dict[Name, Name] = {}
    """Other known facts: topic, language, product. Monitors may compare within them."""
    unit_id: Name | None = None
    """The user or the conversation; without it, the exchange is described, but is not evidence."""
    model: str | None = None
    """The model."""
    fingerprint: str | None = None
    """Which version of it."""
    finish_reason: str | None = None
    """Why the answer ended."""
    redacted: dict[Token, PositiveInt] = {}
    """Numbers of replacements in its texts, by the replacement."""
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
        """The user or conversation; the exchange itself where none is named."""
        return self.unit_id or self.key
