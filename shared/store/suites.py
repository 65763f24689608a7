"""Suites by hash: a run names one, which never changes; each tenant sees those it has uploaded."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from sqlalchemy import ColumnElement, Engine, RowMapping, select, update

from biaswatch.shared.contracts import Suite, SuiteHeader, SuiteOutline, SuiteProbe
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    ScopeNow,
    chunks,
    everything,
    read_transaction,
    streaming_transaction,
    write_transaction,
)
from biaswatch.shared.store.run_tables import SUITE_PROBES, SUITE_TENANTS, SUITES
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.suite_uploads import SuiteGroup, SuiteUpload, groups_in, positions_in

UNNAMED = "default"
"""The tenant of what is stored by no tenant in particular."""


class Suites:
    """Stores each suite once, and who has uploaded it; its probes are rows of their own."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def upload(self) -> SuiteUpload:
        """Return what takes a suite of the scope's tenant part by part."""
        return SuiteUpload(self._engine, self._scope().tenant or UNNAMED)

    def keep(self, suite: Suite, now: datetime) -> str:
        """Store a suite; return its hash.

        Raises
        ------
        UsageError
            It holds a unit whose texts were purged: they must not come back; or a probe that
            cannot be asked.
        """
        every = range(len(suite.probes))
        with self.upload() as upload:
            for first in every[::MOST_PARAMETERS]:
                upload.add(suite.probes[first : first + MOST_PARAMETERS])
            return upload.keep(suite.header, now).hash

    def purge_unit(self, unit_id: str) -> int:
        """Remove the texts of a unit from every suite of the scope; return from how many probes.

        Hash, keys and groups stay, so that the numbers of its runs can still be shown. A suite
        that another tenant has uploaded too is left to the purge of the operator.
        """
        changed = 0
        table = SUITE_PROBES.c
        query = select(SUITE_PROBES).where(table.unit_id == unit_id, *self._only_mine())
        with write_transaction(self._engine) as connection:
            for row in connection.execute(query).mappings().all():
                probe = SuiteProbe.model_validate_json(row["body"])
                if (without := probe.without_texts) == probe:
                    continue
                changed += 1
                this = (table.hash == row["hash"], table.position == row["position"])
                body = without.model_dump_json(exclude_defaults=True)
                connection.execute(update(SUITE_PROBES).where(*this).values(body=body))
                suite = update(SUITES).where(SUITES.c.hash == row["hash"])
                connection.execute(suite.values(purged=True))
        return changed

    def sets_of(self, unit_id: str) -> list[str]:
        """Return the names of the sets that hold a unit, in the suites of the scope."""
        table = SUITE_PROBES.c
        query = select(table.set_name).where(table.unit_id == unit_id)
        if (tenant := self._scope().tenant) is not None:
            mine = select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant == tenant)
            query = query.where(table.hash.in_(mine))
        with read_transaction(self._engine) as connection:
            return sorted(set(connection.scalars(query)))

    def latest(self, most: int) -> list[SuiteOutline]:
        """Return the outlines of the scope's suites, those stored last first, at most so many."""
        query = select(SUITES).order_by(SUITES.c.at.desc(), SUITES.c.hash).limit(most)
        if (tenant := self._scope().tenant) is not None:
            mine = select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant == tenant)
            query = query.where(SUITES.c.hash.in_(mine))
        with read_transaction(self._engine) as connection:
            return [_outline(row) for row in connection.execute(query).mappings()]

    def _only_mine(self) -> list[ColumnElement[bool]]:
        """Return what keeps the probes of suites out that do not belong to the scope alone."""
        if (tenant := self._scope().tenant) is None:
            return []
        owned = select(SUITE_TENANTS.c.hash)
        hash_ = SUITE_PROBES.c.hash
        return [
            hash_.in_(owned.where(SUITE_TENANTS.c.tenant == tenant)),
            hash_.not_in(owned.where(SUITE_TENANTS.c.tenant != tenant)),
        ]

    def outline(self, hash_: str | None) -> SuiteOutline | None:
        """Return what is known of a suite without its probes, or None if there is none."""
        return None if hash_ is None else self.outlines([hash_]).get(hash_)

    def outlines(self, hashes: Iterable[str]) -> dict[str, SuiteOutline]:
        """Return the outlines of those of these suites that there are, by their hashes."""
        found: dict[str, SuiteOutline] = {}
        for some in chunks(hashes):
            query = select(SUITES).where(among(SUITES.c.hash, some))
            if (tenant := self._scope().tenant) is not None:
                mine = select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant == tenant)
                query = query.where(
                    SUITES.c.hash.in_(mine.where(among(SUITE_TENANTS.c.hash, some)))
                )
            with read_transaction(self._engine) as connection:
                rows = connection.execute(query).mappings().all()
            found |= {row["hash"]: _outline(row) for row in rows}
        return found

    def probes(self, hash_: str, positions: Collection[int]) -> list[SuiteProbe]:
        """Return the probes at some positions, in their order; a few at a time."""
        table = SUITE_PROBES.c
        query = select(table.body).where(table.hash == hash_)
        if isinstance(positions, range):
            query = query.where(table.position >= positions.start, table.position < positions.stop)
        else:
            query = query.where(table.position.in_(list(positions)))
        with read_transaction(self._engine) as connection:
            bodies = connection.scalars(query.order_by(table.position)).all()
        return [SuiteProbe.model_validate_json(body) for body in bodies]

    def positions_of_sets(self, hash_: str, names: Collection[str]) -> list[int]:
        """Return the positions of the probes of one set, in their order; no probe is read."""
        table = SUITE_PROBES.c
        query = select(table.position).where(table.hash == hash_, table.set_name.in_(names))
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query.order_by(table.position)))

    def groups(self, hash_: str) -> list[SuiteGroup]:
        """Return the groups that the probes of a suite are about; no probe is read."""
        with read_transaction(self._engine) as connection:
            return groups_in(connection, hash_)

    def positions_of_groups(self, hash_: str, numbers: Iterable[int]) -> list[int]:
        """Return the positions of the probes about any of some groups; no probe is read."""
        with read_transaction(self._engine) as connection:
            return positions_in(connection, hash_, numbers)

    def sets(self, hash_: str) -> Iterator[tuple[int, str]]:
        """Return the position of every probe and the name of its set, in their order."""
        table = SUITE_PROBES.c
        query = select(table.position, table.set_name).where(table.hash == hash_)
        with streaming_transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=MOST_PARAMETERS)
            with streamed.execute(query.order_by(table.position)) as rows:
                for row in rows:
                    yield row.position, row.set_name

    def positions_by_set(self, hash_: str) -> Iterator[tuple[str, list[int]]]:
        """Return the name of every set and the positions of its probes, in an order that stays."""
        table = SUITE_PROBES.c
        query = select(table.set_name, table.position).where(table.hash == hash_)
        with streaming_transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=MOST_PARAMETERS)
            with streamed.execute(query.order_by(table.set_name, table.position)) as rows:
                for name, members in groupby(rows, key=attrgetter("set_name")):
                    yield name, [row.position for row in members]

    def every_probe(self, outline: SuiteOutline) -> Iterator[SuiteProbe]:
        """Yield the probes of a suite in their order; some are in memory at a time."""
        every = range(outline.probes)
        for n in every[::MOST_PARAMETERS]:
            yield from self.probes(outline.hash, every[n : n + MOST_PARAMETERS])


def _outline(row: RowMapping) -> SuiteOutline:
    return SuiteOutline(
        hash=row["hash"],
        header=SuiteHeader.model_validate_json(row["body"]),
        probes=row["probes"],
        pairs=row["pairs"],
        has_findings=row["has_findings"],
        purged=row["purged"],
    )
