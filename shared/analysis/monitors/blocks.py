"""Blocks of sets that share no name, no text, no other random factor with another block."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from biaswatch.shared.contracts import FactorLevels, SuiteProbe, WatchedPair
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.stats.estimate import MIN_FACTOR_LEVELS

MAX_BLOCKS = 256
"""Further blocks are joined with these: a block is valid whatever it joins."""
Level = tuple[str, str]
"""A random factor and one of its values."""


@dataclass(frozen=True)
class StimulatedAnswer:
    """One question of a suite: its set, its groups, and the values of random factors."""

    set: str
    groups: Mapping[str, str]
    stimuli: Mapping[str, str]


@dataclass(frozen=True)
class PairBlocks:
    """The blocks of one comparison of groups."""

    of_set: Mapping[str, int]
    """The number of the block of a set; sets that would join two blocks have none."""
    levels: tuple[FactorLevels, ...]

    @property
    def count(self) -> int:
        """Return how many blocks there are."""
        return len(set(self.of_set.values()))

    @property
    def lacking(self) -> str | None:
        """Return the random factor that has too few values for a claim beyond them."""
        few = (level.factor for level in self.levels if level.values < MIN_FACTOR_LEVELS)
        return next(few, None)


class SuiteBlocks:
    """The blocks of a suite, by comparison: they depend on its stimuli, and on no answer."""

    def __init__(self, random: Sequence[str], answers: Iterable[StimulatedAnswer]) -> None:
        self.random = random
        self._answers = list(answers)
        self._of_pairs: dict[WatchedPair, PairBlocks] = {}

    @classmethod
    def of_probes(cls, random: Sequence[str], probes: Iterable[SuiteProbe]) -> "SuiteBlocks":
        """Read the stimuli of a suite, from facts where a probe names no such stimulus."""
        if not random:
            return cls((), ())
        answers = (
            StimulatedAnswer(set_of(probe), probe.groups, {**probe.facts, **probe.stimuli})
            for probe in probes
        )
        return cls(random, answers)

    def of(self, pair: WatchedPair) -> PairBlocks | None:
        """Return the blocks of a comparison; None without random factors."""
        if not self.random:
            return None
        if pair not in self._of_pairs:
            self._of_pairs[pair] = self._blocks(pair)
        return self._of_pairs[pair]

    def _blocks(self, pair: WatchedPair) -> PairBlocks:
        sides: dict[str, tuple[set[Level], set[Level]]] = defaultdict(lambda: (set(), set()))
        for answer in self._answers:
            group = answer.groups.get(pair.dimension)
            if group == pair.a or (group is not None and pair.b in (None, group)):
                levels = {(name, answer.stimuli.get(name, "")) for name in self.random}
                sides[answer.set][group != pair.a].update(levels)
        twins = {name: both for name, both in sides.items() if all(both)}
        blocks = disjoint_blocks({name: a | b for name, (a, b) in twins.items()})
        values = tuple(
            FactorLevels(factor=factor, values=_values(factor, twins.values()))
            for factor in self.random
        )
        numbers = {name: block % MAX_BLOCKS for name, block in blocks.items()}
        return PairBlocks(numbers, values)


def _values(factor: str, sides: Iterable[tuple[set[Level], set[Level]]]) -> int:
    """Return how many values of a factor the group with fewer of them has."""
    values: tuple[set[str], set[str]] = (set(), set())
    for both in sides:
        for seen, levels in zip(values, both, strict=True):
            seen.update(value for name, value in levels if name == factor)
    return min(map(len, values))


def disjoint_blocks(levels_of_sets: Mapping[str, Iterable[Level]]) -> dict[str, int]:
    """Return the number of the block of each set; no value of a factor is in two blocks.

    Where every name meets every text, most sets would join blocks, and belong to none. Blocks begin
    with sets that have nothing in common, in an order that does not depend on answers; then each
    block in turn takes a set whose other values are in no other block.

    Examples
    --------
    >>> names = {"s1": [("name", "Ann")], "s2": [("name", "Bea")], "s3": [("name", "Ann")]}
    >>> blocks = disjoint_blocks(names)
    >>> blocks["s1"] == blocks["s3"] != blocks["s2"]
    True
    """
    levels = {name: set(levels_of_sets[name]) for name in sorted(levels_of_sets, key=shuffled)}
    owners: dict[Level, int] = {}
    blocks: dict[str, int] = {}
    for name, own in levels.items():
        if not any(level in owners for level in own):
            blocks[name] = len(blocks)
            owners |= dict.fromkeys(own, blocks[name])
    candidates: dict[int, list[str]] = defaultdict(list)
    for name, own in levels.items():
        if name not in blocks and len(of := _owned(own, owners)) == 1:
            candidates[of.pop()].append(name)
    _share_out(candidates, levels, owners, blocks)
    return blocks


def _share_out(
    candidates: dict[int, list[str]],
    levels: Mapping[str, set[Level]],
    owners: dict[Level, int],
    blocks: dict[str, int],
) -> None:
    """Assign candidates to blocks in turn; a candidate shared with another block is skipped."""
    queues = {block: iter(names) for block, names in candidates.items()}
    while queues:
        for block, queue in list(queues.items()):
            name = next((n for n in queue if _owned(levels[n], owners) == {block}), None)
            if name is None:
                del queues[block]
            else:
                blocks[name] = block
                owners |= dict.fromkeys(levels[name], block)


def _owned(levels: Iterable[Level], owners: Mapping[Level, int]) -> set[int]:
    return {owners[level] for level in levels if level in owners}


def shuffled(name: str) -> bytes:
    """Return a key that sorts names in an order unrelated to them, the same everywhere."""
    return blake2b(name.encode(), digest_size=8).digest()
