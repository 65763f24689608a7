"""When what is still missing will be there, by how fast it came since the look before."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

SOON_S = 0.2
LONGEST_S = 60.0
MOST_KNOWN = 64
"""How many looks are remembered, the latest ones; the next look at others is a first one."""


class ArrivalForecast:
    """Tells when to look again, so that what is there is neither asked for often nor left waiting.

    A run of 200,000 answers closes while the recorder is still writing it for a minute. Looks with
    doubled waits would find it up to another minute too late.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._looks: OrderedDict[str, tuple[datetime, int]] = OrderedDict()

    def wait_s(self, key: str, missing: int) -> float:
        """Return when to look again, in seconds, where so much is missing now.

        It is short at the first look, and where nothing came since the one before: then the waits
        of redelivery double by themselves.
        """
        now = self._now()
        at, before = self._looks.pop(key, (now, missing))
        self._looks[key] = (now, missing)
        if len(self._looks) > MOST_KNOWN:
            self._looks.popitem(last=False)
        passed_s = (now - at).total_seconds()
        if missing >= before or passed_s <= 0:
            return SOON_S
        return min(max(missing * passed_s / (before - missing), SOON_S), LONGEST_S)
