"""Bloom filters of the units with texts in a file, so that the purge of a unit reads few files.

References
----------
Bloom (1970), Space/time trade-offs in hash coding with allowable errors, CACM 13.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

HASHES, BITS_PER_UNIT = 7, 10
"""One unit in 120 that is not in a file passes for one that may be."""
DIGEST_BYTES = 16


class UnitFilter:
    """The filter of at most a number of units."""

    def __init__(self, most_units: int) -> None:
        self._bytes = bytearray(most_units * BITS_PER_UNIT // 8 + 1)

    @classmethod
    def of(cls, units: Iterable[str | None]) -> "UnitFilter":
        """Return the filter of some units."""
        distinct = set(units)
        filter_ = cls(len(distinct))
        filter_.add(distinct)
        return filter_

    def add(self, units: Iterable[str | None]) -> None:
        """Add units; texts without a unit are left out."""
        for unit in units:
            if unit is not None:
                for position in _positions(digest_of(unit), len(self._bytes)):
                    self._bytes[position >> 3] |= 1 << (position & 7)

    def packed(self) -> bytes:
        """Return the filter as it is stored."""
        return bytes(self._bytes)


def digest_of(unit: str) -> bytes:
    """Return what a filter knows of a unit."""
    return blake2b(unit.encode(), digest_size=DIGEST_BYTES).digest()


def may_hold(packed: bytes, digest: bytes) -> bool:
    """Return whether a unit may be in a stored filter; False is certain."""
    positions = _positions(digest, len(packed))
    return all(packed[position >> 3] >> (position & 7) & 1 for position in positions)


def _positions(digest: bytes, size: int) -> Iterator[int]:
    """Yield the bits of a unit in a filter of this many bytes."""
    first, step = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
    for number in range(HASHES):
        yield (first + number * step) % (8 * size)
