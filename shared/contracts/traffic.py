"""Production traffic: what is watched of it, and the windows of time it is cut into."""

from datetime import UTC, datetime, timedelta
from math import floor

from pydantic import AwareDatetime, Field, PositiveInt

from shared.contracts.identity import Name
from shared.contracts.record import Part

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
