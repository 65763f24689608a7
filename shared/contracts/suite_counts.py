"""What is counted of a suite's probes while they are gone through once, in a few bytes for each."""

import hashlib
from array import array
from collections.abc import Iterator
from itertools import groupby, pairwise

from biaswatch.shared.contracts.suite import SuiteHeader, SuiteProbe
from biaswatch.shared.contracts.suite_outline import SuiteOutline

SIDES = {"a": 0, "b": 1}
OTHER_SIDE = 2
PARTS = 8
"""Of digests, that are sorted one after the other."""


class SuiteCounts:
    """Counts of the probes that were added; names are kept as digests of eight bytes."""

    def __init__(self, header: SuiteHeader) -> None:
        self._header = header
        self._keys = array("Q")
        self._sides = array("Q")
        self._purged = self._has_groups = False
        self._strata: set[str] = set()

    def add(self, probe: SuiteProbe) -> None:
        """Count a probe."""
        self._keys.append(_digest(probe.key))
        if probe.set and "question" in probe.variables:
            side = SIDES.get(probe.facts.get("side", ""), OTHER_SIDE)
            self._sides.append(_digest(probe.set) & ~3 | side)
        self._purged = self._purged or probe == probe.without_texts
        self._has_groups = self._has_groups or bool(probe.groups)
        wanted = set(self._header.strata) - self._strata
        self._strata |= wanted & {*probe.facts, *probe.groups} if wanted else set()

    def outline(self, hash_: str) -> SuiteOutline:
        """Return the outline of the suite with this hash."""
        return SuiteOutline(
            hash=hash_,
            header=self._header,
            probes=len(self._keys),
            pairs=self._pairs(),
            has_findings=bool(self._header.strata) or self._has_groups,
            purged=self._purged,
        )

    @property
    def missing_stratum(self) -> str | None:
        """The first stratum of the header that no probe has, if there is one."""
        return next((name for name in self._header.strata if name not in self._strata), None)

    def alike(self) -> Iterator[list[int]]:
        """Return the positions of probes whose keys have one digest: they are very likely equal."""
        twice = {one for one, next_ in pairwise(_equal_together(self._keys)) if one == next_}
        places: dict[int, list[int]] = {}
        for place, digest in enumerate(self._keys if twice else ()):
            if digest in twice:
                places.setdefault(digest, []).append(place)
        yield from places.values()

    def _pairs(self) -> int:
        """Count the sets that have one question of each side."""
        sets = groupby(sorted(self._sides), key=lambda packed: packed & ~3)
        sides = ([packed & 3 for packed in members] for _, members in sets)
        return sum(members.count(0) == members.count(1) == 1 for members in sides)


def _equal_together(digests: "array[int]") -> Iterator[int]:
    """Yield digests, equal ones together; sorted at once, a million would take 40 MB."""
    for part in range(PARTS):
        yield from sorted(each for each in digests if each % PARTS == part)


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
