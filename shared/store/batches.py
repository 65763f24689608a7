"""Calls that are answered in batches, and the batches: any process resumes from them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, select, update

from biaswatch.shared.contracts import Probe, Target
from biaswatch.shared.store.database import MAX_KEYS, Database, key_chunks
from biaswatch.shared.store.run_tables import BATCHED_CALLS, BATCHES, CALLS
from biaswatch.shared.store.statements import is_in

LINES = BATCHED_CALLS.c


@dataclass(frozen=True)
class BatchedCall:
    """One call in a batch, or waiting for one."""

    id: str
    probe: Probe
    step: str
    body: str
    """The body of the request, as JSON."""
    tries: int = 0
    """Number of earlier batches that ended without asking it."""
    outcome: Mapping[str, Any] | None = None
    """The answer or the failure; None while it is awaited."""


@dataclass(frozen=True)
class WaitingCalls:
    """The calls of one run to one target that wait for a batch."""

    run_id: str
    lane: str
    number: int
    latest: datetime
    """When the last of them was added."""


@dataclass(frozen=True)
class CallBatch:
    """One batch."""

    id: str
    run_id: str
    lane: str
    target: Target
    requests: int
    attempt: int
    """Number of the attempt to submit it, from 1."""
    at: datetime
    """Start of the attempt."""
    file_id: str | None = None
    """The provider's id of the uploaded requests."""
    provider_id: str | None = None
    """The provider's id of the batch; None while it is unknown whether there is one."""
    done: int = 0
    expires_at: datetime | None = None
    ended: bool = False


@dataclass(eq=False)
class Batches:
    """Batched calls by id, and batches; a call is in one batch at most."""

    db: Database

    def add(self, calls: Sequence[BatchedCall], at: datetime) -> None:
        """Add calls; one that is there keeps its batch, and gets the later probe."""
        rows = {call.id: _row(call, at) for call in calls}
        self.db.upsert(
            BATCHED_CALLS,
            [rows[id_] for id_ in sorted(rows)],
            lambda row: {"probe": row.probe, "at": row.at},
            where=LINES.outcome.is_(None),
        )

    def outcomes(self, ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return the outcomes of calls, as far as they are known."""
        query = select(LINES.id, LINES.outcome).where(LINES.outcome.is_not(None))
        return {row.id: json.loads(row.outcome) for row in self.db.rows_in(query, LINES.id, ids)}

    def waiting(self) -> list[WaitingCalls]:
        """Return the calls that wait for a batch, by run and target."""
        latest = func.max(LINES.at)
        query = (
            select(LINES.run_id, LINES.lane, func.count().label("number"), latest.label("latest"))
            .where(LINES.batch_id.is_(None), LINES.outcome.is_(None))
            .group_by(LINES.run_id, LINES.lane)
        )
        return [WaitingCalls(**row._asdict()) for row in self.db.rows(query)]

    def latest(self, run_id: str, lane: str) -> Probe | None:
        """Return the probe that was added last among those without an outcome."""
        query = select(LINES.probe).where(
            LINES.run_id == run_id, LINES.lane == lane, LINES.outcome.is_(None)
        )
        row = self.db.scalar(query.order_by(LINES.at.desc()).limit(1))
        return None if row is None else Probe.decode(row.encode())

    def next_calls(self, waiting: WaitingCalls, most: int, most_bytes: int) -> list[BatchedCall]:
        """Return the waiting calls that fit into one batch, at least one of them."""
        query = (
            select(BATCHED_CALLS)
            .where(
                LINES.run_id == waiting.run_id, LINES.lane == waiting.lane,
                LINES.batch_id.is_(None), LINES.outcome.is_(None),
            )
            .order_by(LINES.id)
            .limit(most)
        )  # fmt: skip
        calls: list[BatchedCall] = []
        size = 0
        with self.db.streaming() as connection:
            for row in connection.execute(query):
                size += len(row.body.encode())
                if calls and size > most_bytes:
                    break
                calls.append(_call(row))
        return calls

    def begin(self, batch: CallBatch, ids: Iterable[str]) -> list[str]:
        """Write the intention to send a batch; return the calls that no other batch has."""
        row = {**vars(batch), "target": batch.target.model_dump_json()}
        free = and_(LINES.batch_id.is_(None), LINES.outcome.is_(None))
        with self.db.writing() as connection:
            taken: list[str] = []
            for part in key_chunks(ids):
                statement = update(BATCHED_CALLS).where(is_in(LINES.id, part), free)
                taken += connection.scalars(statement.values(batch_id=batch.id).returning(LINES.id))
            if taken:
                connection.execute(BATCHES.insert().values({**row, "requests": len(taken)}))
        return taken

    def change(self, batch: CallBatch, **values: Any) -> bool:
        """Change a batch, unless another process has begun another attempt; tell whether it was."""
        statement = update(BATCHES).where(
            BATCHES.c.id == batch.id, BATCHES.c.attempt == batch.attempt
        )
        return bool(self.db.execute(statement.values(values)))

    def unfinished(self) -> list[CallBatch]:
        """Return the batches that have not ended, oldest first."""
        query = select(BATCHES).where(BATCHES.c.ended.is_(False))
        return [_batch(row) for row in self.db.rows(query.order_by(BATCHES.c.at, BATCHES.c.id))]

    def of_runs(self, run_ids: Collection[str]) -> list[CallBatch]:
        """Return the unfinished batches of runs that a provider has."""
        query = select(BATCHES).where(BATCHES.c.ended.is_(False))
        return [_batch(row) for row in self.db.rows_in(query, BATCHES.c.run_id, run_ids)]

    def provider_ids(self) -> set[str]:
        """Return the providers' ids of all batches."""
        column = BATCHES.c.provider_id
        return set(self.db.scalars(select(column).where(column.is_not(None))))

    def call_ids(self, batch_id: str) -> set[str]:
        """Return the ids of the calls of a batch."""
        return set(self.db.scalars(select(LINES.id).where(LINES.batch_id == batch_id)))

    def paid_calls(self, run_id: str) -> int:
        """Return the number of kept calls of a run, also of those without a known cost."""
        return int(
            self.db.scalar(select(func.count()).select_from(CALLS).where(CALLS.c.run_id == run_id))
        )

    def lines(self, batch_id: str, most: int = MAX_KEYS) -> list[BatchedCall]:
        """Return calls of a batch without an outcome."""
        query = select(BATCHED_CALLS).where(LINES.batch_id == batch_id, LINES.outcome.is_(None))
        return [_call(row) for row in self.db.rows(query.order_by(LINES.id).limit(most))]

    def lines_of(self, batch_id: str, ids: Iterable[str]) -> dict[str, BatchedCall]:
        """Return these calls of a batch, without those that have an outcome."""
        query = select(BATCHED_CALLS).where(LINES.batch_id == batch_id, LINES.outcome.is_(None))
        return {row.id: _call(row) for row in self.db.rows_in(query, LINES.id, ids)}

    def settle(self, batch_id: str, outcomes: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the outcomes of calls of a batch."""
        with self.db.writing() as connection:
            for id_ in sorted(outcomes):
                connection.execute(
                    update(BATCHED_CALLS)
                    .where(LINES.id == id_, LINES.batch_id == batch_id, LINES.outcome.is_(None))
                    .values(outcome=json.dumps(dict(outcomes[id_])))
                )

    def wait_again(self, batch_id: str, ids: Iterable[str], *, tried: bool = True) -> None:
        """Put calls that were not asked out of their batch, for the next one."""
        with self.db.writing() as connection:
            for part in key_chunks(ids):
                connection.execute(
                    update(BATCHED_CALLS)
                    .where(is_in(LINES.id, part), LINES.batch_id == batch_id)
                    .where(LINES.outcome.is_(None))
                    .values(batch_id=None, tries=LINES.tries + int(tried))
                )

    def answered(self, most: int) -> list[BatchedCall]:
        """Return calls whose outcome was not used yet."""
        query = select(BATCHED_CALLS).where(LINES.outcome.is_not(None), LINES.probe.is_not(None))
        return [_call(row) for row in self.db.rows(query.order_by(LINES.id).limit(most))]

    def use(self, ids: Iterable[str]) -> None:
        """Note that the outcomes of calls were used."""
        with self.db.writing() as connection:
            for part in key_chunks(ids):
                used = update(BATCHED_CALLS).where(is_in(LINES.id, part))
                connection.execute(used.where(LINES.outcome.is_not(None)).values(probe=None))

    def drop(self, ids: Iterable[str]) -> None:
        """Delete calls; a resumed run adds them again."""
        with self.db.writing() as connection:
            for part in key_chunks(ids):
                connection.execute(delete(BATCHED_CALLS).where(is_in(LINES.id, part)))

    def drop_waiting(self, waiting: WaitingCalls) -> None:
        """Delete the calls of a cancelled run that wait for a batch."""
        self.db.execute(
            delete(BATCHED_CALLS).where(
                LINES.run_id == waiting.run_id, LINES.lane == waiting.lane,
                LINES.batch_id.is_(None), LINES.outcome.is_(None), LINES.at <= waiting.latest,
            )
        )  # fmt: skip

    def forget(self, before: datetime) -> int:
        """Delete used calls and ended batches from before a time."""
        return self.db.execute(
            delete(BATCHED_CALLS).where(LINES.at < before, LINES.probe.is_(None)),
            delete(BATCHES).where(BATCHES.c.at < before, BATCHES.c.ended.is_(True)),
        )


def _row(call: BatchedCall, at: datetime) -> dict[str, Any]:
    probe = call.probe
    return {
        "id": call.id,
        "tenant": probe.tenant,
        "run_id": probe.run_id,
        "unit_id": probe.unit_id,
        "lane": probe.lane,
        "at": at,
        "step": call.step,
        "probe": probe.encode().decode(),
        "body": call.body,
        "batch_id": None,
        "tries": call.tries,
        "outcome": None,
    }


def _call(row: Any) -> BatchedCall:
    outcome = None if row.outcome is None else json.loads(row.outcome)
    probe = Probe.decode(row.probe.encode())
    return BatchedCall(row.id, probe, row.step, row.body, row.tries, outcome)


def _batch(row: Any) -> CallBatch:
    return CallBatch(**{**row._asdict(), "target": Target.model_validate_json(row.target)})
