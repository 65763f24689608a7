"""Suites by hash: a run names one, which never changes; each tenant sees its uploads."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select, update

from biaswatch.shared.contracts import Suite, SuiteHeader, SuiteOutline, SuiteProbe
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.store.database import MAX_KEYS, Database
from biaswatch.shared.store.run_tables import SUITE_GROUPS, SUITE_PROBES, SUITE_TENANTS, SUITES
from biaswatch.shared.store.suite_uploads import SuiteGroup, SuiteUpload, positions_in, probes_at

PROBES = SUITE_PROBES.c


@dataclass(eq=False)
class Suites:
    """Stores each suite once, with the tenants that uploaded it; its probes are rows."""

    db: Database

    def upload(self) -> SuiteUpload:
        """Begin the upload of a suite, part by part."""
        return SuiteUpload(self.db, self.db.tenant or DEFAULT_TENANT)

    def keep(self, suite: Suite, now: datetime) -> str:
        """Store a suite; return its hash.

        Raises
        ------
        UsageError
            A probe cannot be asked, or belongs to a unit whose texts were purged.
        """
        with self.upload() as upload:
            for start in range(0, len(suite.probes), MAX_KEYS):
                upload.add(suite.probes[start : start + MAX_KEYS])
            return upload.keep(suite.header, now).hash

    def purge_unit(self, unit_id: str) -> int:
        """Remove the texts of a unit from every suite of the scope; return the changed probes.

        Hash, keys and groups stay, so that the results of runs can still be shown. A suite that
        another tenant uploaded too is left to the operator's purge.
        """
        changed = 0
        query = select(SUITE_PROBES).where(PROBES.unit_id == unit_id, *self._only_own())
        with self.db.writing() as connection:
            for row in connection.execute(query).all():
                probe = SuiteProbe.model_validate_json(row.body)
                if (purged := probe.without_texts) == probe:
                    continue
                changed += 1
                same = (PROBES.hash == row.hash, PROBES.position == row.position)
                body = purged.model_dump_json(exclude_defaults=True)
                connection.execute(update(SUITE_PROBES).where(*same).values(body=body))
                suite = update(SUITES).where(SUITES.c.hash == row.hash)
                connection.execute(suite.values(purged=True))
        return changed

    def sets_of(self, unit_id: str) -> list[str]:
        """Return the names of the sets that contain a unit, in the suites of the scope."""
        query = select(PROBES.set_name).where(PROBES.unit_id == unit_id)
        return sorted(set(self.db.scalars(query.where(*self._uploaded(PROBES.hash)))))

    def latest(self, limit: int) -> list[SuiteOutline]:
        """Return the outlines of the scope's latest suites, newest first."""
        query = select(SUITES).where(*self._uploaded(SUITES.c.hash))
        query = query.order_by(SUITES.c.at.desc(), SUITES.c.hash).limit(limit)
        return [_outline(row) for row in self.db.rows(query)]

    def outline(self, hash_: str | None) -> SuiteOutline | None:
        """Return the outline of a suite, without its probes, or None."""
        return None if hash_ is None else self.outlines([hash_]).get(hash_)

    def outlines(self, hashes: Iterable[str]) -> dict[str, SuiteOutline]:
        """Return the outlines of the existing ones of these suites, by hash."""
        query = select(SUITES).where(*self._uploaded(SUITES.c.hash))
        rows = self.db.rows_in(query, SUITES.c.hash, hashes)
        return {row.hash: _outline(row) for row in rows}

    def probes(self, hash_: str, positions: Collection[int]) -> list[SuiteProbe]:
        """Return the probes at some positions, in order."""
        return probes_at(self.db, hash_, positions)

    def positions_of_sets(self, hash_: str, names: Collection[str]) -> list[int]:
        """Return the positions of the probes of some sets, in order."""
        query = select(PROBES.position).where(PROBES.hash == hash_, PROBES.set_name.in_(names))
        return self.db.scalars(query.order_by(PROBES.position))

    def groups(self, hash_: str) -> list[SuiteGroup]:
        """Return the groups of a suite, by name."""
        groups = SUITE_GROUPS.c
        query = select(groups.number, groups.dimension, groups.name, groups.probes)
        rows = self.db.rows(query.where(groups.hash == hash_).order_by(groups.number))
        return [SuiteGroup(row.number, row.dimension, row.name, row.probes) for row in rows]

    def positions_of_groups(self, hash_: str, numbers: Iterable[int]) -> list[int]:
        """Return the positions of the probes about any of some groups, in order."""
        groups = SUITE_GROUPS.c
        query = select(groups.positions).where(groups.hash == hash_)
        return positions_in(self.db.scalars(query.where(groups.number.in_(sorted(numbers)))))

    def sets(self, hash_: str) -> Iterator[tuple[int, str]]:
        """Return the position of every probe and the name of its set, in order."""
        query = select(PROBES.position, PROBES.set_name).where(PROBES.hash == hash_)
        for row in self._stream(query.order_by(PROBES.position)):
            yield row.position, row.set_name

    def positions_by_set(self, hash_: str) -> Iterator[tuple[str, list[int]]]:
        """Return the name of every set and the positions of its probes, in a stable order."""
        query = select(PROBES.set_name, PROBES.position).where(PROBES.hash == hash_)
        rows = self._stream(query.order_by(PROBES.set_name, PROBES.position))
        for name, members in groupby(rows, key=attrgetter("set_name")):
            yield name, [row.position for row in members]

    def every_probe(self, outline: SuiteOutline) -> Iterator[SuiteProbe]:
        """Return the probes of a suite in order, read page by page."""
        positions = range(outline.probes)
        for start in positions[::MAX_KEYS]:
            yield from self.probes(outline.hash, positions[start : start + MAX_KEYS])

    def _stream(self, query: Select[Any]) -> Iterator[Row[tuple[Any, ...]]]:
        with self.db.streaming() as connection:
            streamed = connection.execution_options(yield_per=MAX_KEYS)
            with streamed.execute(query) as rows:
                yield from rows

    def _uploaded(self, hash_: ColumnElement[str]) -> list[ColumnElement[bool]]:
        """Return the condition that the scope's tenant uploaded a suite."""
        if (tenant := self.db.tenant) is None:
            return []
        return [hash_.in_(select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant == tenant))]

    def _only_own(self) -> list[ColumnElement[bool]]:
        """Return the conditions that no other tenant uploaded a suite."""
        if (tenant := self.db.tenant) is None:
            return []
        shared = select(SUITE_TENANTS.c.hash).where(SUITE_TENANTS.c.tenant != tenant)
        return [*self._uploaded(PROBES.hash), PROBES.hash.not_in(shared)]


def _outline(row: Row[tuple[Any, ...]]) -> SuiteOutline:
    return SuiteOutline(
        hash=row.hash,
        header=SuiteHeader.model_validate_json(row.body),
        probes=row.probes,
        pairs=row.pairs,
        has_findings=row.has_findings,
        purged=row.purged,
    )
