"""Paid calls, spending of runs, and paused targets."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from biaswatch.shared.contracts import Budget, PausedTarget, Probe
from biaswatch.shared.store.database import Database, key_chunks, upsert
from biaswatch.shared.store.run_tables import BEGUN_CALLS, CALLS, PAUSED_TARGETS, SPENDING
from biaswatch.shared.store.statements import insert_records, is_in
from biaswatch.shared.store.texts import purges_of

NO_BUDGET = Budget()
SUMS = ("tokens", "cost", "unknown_tokens", "unknown_cost")


@dataclass(frozen=True)
class PaidCall:
    """One answered call and its cost."""

    id: str
    probe: Probe
    tokens: int | None
    """Input and output tokens; None if the provider did not report them."""
    cost: float | None
    """None if the price or the tokens are unknown."""
    answer: Mapping[str, Any] | None
    """Answer to return instead of another call; None if it must not be reused."""
    at: datetime


@dataclass(frozen=True)
class RunSpending:
    """Spending and budget of a run."""

    tokens: int = 0
    cost: float = 0.0
    unknown_tokens: int = 0
    """Number of calls with unknown tokens."""
    unknown_cost: int = 0
    """Number of calls with unknown cost."""
    budget: Budget = NO_BUDGET

    def plus(self, more: "RunSpending") -> "RunSpending":
        """Return the sum of both, with the budget of this one."""
        return RunSpending(
            self.tokens + more.tokens,
            self.cost + more.cost,
            self.unknown_tokens + more.unknown_tokens,
            self.unknown_cost + more.unknown_cost,
            self.budget,
        )


@dataclass(eq=False)
class Calls:
    """Answers by call and sums by run; a call counts once, however often it is kept."""

    db: Database

    def begin(self, runs: Mapping[str, str], at: datetime) -> dict[str, int]:
        """Record the start of calls; return the total starts of each.

        Parameters
        ----------
        runs
            The run of each call, by call id.
        at
            The current time.
        """
        rows = [{"id": id_, "run_id": runs[id_], "at": at, "times": 1} for id_ in sorted(runs)]
        with self.db.writing() as connection:
            statement = upsert(
                connection, BEGUN_CALLS, lambda _: {"times": BEGUN_CALLS.c.times + 1, "at": at}
            )
            returning = statement.returning(BEGUN_CALLS.c.id, BEGUN_CALLS.c.times)
            return {row.id: row.times for row in connection.execute(returning, rows)}

    def take_back(self, ids: Iterable[str]) -> None:
        """Undo the count of calls that the provider rejected."""
        with self.db.writing() as connection:
            for batch in key_chunks(ids):
                rejected = update(BEGUN_CALLS).where(is_in(BEGUN_CALLS.c.id, batch))
                connection.execute(rejected.values(times=BEGUN_CALLS.c.times - 1))

    def keep(self, paid: Sequence[PaidCall]) -> None:
        """Keep answers and add their cost, in one transaction."""
        calls = {call.id: call for call in paid}
        probes = [call.probe for call in calls.values()]
        with self.db.writing() as connection:
            keys = (key for probe in probes for key in (probe.run_id, probe.unit_id))
            purged = purges_of(connection, keys, (probe.tenant for probe in probes))
            rows = [
                _row(calls[id_], purged=purged.covers(calls[id_].probe)) for id_ in sorted(calls)
            ]
            new = insert_records(connection, CALLS, rows)
            statement = upsert(
                connection, SPENDING, lambda row: {n: SPENDING.c[n] + row[n] for n in SUMS}
            )
            for run_id, sums in sorted(_sums(calls[id_] for id_ in new).items()):
                connection.execute(statement, {"run_id": run_id, **sums})

    def answers(self, ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return the kept answers of calls."""
        query = select(CALLS.c.id, CALLS.c.answer).where(CALLS.c.answer.is_not(None))
        rows = self.db.rows_in(query, CALLS.c.id, ids)
        return {row.id: json.loads(row.answer) for row in rows}

    def any_answer(self, run_id: str) -> bool:
        """Return whether an answer of a run is kept."""
        query = select(CALLS.c.id).where(CALLS.c.run_id == run_id, CALLS.c.answer.is_not(None))
        return self.db.scalar(query.limit(1)) is not None

    def allow(self, run_id: str, budget: Budget) -> None:
        """Replace the budget of a run."""
        limits = {"most_tokens": budget.tokens, "most_cost": budget.cost}
        row = {"run_id": run_id, **dict.fromkeys(SUMS, 0), **limits}
        self.db.upsert(SPENDING, [row], lambda _: limits)

    def spending(self, run_ids: Iterable[str]) -> dict[str, RunSpending]:
        """Return the spending and budgets of runs."""
        return {
            row.run_id: RunSpending(
                tokens=row.tokens,
                cost=row.cost,
                unknown_tokens=row.unknown_tokens,
                unknown_cost=row.unknown_cost,
                budget=Budget(tokens=row.most_tokens, cost=row.most_cost),
            )
            for row in self.db.rows_in(select(SPENDING), SPENDING.c.run_id, run_ids)
        }

    def forget(self, before: datetime) -> int:
        """Delete answers kept before a time, whose responses are records by then."""
        return self.db.execute(
            delete(BEGUN_CALLS).where(BEGUN_CALLS.c.at < before),
            delete(CALLS).where(CALLS.c.at < before),
        )


def _row(call: PaidCall, *, purged: bool) -> dict[str, Any]:
    answer = None if call.answer is None or purged else json.dumps(dict(call.answer))
    return {
        "id": call.id,
        "tenant": call.probe.tenant,
        "run_id": call.probe.run_id,
        "unit_id": call.probe.unit_id,
        "at": call.at,
        "answer": answer,
    }


def _sums(calls: Iterable[PaidCall]) -> dict[str, dict[str, float]]:
    by_run: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(SUMS, 0))
    for call in calls:
        sums = by_run[call.probe.run_id]
        sums["tokens"] += call.tokens or 0
        sums["cost"] += call.cost or 0.0
        sums["unknown_tokens"] += call.tokens is None
        sums["unknown_cost"] += call.cost is None
    return by_run


@dataclass(eq=False)
class PausedTargets:
    """Pauses by lane; all generators share them, and a person ends them here."""

    db: Database

    def keep(self, paused: PausedTarget) -> None:
        """Pause a target, or update its pause."""
        self.db.upsert(PAUSED_TARGETS, [paused.model_dump()])

    def resume(self, lanes: Iterable[str]) -> int:
        """End the pauses of these lanes; return how many there were."""
        return self.db.execute(
            delete(PAUSED_TARGETS).where(is_in(PAUSED_TARGETS.c.lane, set(lanes)))
        )

    def read(self, lanes: Collection[str] | None = None) -> list[PausedTarget]:
        """Return the pauses of these lanes, or all, oldest first."""
        query = select(PAUSED_TARGETS).order_by(PAUSED_TARGETS.c.since, PAUSED_TARGETS.c.lane)
        if lanes is not None:
            query = query.where(is_in(PAUSED_TARGETS.c.lane, sorted(lanes)))
        return [PausedTarget.model_validate(row._asdict()) for row in self.db.rows(query)]
