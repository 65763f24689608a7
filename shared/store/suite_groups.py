"""Which questions of a suite are about which group: found without reading the questions."""

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from biaswatch.shared.contracts import SuiteProbe
from biaswatch.shared.store.run_tables import SUITE_GROUPS

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
