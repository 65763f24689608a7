"""Targets that are not asked for now: since when, why, and when they are tried again."""

from collections.abc import Collection, Iterable

from sqlalchemy import Engine, delete, select

from biaswatch.shared.contracts.paused_target import PausedTarget
from biaswatch.shared.store.engine import chunks, read_transaction, upsert, write_transaction
from biaswatch.shared.store.membership import among
from biaswatch.shared.store.tables import PAUSED_TARGETS


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
