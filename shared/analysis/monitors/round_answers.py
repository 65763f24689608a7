"""The answers of a round, sorted for one comparison, and the whole numbers they become."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np

from biaswatch.shared.analysis.monitors.blocks import SuiteBlocks
from biaswatch.shared.contracts import MISSING, Claim, Comparison, Description, Round
from biaswatch.shared.contracts.derived_features import scale_of, value_among
from biaswatch.shared.stats.arrays import Floats

Values = Mapping[str, float | None] | None
"""The values that an extractor read from an answer; None for a value that is missing."""


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """One response that a round planned, whether or not it came."""

    set: str
    unit: str
    groups: Mapping[str, str]
    response_id: str
    is_repeated: bool = False
    """True if an earlier round had the same answer: it adds no evidence."""


@dataclass(frozen=True)
class RoundAnswers:
    """All answers that a round planned, and what each extractor read from them."""

    planned: Sequence[PlannedAnswer]
    values: Mapping[str, Sequence[Values]]
    """By extractor, in the order of the answers."""
    _columns: dict[tuple[str, str], Floats] = field(default_factory=dict, compare=False, repr=False)

    def column(self, extractor: str, feature: str) -> Floats:
        """Return a feature of all answers, NaN where it is missing; it is read once."""
        key = extractor, feature
        if key not in self._columns:
            rows = values_of(self.values[extractor], feature)
            self._columns[key] = np.array(rows, dtype=np.float64)
        return self._columns[key]

    @property
    def repeated_sets(self) -> frozenset[str]:
        """Return the sets with an answer of an earlier round."""
        return frozenset(answer.set for answer in self.planned if answer.is_repeated)


@dataclass
class UnitAnswers:
    """The repeats of one unit."""

    values: list[float] = field(default_factory=list)
    missing: int = 0

    def mean(self, missing_as: float) -> float:
        """Return the mean, where missing answers have this value."""
        total = sum(self.values) + self.missing * missing_as
        return total / (len(self.values) + self.missing)


@dataclass
class GroupAnswers:
    """The answers of one group within a set."""

    by_group: dict[str, dict[str, UnitAnswers]] = field(default_factory=dict)
    """By group and unit: the rest may be several groups."""
    responses: list[str] = field(default_factory=list)

    @property
    def present(self) -> bool:
        """Tell whether the set has this side at all."""
        return bool(self.responses)

    @property
    def missing(self) -> int:
        """The number of answers without a value."""
        return sum(unit.missing for units in self.by_group.values() for unit in units.values())

    @property
    def units(self) -> list[float]:
        """The mean of each unit, of those that have a value."""
        units = (unit for units in self.by_group.values() for unit in units.values())
        return [_mean(unit.values) for unit in units if unit.values]

    @property
    def mean(self) -> float | None:
        """The mean over groups of the means over units; None where any answer is missing.

        The mean of those that came would be about other answers in every round.
        """
        return None if self.missing or not self.by_group else self.mean_with(0.0)

    def mean_with(self, missing_as: float) -> float:
        """Return the mean over groups of the means over units, if missing answers had this value.

        It rises with that value: at the ends of the range it gives what the mean can be.
        """
        groups = (
            [unit.mean(missing_as) for unit in units.values()] for units in self.by_group.values()
        )
        return _mean([_mean(units) for units in groups])


@dataclass
class SetAnswers:
    """A set as one comparison sees it."""

    a: GroupAnswers = field(default_factory=GroupAnswers)
    b: GroupAnswers = field(default_factory=GroupAnswers)

    @property
    def compared(self) -> bool:
        """Tell whether both groups belong to the set."""
        return self.a.present and self.b.present

    @property
    def gap(self) -> float | None:
        """First minus second, in the feature's units; None if any answer is missing."""
        a, b = self.a.mean, self.b.mean
        return None if a is None or b is None else a - b


@dataclass(frozen=True)
class ComparedSets:
    """Every set of a round that one comparison is about."""

    sets: Mapping[str, SetAnswers]
    outside: int
    """Values beyond the declared range."""


def compared_sets(comparison: Comparison, answers: RoundAnswers) -> ComparedSets:
    """Sort the answers for one comparison; values beyond the range count as missing."""
    pair, watched = comparison.pair, comparison.watched
    sets: dict[str, SetAnswers] = defaultdict(SetAnswers)
    outside = 0
    for answer, values in zip(answers.planned, answers.values[watched.extractor], strict=True):
        group = answer.groups.get(pair.dimension)
        if group is None or (group != pair.a and pair.b not in (None, group)):
            continue
        side = sets[answer.set].a if group == pair.a else sets[answer.set].b
        value = value_of(values, watched.feature)
        if value is not None and not watched.low <= value <= watched.high:
            value, outside = None, outside + 1
        side.responses.append(answer.response_id)
        unit = side.by_group.setdefault(group, {}).setdefault(answer.unit, UnitAnswers())
        if value is None:
            unit.missing += 1
        else:
            unit.values.append(value)
    return ComparedSets(dict(sorted(sets.items())), outside)


class SetsOfComparisons(Mapping[str, ComparedSets]):
    """The sets of every comparison, sorted on first access: few comparisons need them."""

    def __init__(self, comparisons: Iterable[Comparison], answers: RoundAnswers) -> None:
        self._comparisons = {comparison.key: comparison for comparison in comparisons}
        self._answers = answers
        self._found: dict[str, ComparedSets] = {}

    def __getitem__(self, key: str) -> ComparedSets:
        if key not in self._found:
            self._found[key] = compared_sets(self._comparisons[key], self._answers)
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._comparisons)

    def __len__(self) -> int:
        return len(self._comparisons)


def selections_of_pairs(sets: Iterable[SetAnswers], limit: float) -> tuple[int, ...]:
    """Count sets of one unit a side: both selected, first only, second only, neither."""
    counts = [0, 0, 0, 0]
    for twins in sets:
        a, b = twins.a.units, twins.b.units
        if twins.gap is not None and len(a) == len(b) == 1:
            counts[(a[0] < limit) * 2 + (b[0] < limit)] += 1
    return tuple(counts)


def selected_shares(sets: Mapping[str, SetAnswers], limit: float) -> dict[str, tuple[float, float]]:
    """Return the share of each group that a whole set selects."""

    def share(units: list[float]) -> float:
        return sum(value >= limit for value in units) / len(units)

    whole = {name: answers for name, answers in sets.items() if answers.gap is not None}
    return {
        name: (share(answers.a.units), share(answers.b.units)) for name, answers in whole.items()
    }


def value_of(values: Values, feature: str) -> float | None:
    """Return one number of an answer; that it is missing is a number too, and never missing."""
    if feature == MISSING:
        return float(not values)
    return value_among(values, feature) if values else None


def values_of(values: Sequence[Values], feature: str) -> list[float | None]:
    """Return one number of many answers."""
    if feature == MISSING or scale_of(feature) is not None:
        return [value_of(row, feature) for row in values]
    return [None if row is None else row.get(feature) for row in values]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


Counts = dict[str, tuple[int, ...]]
"""The state of one comparison's evidence, by the name of each part."""


@dataclass(frozen=True)
class RoundCounts:
    """The counts that a round adds to one comparison, and those of missing answers."""

    counts: Counts
    missing: int
    """Units with missing answers."""
    outside: int = 0
    """Values beyond the declared range, which count as missing."""


@dataclass(frozen=True)
class RoundScope:
    """The round and the claim that are counted."""

    claim: Claim
    round: int
    blocks: SuiteBlocks | None = None
    """The blocks of the suite, where random factors are declared."""

    def unit_id(self, set_id: str) -> str:
        """Return the id of what counts as one unit: (set, round) of a bank, else the set."""
        return f"{set_id}@{self.round}" if self.claim is Claim.BANK else set_id


@dataclass(frozen=True)
class RoundData:
    """A round by comparison, of a suite or of traffic."""

    counted: Mapping[str, RoundCounts]
    sets: Mapping[str, ComparedSets] = field(default_factory=dict)
    """The twins, for alarms to show; traffic has none."""
    described: tuple[Description, ...] = ()
    """The description of a window of traffic."""
    answers: RoundAnswers | None = None
    """The answers of a suite."""


def summed(a: Counts, b: Counts) -> Counts:
    """Return the counts of disjoint units together; a part that one lacks is zero there."""
    total = {}
    for name in sorted(a.keys() | b.keys()):
        one, other = a.get(name), b.get(name)
        if one is None or other is None:
            total[name] = one or other or ()
        else:
            if len(one) != len(other):
                raise ValueError(f"counts of {len(one)} and {len(other)} places do not add up")
            total[name] = tuple(map(add, one, other)) if any(other) else one
    return total


def less(a: Counts, b: Counts) -> Counts:
    """Return what is in the first counts and not in the second, which are a part of them."""
    return {
        name: tuple(x - y for x, y in zip(a[name], b[name], strict=True)) if name in b else a[name]
        for name in a
    }


SumUpTo = Callable[[int], Counts]
"""Return the sum of the epoch's rounds up to one of them."""


@dataclass(frozen=True)
class ClosedCounts:
    """A closed round of one comparison: what it adds, and the sum of its epoch with it."""

    round: Round
    added: Counts
    total: Counts
    up_to: SumUpTo
    """The same sum at the end of an earlier round; asked for when an alarm is raised."""

    @property
    def before(self) -> Counts:
        """Return the sum of the epoch's earlier rounds."""
        return less(self.total, self.added)
