"""What a monitor's checks need of a suite: the set and the groups of each question, few bytes."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.contracts import Suite, SuiteProbe, WatchedPair
from biaswatch.shared.contracts.expansion import set_of

Sets = NDArray[np.uint64]
"""64 bits of the name of each."""
HASH_BYTES = 8


@dataclass(frozen=True)
class AskedSets:
    """The questions of a suite, a row each, without their words: a suite of a million is 17 MB."""

    name: str
    """Of the suite."""
    hash: str
    groups: Sequence[Mapping[str, str]]
    """The different groups that questions are about."""
    codes: NDArray[np.int64]
    """[questions]: which of them."""
    sets: Sets
    """[questions]"""
    has_set: NDArray[np.bool_]
    """[questions]: whether the suite names the set; else the question is one by itself."""

    @classmethod
    def of(cls, name: str, hash_: str, probes: Iterable[SuiteProbe]) -> "AskedSets":
        """Go through the questions of a suite, of which none is held."""
        known: dict[tuple[tuple[str, str], ...], int] = {}
        codes, digests, has_set = array("q"), bytearray(), bytearray()
        for probe in probes:
            codes.append(known.setdefault(tuple(sorted(probe.groups.items())), len(known)))
            digests += blake2b(set_of(probe).encode(), digest_size=HASH_BYTES).digest()
            has_set.append(bool(probe.set))
        return cls(
            name,
            hash_,
            [dict(groups) for groups in known],
            np.frombuffer(codes, np.int64) if codes else np.empty(0, np.int64),
            np.frombuffer(bytes(digests), np.uint64),
            np.frombuffer(bytes(has_set), np.bool_),
        )

    @classmethod
    def of_suite(cls, suite: Suite) -> "AskedSets":
        """Go through a suite that is in memory."""
        return cls.of(suite.name, suite.hash, suite.probes)

    @property
    def questions(self) -> int:
        """Return how many questions there are."""
        return len(self.codes)

    @property
    def different(self) -> int:
        """Return how many sets there are."""
        return len(np.unique(self.sets))

    def groups_of(self, dimension: str) -> list[str]:
        """Return the groups of a dimension, in their order."""
        return sorted({groups[dimension] for groups in self.groups if dimension in groups})

    def sides(self, pair: WatchedPair, *, named: bool = False) -> tuple[Sets, Sets]:
        """Return the set of each question of the first group, and of each of the second.

        Parameters
        ----------
        named
            Leave out questions whose set the suite does not name.
        """
        side = np.array([_side(pair, groups) for groups in self.groups], np.int64)[self.codes]
        asked = self.has_set if named else np.True_
        return self.sets[(side == 0) & asked], self.sets[(side == 1) & asked]

    def twins(self, pair: WatchedPair, *, named: bool = False) -> int:
        """Return how many sets have both groups."""
        return len(np.intersect1d(*self.sides(pair, named=named)))

    def largest_side(self, pairs: Iterable[WatchedPair]) -> int:
        """Return the most answers of one side that a set has."""
        sides = (side for pair in pairs for side in self.sides(pair) if len(side))
        return max((int(np.unique(side, return_counts=True)[1].max()) for side in sides), default=0)


def _side(pair: WatchedPair, groups: Mapping[str, str]) -> int:
    """Return 0 for the first group, 1 for the second, -1 for neither."""
    group = groups.get(pair.dimension)
    if group == pair.a:
        return 0
    return 1 if group is not None and pair.b in (None, group) else -1
