"""Uploads of suites: probes arrive part by part, and the hash is known at the end."""

import secrets
import sys
import time
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, update

from biaswatch.shared.contracts import SuiteHeader, SuiteOutline, SuiteProbe, set_of, suite_hash
from biaswatch.shared.contracts.suite_limits import ProbeCheck, SuiteCounts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.store.database import MAX_KEYS, Database, insert_new
from biaswatch.shared.store.run_tables import SUITE_GROUPS, SUITE_PROBES, SUITE_TENANTS, SUITES
from biaswatch.shared.store.tables import PURGES
from biaswatch.shared.store.texts import EVERY_TENANT, UNIT, purges_of

STAGED = "upload-"
"""Placeholder prefix until the hash is known; hashes have no hyphen."""
ABANDONED_S = 24 * 3600
"""Age at which the next upload removes the rows of one whose process died."""
POSITION = "I"
"""Array type of stored positions: four bytes, little-endian."""


@dataclass(frozen=True)
class SuiteGroup:
    """A group that questions of a suite are about."""

    number: int
    """Number of the group in the suite."""
    dimension: str
    group: str
    probes: int
    """Number of questions about the group."""


class GroupPositions:
    """Positions of the questions of each group, collected in one pass over a suite."""

    def __init__(self) -> None:
        self._positions: dict[tuple[str, str], array[int]] = {}
        self._count = 0

    def add(self, probe: SuiteProbe) -> None:
        """Add the next question of the suite."""
        for group in probe.groups.items():
            self._positions.setdefault(group, array(POSITION)).append(self._count)
        self._count += 1

    def rows(self, hash_: str) -> Iterator[dict[str, Any]]:
        """Return a row for each group, sorted by name."""
        for number, ((dimension, name), positions) in enumerate(sorted(self._positions.items())):
            yield {
                "hash": hash_,
                "number": number,
                "dimension": dimension,
                "name": name,
                "probes": len(positions),
                "positions": _little_endian(positions).tobytes(),
            }


class SuiteUpload:
    """Stages probes under a placeholder, invisible until the end.

    Rows of an upload that ends early are removed; those of a process that dies, a day later.
    """

    def __init__(self, db: Database, tenant: str, *, now_s: float | None = None) -> None:
        self._db = db
        self._tenant = tenant
        start_s = int(time.time() if now_s is None else now_s)
        self._name = f"{STAGED}{start_s:010x}-{secrets.token_hex(7)}"
        self._abandoned_before = f"{STAGED}{max(0, start_s - ABANDONED_S):010x}"
        self._count = 0
        self._done = False

    def __enter__(self) -> "SuiteUpload":
        """Begin, and remove abandoned uploads."""
        abandoned = (SUITE_PROBES.c.hash >= STAGED, SUITE_PROBES.c.hash < self._abandoned_before)
        self._db.execute(delete(SUITE_PROBES).where(*abandoned))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Remove staged probes, unless the suite was kept."""
        if not self._done and self._count:
            self._db.execute(delete(SUITE_PROBES).where(SUITE_PROBES.c.hash == self._name))

    def add(self, probes: Sequence[SuiteProbe]) -> None:
        """Stage the next probes, some hundreds at a time.

        Raises
        ------
        UsageError
            A probe belongs to a unit whose texts were purged.
        """
        with self._db.writing() as connection:
            purged = purges_of(connection, (probe.unit_id for probe in probes), [self._tenant])
            for probe in probes:
                if purged.covers_unit(probe.unit_id, self._tenant):
                    raise _purged_unit(probe)
            if probes:
                connection.execute(SUITE_PROBES.insert(), self._rows(probes))
        self._count += len(probes)

    def _rows(self, probes: Iterable[SuiteProbe]) -> list[dict[str, Any]]:
        return [
            {
                "hash": self._name,
                "position": position,
                "unit_id": probe.unit_id,
                "set_name": set_of(probe),
                "body": probe.model_dump_json(exclude_defaults=True),
            }
            for position, probe in enumerate(probes, self._count)
        ]

    def keep(self, header: SuiteHeader, now: datetime, limit: int | None = None) -> SuiteOutline:
        """Keep the staged suite, once, for this tenant; return its outline.

        Raises
        ------
        UsageError
            A probe cannot be asked or diagnosed, two have one key, or no probe has a stratum; or
            the tenant would have more than `limit` suites.
        """
        groups = GroupPositions()
        outline = self._outline(header, groups)
        staged = SUITE_PROBES.c.hash == self._name
        with self._db.writing() as connection:
            self._check_purges(connection)
            if insert_new(connection, SUITES, [suite_row(outline, now)]):
                connection.execute(update(SUITE_PROBES).where(staged).values(hash=outline.hash))
                insert_new(connection, SUITE_GROUPS, list(groups.rows(outline.hash)))
            else:
                connection.execute(delete(SUITE_PROBES).where(staged))
            owner = {"hash": outline.hash, "tenant": self._tenant}
            if insert_new(connection, SUITE_TENANTS, [owner]) and limit is not None:
                self._check_limit(connection, limit)
        self._done = True
        return outline

    def _check_limit(self, connection: Connection, limit: int) -> None:
        query = select(func.count()).where(SUITE_TENANTS.c.tenant == self._tenant)
        if (connection.scalar(query) or 0) > limit:
            raise UsageError(
                f"The tenant {self._tenant} has {limit:,} suites, as many as are allowed. Use one"
                " of them, or ask the operator of the gateway to raise BIASWATCH_GATEWAY_SUITES."
            )

    def _outline(self, header: SuiteHeader, groups: GroupPositions) -> SuiteOutline:
        """Check and count the staged probes, which are read again page by page."""
        check, counts = ProbeCheck(header), SuiteCounts(header)

        def checked() -> Iterator[SuiteProbe]:
            for start in range(0, self._count, MAX_KEYS):
                positions = range(start, min(start + MAX_KEYS, self._count))
                for probe in probes_at(self._db, self._name, positions):
                    check(probe)
                    counts.add(probe)
                    groups.add(probe)
                    yield probe

        hash_ = suite_hash(header, checked())
        for positions in counts.likely_duplicates():
            probes = probes_at(self._db, self._name, positions[:MAX_KEYS])
            [(key, copies)] = Counter(probe.key for probe in probes).most_common(1)
            if copies > 1:
                raise UsageError(f"The suite {header.name}: two probes have the key {key!r}.")
        if (mistake := counts.mistake) is not None:
            raise UsageError(f"The suite {header.name}: {mistake}.")
        return counts.outline(hash_)

    def _check_purges(self, connection: Connection) -> None:
        """Refuse a staged probe whose unit was purged after it was staged."""
        purged = and_(
            PURGES.c.key == SUITE_PROBES.c.unit_id,
            PURGES.c.scope == UNIT,
            PURGES.c.tenant.in_([EVERY_TENANT, self._tenant]),
        )
        query = select(SUITE_PROBES.c.body).join(PURGES, purged)
        body = connection.scalar(query.where(SUITE_PROBES.c.hash == self._name).limit(1))
        if body is not None:
            raise _purged_unit(SuiteProbe.model_validate_json(body))


def suite_row(outline: SuiteOutline, now: datetime) -> dict[str, Any]:
    """Return the row of a suite without its probes."""
    return {
        "hash": outline.hash,
        "name": outline.header.name,
        "at": now,
        "body": outline.header.model_dump_json(),
        "probes": outline.probes,
        "pairs": outline.pairs,
        "has_findings": outline.has_findings,
        "purged": outline.purged,
    }


def probes_at(db: Database, hash_: str, positions: Collection[int]) -> list[SuiteProbe]:
    """Return the probes of a suite, or of an upload, at some positions, in order."""
    columns = SUITE_PROBES.c
    query = select(columns.body).where(columns.hash == hash_).order_by(columns.position)
    if isinstance(positions, range):
        query = query.where(columns.position >= positions.start, columns.position < positions.stop)
    else:
        query = query.where(columns.position.in_(list(positions)))
    return [SuiteProbe.model_validate_json(body) for body in db.scalars(query)]


def positions_in(packed_positions: Iterable[bytes]) -> list[int]:
    """Return the union of stored positions, in order."""
    return sorted(
        {
            position
            for packed in packed_positions
            for position in _little_endian(array(POSITION, packed))
        }
    )


def _little_endian(positions: "array[int]") -> "array[int]":
    """Convert positions to or from their stored byte order."""
    if sys.byteorder == "little":
        return positions
    swapped = array(POSITION, positions)
    swapped.byteswap()
    return swapped


def _purged_unit(probe: SuiteProbe) -> UsageError:
    return UsageError(
        f"The texts of the unit {probe.unit_id} were purged, and the suite holds it (the probe"
        f" {probe.key}). Remove it from the suite, or use another name if it is a different person."
    )
