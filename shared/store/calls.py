"""Paid calls, spending of runs, and paused targets."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, delete, select, update

from biaswatch.shared.contracts import Budget, Probe
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.store.engine import chunks, read_transaction, upsert, write_transaction
from biaswatch.shared.store.statements import among, insert_records
from biaswatch.shared.store.tables import BEGUN_CALLS, CALLS, PAUSED_TARGETS, SPENDING
from biaswatch.shared.store.texts import purged

NO_BUDGET = Budget()


@dataclass(frozen=True)
class PaidCall:
    """One answered call, and what it cost."""

    id: str
    probe: Probe
    tokens: int | None
    """Input and output tokens; None where the provider did not say."""
    cost: float | None
    """None where the price or the tokens are unknown."""
    answer: Mapping[str, Any] | None
    """What may be returned instead of calling again; None where it must not be."""
    at: datetime


@dataclass(frozen=True)
class RunSpending:
    """What a run has spent, and its budget."""

    tokens: int = 0
    cost: float = 0.0
    unknown_tokens: int = 0
    """Calls whose tokens are unknown."""
    unknown_cost: int = 0
    """Calls whose cost is unknown."""
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


class Calls:
    """Answers by call and sums by run; a call counts once, however often it is kept."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, runs: Mapping[str, str], at: datetime) -> dict[str, int]:
        """Note that calls begin, before they are made; return how often each has begun by now.

        Parameters
        ----------
        runs
            The run of each call, by the call's id.
        at
            Now.
        """
        rows = [{"id": id_, "run_id": runs[id_], "at": at, "times": 1} for id_ in sorted(runs)]
        with write_transaction(self._engine) as connection:
            again = {"times": BEGUN_CALLS.c.times + 1, "at": at}
            statement = upsert(connection, BEGUN_CALLS).on_conflict_do_update(
                index_elements=["id"], set_=again
            )
            found = connection.execute(
                statement.returning(BEGUN_CALLS.c.id, BEGUN_CALLS.c.times), rows
            )
            return {row.id: row.times for row in found}

    def take_back(self, ids: Iterable[str]) -> None:
        """Note that calls which began were refused at the door, so that they count for nothing."""
        fewer = BEGUN_CALLS.c.times - 1
        with write_transaction(self._engine) as connection:
            for some in chunks(ids):
                those = among(BEGUN_CALLS.c.id, some)
                connection.execute(update(BEGUN_CALLS).where(those).values(times=fewer))

    def keep(self, paid: Sequence[PaidCall]) -> None:
        """Keep answers and add what they cost, in one transaction."""
        rows = {each.id: each for each in paid}
        with write_transaction(self._engine) as connection:
            gone = purged(connection)
            kept = [_row(rows[id_], covered=gone.covers(rows[id_].probe)) for id_ in sorted(rows)]
            new = insert_records(connection, CALLS, kept)
            for run_id, sums in sorted(_sums(rows[id_] for id_ in new).items()):
                adding = upsert(connection, SPENDING).values({"run_id": run_id, **sums})
                more = {name: SPENDING.c[name] + adding.excluded[name] for name in SUMS}
                connection.execute(
                    adding.on_conflict_do_update(index_elements=["run_id"], set_=more)
                )

    def answers(self, ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return the answers kept for these calls."""
        query = select(CALLS.c.id, CALLS.c.answer).where(CALLS.c.answer.is_not(None))
        with read_transaction(self._engine) as connection:
            return {
                row.id: json.loads(row.answer)
                for some in chunks(ids)
                for row in connection.execute(query.where(among(CALLS.c.id, some)))
            }

    def any_answer(self, run_id: str) -> bool:
        """Tell whether any call of a run was answered, in the days that answers are kept."""
        query = select(CALLS.c.id).where(CALLS.c.run_id == run_id, CALLS.c.answer.is_not(None))
        with read_transaction(self._engine) as connection:
            return connection.scalar(query.limit(1)) is not None

    def allow(self, run_id: str, budget: Budget) -> None:
        """Replace the budget of a run."""
        limits = {"most_tokens": budget.tokens, "most_cost": budget.cost}
        with write_transaction(self._engine) as connection:
            fresh = {"run_id": run_id, **dict.fromkeys(SUMS, 0), **limits}
            statement = upsert(connection, SPENDING).values(fresh)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["run_id"], set_=limits)
            )

    def spending(self, run_ids: Iterable[str]) -> dict[str, RunSpending]:
        """Return what these runs have spent, and their budgets."""
        query = select(SPENDING).where(among(SPENDING.c.run_id, set(run_ids)))
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query).mappings().all()
        return {
            row["run_id"]: RunSpending(
                **{name: row[name] for name in SUMS},
                budget=Budget(tokens=row["most_tokens"], cost=row["most_cost"]),
            )
            for row in rows
        }

    def forget(self, before: datetime) -> int:
        """Delete answers kept before a moment: their responses are records by now."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(BEGUN_CALLS).where(BEGUN_CALLS.c.at < before))
            return connection.execute(delete(CALLS).where(CALLS.c.at < before)).rowcount


SUMS = ("tokens", "cost", "unknown_tokens", "unknown_cost")


def _row(paid: PaidCall, *, covered: bool) -> dict[str, Any]:
    text = None if paid.answer is None or covered else json.dumps(dict(paid.answer))
    return {
        "id": paid.id,
        "tenant": paid.probe.tenant,
        "run_id": paid.probe.run_id,
        "unit_id": paid.probe.unit_id,
        "at": paid.at,
        "answer": text,
    }


def _sums(new: Iterable[PaidCall]) -> dict[str, dict[str, float]]:
    by_run: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(SUMS, 0))
    for each in new:
        sums = by_run[each.probe.run_id]
        sums["tokens"] += each.tokens or 0
        sums["cost"] += each.cost or 0.0
        sums["unknown_tokens"] += each.tokens is None
        sums["unknown_cost"] += each.cost is None
    return by_run


class PausedTargets:
    """Pauses by lane; all generators share them, and a person ends them here."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, paused: PausedTarget) -> None:
        """Pause a target, or replace what is known of its pause."""
        row = paused.model_dump()
        with write_transaction(self._engine) as connection:
            statement = upsert(connection, PAUSED_TARGETS).values(row)
            changed = {name: value for name, value in row.items() if name != "lane"}
            connection.execute(
                statement.on_conflict_do_update(index_elements=["lane"], set_=changed)
            )

    def resume(self, lanes: Iterable[str]) -> int:
        """End the pauses of these lanes; return how many there were."""
        with write_transaction(self._engine) as connection:
            return sum(
                connection.execute(
                    delete(PAUSED_TARGETS).where(among(PAUSED_TARGETS.c.lane, some))
                ).rowcount
                for some in chunks(lanes)
            )

    def read(self, lanes: Collection[str] | None = None) -> list[PausedTarget]:
        """Return the pauses of these lanes, or all, the oldest first."""
        query = select(PAUSED_TARGETS).order_by(PAUSED_TARGETS.c.since, PAUSED_TARGETS.c.lane)
        if lanes is not None:
            query = query.where(among(PAUSED_TARGETS.c.lane, sorted(lanes)))
        with read_transaction(self._engine) as connection:
            return [
                PausedTarget.model_validate(dict(row))
                for row in connection.execute(query).mappings()
            ]
