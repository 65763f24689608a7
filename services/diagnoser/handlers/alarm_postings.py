"""Which alarms are still to be posted, so that one that the bus has lost is published again."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime

from shared.contracts import Alarm, Record
from shared.errors import PoisonError
from shared.runtime.blocking import in_thread
from shared.runtime.follow_up import FollowUp
from shared.store import Closing, Store

STAGE = "alarm-postings"


class AlarmPostings:
    """Keeps, for each alarm with a webhook, whether it was posted; it blocks.

    An alarm is a gather that waits for nothing: it closes at once, and counts as recorded when it
    has been posted or cannot be.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._records = store.records
        self._gathers = store.gathers(STAGE)
        self._now = now
        self.follow_up = FollowUp(self._gathers, self._absent, now=now, stage="diagnoser")

    def expect(self, alarms: Iterable[Alarm]) -> None:
        """Note alarms that are about to be published."""
        for alarm in alarms:
            now = self._now()
            if alarm.webhook is not None and self._gathers.expect(
                alarm.id, [], deadline=now, now=now
            ):
                self._gathers.emitted(alarm.id, now)

    def posted(self, alarm: Alarm) -> None:
        """Note that an alarm needs no further posting."""
        self._gathers.recorded(alarm.id, 0, self._now())

    def _absent(self, closing: Closing) -> Sequence[Record]:
        return list(self._records.get(Alarm, [closing.key]))


class PostOnce:
    """The handler of alarms: posts one, and notes that it was posted or refused for good."""

    def __init__(
        self, post: Callable[[Alarm], Awaitable[Sequence[Record]]], postings: AlarmPostings
    ) -> None:
        self._post = post
        self._postings = postings

    async def __call__(self, alarm: Alarm) -> Sequence[Record]:
        """Post an alarm; see `PostAlarm`."""
        try:
            return await self._settled(alarm)
        except PoisonError:
            await in_thread(self._postings.posted, alarm)
            raise

    async def _settled(self, alarm: Alarm) -> Sequence[Record]:
        outputs = await self._post(alarm)
        await in_thread(self._postings.posted, alarm)
        return outputs
