"""Suites by hash: a run names one, which never changes; each tenant sees those it has uploaded."""

from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, select, update

from shared.contracts import Suite
from shared.errors import UsageError
from shared.store.engine import insert_new, read_transaction, write_transaction
from shared.store.scope import ScopeNow, everything
from shared.store.tables import SUITE_TENANTS, SUITES
from shared.store.texts import purged

UNNAMED = "default"
"""The tenant of what is stored by no tenant in particular."""


class Suites:
    """Stores each suite once, and who has uploaded it."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def keep(self, suite: Suite, now: datetime) -> str:
        """Store a suite; return its hash.

        Raises
        ------
        UsageError
            It holds a unit whose texts were purged: they must not come back.
        """
        row = {"hash": suite.hash, "name": suite.name, "at": now, "body": suite.model_dump_json()}
        owner = {"hash": suite.hash, "tenant": self._scope().tenant or UNNAMED}
        with write_transaction(self._engine) as connection:
            gone = purged(connection)
            for probe in suite.probes:
                if gone.covers_unit(probe.unit_id, owner["tenant"]):
                    raise UsageError(
                        f"The texts of the unit {probe.unit_id} were purged, and the suite"
                        f" {suite.name} holds it (the probe {probe.key}). Remove it from the"
                        " suite, or name it otherwise if it is somebody else."
                    )
            insert_new(connection, SUITES, [row])
            insert_new(connection, SUITE_TENANTS, [owner])
        return suite.hash

    def purge_unit(self, unit_id: str) -> int:
        """Remove the texts of a unit from every suite of the scope; return from how many probes.

        Hash, keys and groups stay, so that the numbers of its runs can still be shown. A suite
        that another tenant has uploaded too is left to the purge of the operator.
        """
        with write_transaction(self._engine) as connection:
            rows = connection.execute(self._mine(select(SUITES.c.hash, SUITES.c.body))).all()
            changed = {row.hash: _without_texts(row.body, unit_id) for row in rows}
            for hash_, (body, probes) in changed.items():
                if probes:
                    connection.execute(
                        update(SUITES).where(SUITES.c.hash == hash_).values(body=body)
                    )
        return sum(probes for _, probes in changed.values())

    def _mine(self, query: Select[Any]) -> Select[Any]:
        """Return the suites that belong to the scope alone."""
        if (tenant := self._scope().tenant) is None:
            return query
        owned = select(SUITE_TENANTS.c.hash)
        return query.where(
            SUITES.c.hash.in_(owned.where(SUITE_TENANTS.c.tenant == tenant)),
            SUITES.c.hash.not_in(owned.where(SUITE_TENANTS.c.tenant != tenant)),
        )

    def get(self, hash_: str | None) -> Suite | None:
        """Return the suite with this hash, or None; a window of traffic has none."""
        query = select(SUITES.c.body).where(SUITES.c.hash == hash_)
        if (tenant := self._scope().tenant) is not None:
            mine = select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant == tenant)
            query = query.where(SUITES.c.hash.in_(mine.where(SUITE_TENANTS.c.hash == hash_)))
        with read_transaction(self._engine) as connection:
            body = connection.scalar(query)
        return None if body is None else Suite.model_validate_json(body)


def _without_texts(body: str, unit_id: str) -> tuple[str, int]:
    """Return a suite without the texts of a unit, and how many probes had them."""
    suite = Suite.model_validate_json(body)
    probes = tuple(
        probe.without_texts if probe.unit_id == unit_id else probe for probe in suite.probes
    )
    changed = sum(after != before for after, before in zip(probes, suite.probes, strict=True))
    return suite.model_copy(update={"probes": probes}).model_dump_json(), changed
