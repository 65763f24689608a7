"""Bloom filters of the units with texts in a file, so that the purge of a unit reads few files.

References
----------
Bloom (1970), Space/time trade-offs in hash coding with allowable errors, CACM 13.
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

HASHES, BITS_PER_UNIT = 7, 10
"""One unit in 120 that is not in a file passes for one that may be."""
DIGEST_BYTES = 16


class UnitFilter:
    """The filter of at most a number of units."""

    def __init__(self, most_units: int) -> None:
        self._bytes = np.zeros(most_units * BITS_PER_UNIT // 8 + 1, dtype=np.uint8)

    @classmethod
    def of(cls, units: Iterable[str | None]) -> "UnitFilter":
        """Return the filter of some units."""
        distinct = set(units)
        filter_ = cls(len(distinct))
        filter_.add(distinct)
        return filter_

    def add(self, units: Iterable[str | None]) -> None:
        """Add units; texts without a unit are left out."""
        digests = b"".join(digest_of(unit) for unit in units if unit is not None)
        positions = _positions(digests, len(self._bytes)).ravel()
        bits = np.left_shift(1, positions & 7).astype(np.uint8)
        np.bitwise_or.at(self._bytes, positions >> 3, bits)

    def packed(self) -> bytes:
        """Return the filter as it is stored."""
        return self._bytes.tobytes()


def digest_of(unit: str) -> bytes:
    """Return what a filter knows of a unit."""
    return blake2b(unit.encode(), digest_size=DIGEST_BYTES).digest()


def may_hold(packed: bytes, digest: bytes) -> bool:
    """Return whether a unit may be in a stored filter; False is certain."""
    first, step = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
    for number in range(HASHES):
        position = (first + number * step) % 2**64 % (8 * len(packed))
        if not packed[position >> 3] >> (position & 7) & 1:
            return False
    return True


def _positions(digests: bytes, size: int) -> NDArray[np.int64]:
    """Return [units, hashes]: positions of bits in a filter of this many bytes."""
    first, step = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T[:, :, None]
    hashes = first + step * np.arange(HASHES, dtype=np.uint64)  # modulo 2**64
    positions: NDArray[np.int64] = (hashes % np.uint64(8 * size)).astype(np.int64)
    return positions
