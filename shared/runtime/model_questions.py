"""Questions of a service to models, published as probes and answered by responses.

The id of a reply is derived from its question, so that no question is sent twice. All replicas
share one durable; the one that receives a reply stores it for the one that waits for it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from pydantic import JsonValue

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    Cancellation,
    Probe,
    Purpose,
    Record,
    Response,
    response_id_of,
)
from biaswatch.shared.runtime.gather import Gather, OnClose
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.outbox import Backlog, Outbox, closing_backlogs
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Closing, Records, Store

MAX_REPEATED_QUESTIONS = 2000
"""Questions of a run that are published again at once."""
LOOK_EVERY_S = 0.5
"""Interval of reading the store, as another replica may have received the reply."""


class ModelReplies:
    """The replies to the questions of one service."""

    def __init__(self, records: Records, key_prefix: str) -> None:
        self._records = records
        self._key_prefix = key_prefix
        self._kept = asyncio.Event()

    async def keep(self, batch: Sequence[Response]) -> list[Response]:
        """Store the replies to questions of this service, and return them."""
        own = [
            response
            for response in batch
            if response.probe.purpose is Purpose.JUDGE
            and response.probe.key.startswith(self._key_prefix)
        ]
        if own:
            await in_thread(self._records.write, own)
            self._kept.set()
        return own

    def find(self, ids: Collection[str]) -> dict[str, Response]:
        """Return the stored replies with these ids; blocks."""
        return {response.id: response for response in self._records.get(Response, ids)}

    async def wait(self, ids: Collection[str], *, idle_s: float) -> dict[str, Response]:
        """Return the replies once all have arrived, or after `idle_s` without a new one."""
        replies: dict[str, Response] = {}
        loop = asyncio.get_running_loop()
        last = loop.time()
        while missing := sorted(set(ids) - replies.keys()):
            self._kept.clear()
            if new := await in_thread(self.find, missing):
                last = loop.time()
                replies |= new
            elif loop.time() - last >= idle_s:
                break
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY_S):
                        await self._kept.wait()
        return replies


@dataclass(frozen=True)
class QuestionSet:
    """Questions whose replies are awaited together."""

    key: str
    """The key; those of one run begin with `<run>/`."""
    probes: Sequence[Probe]
    context: Mapping[str, JsonValue] = field(default_factory=dict)
    """All that is needed to interpret the replies."""


class ModelQuestions:
    """Sets of questions; each closes once, by its replies, its deadline or a cancellation."""

    def __init__(
        self,
        store: Store,
        stage: str,
        key_prefix: str,
        on_close: OnClose,
        *,
        now: Callable[[], datetime],
        deadline_s: float,
    ) -> None:
        self.replies = ModelReplies(store.records, key_prefix)
        self.gather = Gather(store.gathers(stage), on_close, now=now)
        self._records = store.records
        self._paused_targets = store.paused_targets
        self._gathers = store.gathers(stage)
        self._stage = stage
        self._now = now
        self._deadline_s = deadline_s

    async def expect(self, sets: Sequence[QuestionSet], *, reopen: bool = False) -> list[Probe]:
        """Expect the replies to all questions, and return the questions without a reply.

        Call it before publishing anything. With `reopen`, sets that were given up are expected
        again.
        """
        unanswered = await in_thread(self.expect_now, sets, reopen)
        self.gather.wake()  # sets whose replies had all arrived are closed
        return unanswered

    def expect_now(self, sets: Sequence[QuestionSet], reopen: bool = False) -> list[Probe]:
        """Do the same as `expect`; blocks."""
        now = self._now()
        deadline = now + timedelta(seconds=self._deadline_s)
        ids = {response_id_of(probe) for questions in sets for probe in questions.probes}
        missing = self._records.missing(Response, ids)
        unanswered: list[Probe] = []
        for questions in sets:
            by_id = {response_id_of(probe): probe for probe in questions.probes}
            started = self._gathers.expect(
                questions.key,
                by_id,
                deadline=deadline,
                now=now,
                context=questions.context,
                already=by_id.keys() - missing,
            )
            if reopen and not started:
                self._gathers.reopen(questions.key, deadline=deadline, now=now)
            unanswered += [probe for id_, probe in by_id.items() if id_ in missing]
        return unanswered

    async def arrive(self, replies: Sequence[Response]) -> None:
        """Record the arrival of stored replies; complete sets close."""
        if replies:
            await self.gather.arrive([reply.id for reply in replies])

    async def cancel(self, run_id: str) -> None:
        """Close the open sets of a run with the replies so far."""
        await in_thread(lambda: self.close_now(self._open_sets(run_id)))
        self.gather.wake()

    def close_now(self, keys: Iterable[str]) -> None:
        """Close these sets, if they are open, with the replies so far; blocks."""
        for key in keys:
            self._gathers.cancel(key, self._now())

    def _close_if_cancelled(self, run_id: str) -> bool:
        """Close the sets of a run whose cancellation is stored, as its message was lost."""
        cancellations = list(self._records.read(Cancellation, run_id=run_id))
        ended = [
            key
            for key in self._open_sets(run_id)
            if (opened := self._gathers.opened_at(key))
            and any(record.came_after(opened) for record in cancellations)
        ]
        for key in ended:
            self._gathers.cancel(key, self._now())
        return bool(ended)

    def _open_sets(self, run_id: str) -> list[str]:
        return self._gathers.open_keys(f"{run_id}/")

    def outbox_jobs(
        self, probes_of_run: Callable[[str], Iterable[Probe]], on_close: OnClose, every_s: float
    ) -> list[Job[Publisher]]:
        """Return the jobs that publish unanswered questions and lost results again."""

        def open_backlogs() -> Iterator[Backlog]:
            for run_id, ids in self._waited_for().items():
                records = partial(self._ask_again, run_id, ids, probes_of_run)
                yield Backlog(run_id, len(ids), records)

        def not_stored(closing: Closing) -> list[Record]:
            results = [record for record in on_close(closing) if not isinstance(record, Probe)]
            return [r for r in results if self._records.missing(type(r), [r.id])]

        def closed_backlogs() -> Iterator[Backlog]:
            return closing_backlogs(
                self._gathers, lambda closing: len(not_stored(closing)), not_stored, self._now
            )

        questions = Outbox(open_backlogs, now=self._now, stage=self._stage)
        results = Outbox(closed_backlogs, now=self._now, stage=self._stage)
        return [
            questions.job("publish unanswered questions again", every_s),
            results.job("publish lost results again", every_s),
        ]

    def _ask_again(
        self, run_id: str, ids: set[str], probes_of_run: Callable[[str], Iterable[Probe]]
    ) -> list[Record]:
        """Return the questions of a run that no model has answered."""
        if self._close_if_cancelled(run_id):
            return []
        arrived = ids - self._records.missing(Response, ids)
        if arrived:  # the replies are stored; only their messages were lost
            self._gathers.arrive(arrived, self._now())
        silent = ids - arrived
        paused = {target.lane for target in self._paused_targets.read()}
        unanswered = (
            probe
            for probe in probes_of_run(run_id)
            if response_id_of(probe) in silent and probe.lane not in paused
        )
        return list(islice(unanswered, MAX_REPEATED_QUESTIONS))

    def _waited_for(self) -> dict[str, set[str]]:
        waiting: dict[str, set[str]] = {}
        for key in self._gathers.open_keys():
            waiting.setdefault(key.partition("/")[0], set()).update(self._gathers.waiting_for(key))
        return waiting
