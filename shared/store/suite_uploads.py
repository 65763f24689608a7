"""A suite on its way into the store: its probes come part by part, its name is known at the end."""

import secrets
import sys
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, select, update

from biaswatch.shared.contracts import SuiteHeader, SuiteOutline, SuiteProbe
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.contracts.suite import suite_hash
from biaswatch.shared.contracts.suite_limits import ProbeCheck, SuiteCounts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    insert_new,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.run_tables import SUITE_GROUPS, SUITE_PROBES, SUITE_TENANTS, SUITES
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.texts import Purged, purged

POSITION = "I"
"""Four bytes, the least significant first: so are positions kept."""
_COLUMNS = SUITE_GROUPS.c


@dataclass(frozen=True)
class SuiteGroup:
    """A group that questions of a suite are about."""

    number: int
    """Its number in the suite."""
    dimension: str
    group: str
    probes: int
    """How many questions are about it."""


class GroupPositions:
    """Where the questions of each group stand, gathered while a suite is gone through once."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], array[int]] = {}
        self._seen = 0

    def add(self, probe: SuiteProbe) -> None:
        """Take the next question of the suite."""
        for named in probe.groups.items():
            self._places.setdefault(named, array(POSITION)).append(self._seen)
        self._seen += 1

    def rows(self, hash_: str) -> Iterator[dict[str, Any]]:
        """Return a row for each group, in the order of their names."""
        for number, (named, places) in enumerate(sorted(self._places.items())):
            yield {
                "hash": hash_,
                "number": number,
                "dimension": named[0],
                "name": named[1],
                "probes": len(places),
                "positions": in_order(places).tobytes(),
            }


def groups_in(connection: Connection, hash_: str) -> list[SuiteGroup]:
    """Return the groups of a suite, by their names."""
    columns = (_COLUMNS.number, _COLUMNS.dimension, _COLUMNS.name, _COLUMNS.probes)
    query = select(*columns).where(_COLUMNS.hash == hash_).order_by(_COLUMNS.number)
    return [SuiteGroup(*row) for row in connection.execute(query)]


def positions_in(connection: Connection, hash_: str, numbers: Iterable[int]) -> list[int]:
    """Return the positions of the questions about any of these groups, in their order."""
    mine = (_COLUMNS.hash == hash_, _COLUMNS.number.in_(sorted(numbers)))
    found = {
        place
        for packed in connection.scalars(select(_COLUMNS.positions).where(*mine))
        for place in in_order(array(POSITION, packed))
    }
    return sorted(found)


def in_order(places: "array[int]") -> "array[int]":
    """Return positions as they are kept, or kept ones as they are used."""
    if sys.byteorder == "little":
        return places
    turned = array(POSITION, places)
    turned.byteswap()
    return turned


UPLOAD = "upload-"
"""What stands in the place of the hash, which has no hyphen, until it is known."""
ABANDONED_S = 24 * 3600
"""After which what an upload has left behind is removed by the next one."""


class SuiteUpload:
    """Stages probes under a name of its own; nobody sees them before the end.

    The rows of an upload that ends early are removed; those of a process that dies, a day later.
    """

    def __init__(self, engine: Engine, tenant: str, *, now_s: float | None = None) -> None:
        self._engine = engine
        self._tenant = tenant
        begun_s = int(time.time() if now_s is None else now_s)
        self._name = f"{UPLOAD}{begun_s:010x}-{secrets.token_hex(7)}"
        self._abandoned = f"{UPLOAD}{max(0, begun_s - ABANDONED_S):010x}"
        self._amount = 0
        self._has_facts = False
        self._done = False

    def __enter__(self) -> "SuiteUpload":
        """Begin, and remove what others have left behind long ago."""
        old = (SUITE_PROBES.c.hash >= UPLOAD, SUITE_PROBES.c.hash < self._abandoned)
        with write_transaction(self._engine) as connection:
            connection.execute(delete(SUITE_PROBES).where(*old))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Remove what was staged and not kept."""
        if not self._done and self._amount:
            with write_transaction(self._engine) as connection:
                connection.execute(delete(SUITE_PROBES).where(SUITE_PROBES.c.hash == self._name))

    def add(self, probes: Sequence[SuiteProbe]) -> None:
        """Stage the next probes, some hundreds at a time.

        Raises
        ------
        UsageError
            One is of a unit whose texts were purged: they must not come back.
        """
        with write_transaction(self._engine) as connection:
            gone = purged(connection)
            for probe in probes:
                if gone.covers_unit(probe.unit_id, self._tenant):
                    raise _is_purged(probe)
            _insert(connection, self._name, self._amount, probes)
        self._amount += len(probes)
        self._has_facts = self._has_facts or any(probe.facts for probe in probes)

    def keep(self, header: SuiteHeader, now: datetime, most: int | None = None) -> SuiteOutline:
        """Keep the suite that was staged, once, for this tenant; return its outline.

        Raises
        ------
        UsageError
            A probe cannot be asked or diagnosed, two have one key, or no probe has a stratum; or
            the tenant would have more than `most` suites.
        """
        groups = GroupPositions()
        outline = self._outline(header, groups)
        with write_transaction(self._engine) as connection:
            gone = purged(connection)
            if (probe := self._purged_since(connection, gone)) is not None:
                raise _is_purged(probe)
            mine = SUITE_PROBES.c.hash == self._name
            if insert_new(connection, SUITES, [suite_row(outline, now)]):
                connection.execute(update(SUITE_PROBES).where(mine).values(hash=outline.hash))
                insert_new(connection, SUITE_GROUPS, list(groups.rows(outline.hash)))
            else:
                connection.execute(delete(SUITE_PROBES).where(mine))
            owner = {"hash": outline.hash, "tenant": self._tenant}
            if insert_new(connection, SUITE_TENANTS, [owner]) and most is not None:
                self._check_amount(connection, most)
        self._done = True
        return outline

    def _check_amount(self, connection: Connection, most: int) -> None:
        mine = SUITE_TENANTS.c.tenant == self._tenant
        query = select(func.count()).select_from(SUITE_TENANTS).where(mine)
        if (connection.scalar(query) or 0) > most:
            raise UsageError(
                f"The tenant {self._tenant} has {most:,} suites, as many as are allowed. Use one"
                " of them, or have whoever operates the gateway raise BIASWATCH_GATEWAY_SUITES."
            )

    def _outline(self, header: SuiteHeader, groups: GroupPositions) -> SuiteOutline:
        """Check and count what was staged; it is read again, a few probes in memory at once."""
        check, counts = ProbeCheck(header), SuiteCounts(header)

        def counted() -> Iterator[SuiteProbe]:
            for probe in self._staged():
                check(probe)
                counts.add(probe)
                groups.add(probe)
                yield probe

        hash_ = suite_hash(header, counted(), has_facts=self._has_facts)
        for positions in counts.alike():
            keys = [probe.key for probe in self._staged_at(positions)]
            if len(set(keys)) < len(keys):
                [(key, _)] = Counter(keys).most_common(1)
                raise UsageError(f"The suite {header.name}: two probes have the key {key!r}.")
        if (name := counts.missing_stratum) is not None:
            raise UsageError(
                f"The suite {header.name}: no probe has the stratum {name!r}, as a fact or a group."
            )
        return counts.outline(hash_)

    def _staged(self) -> Iterator[SuiteProbe]:
        every = range(self._amount)
        for first in every[::MOST_PARAMETERS]:
            yield from self._staged_at(every[first : first + MOST_PARAMETERS])

    def _staged_at(self, positions: Sequence[int]) -> list[SuiteProbe]:
        table = SUITE_PROBES.c
        query = select(table.body).where(table.hash == self._name)
        if isinstance(positions, range):
            query = query.where(table.position >= positions.start, table.position < positions.stop)
        else:
            query = query.where(table.position.in_(positions[:MOST_PARAMETERS]))
        with read_transaction(self._engine) as connection:
            bodies = connection.scalars(query.order_by(table.position)).all()
        return [SuiteProbe.model_validate_json(body) for body in bodies]

    def _purged_since(self, connection: Connection, gone: Purged) -> SuiteProbe | None:
        """Return a staged probe whose unit was purged after it was staged."""
        units = [unit for tenant, unit in gone.units if tenant in {"", self._tenant}]
        table = SUITE_PROBES.c
        for first in range(0, len(units), MOST_PARAMETERS):
            some = units[first : first + MOST_PARAMETERS]
            query = select(table.body).where(among(table.unit_id, some), table.hash == self._name)
            if (body := connection.scalar(query.limit(1))) is not None:
                return SuiteProbe.model_validate_json(body)
        return None


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


def _is_purged(probe: SuiteProbe) -> UsageError:
    return UsageError(
        f"The texts of the unit {probe.unit_id} were purged, and the suite holds it (the probe"
        f" {probe.key}). Remove it from the suite, or name it otherwise if it is somebody else."
    )


def _insert(connection: Connection, name: str, first: int, probes: Iterable[SuiteProbe]) -> None:
    rows = [
        {
            "hash": name,
            "position": position,
            "unit_id": probe.unit_id,
            "set_name": set_of(probe),
            "body": probe.model_dump_json(exclude_defaults=True),
        }
        for position, probe in enumerate(probes, first)
    ]
    if rows:
        connection.execute(SUITE_PROBES.insert(), rows)
