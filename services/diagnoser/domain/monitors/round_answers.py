"""The answers of a round, sorted for one comparison, and the whole numbers they become."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shared.contracts import MISSING, Claim, Comparison, Description

Values = Mapping[str, float | None] | None
"""What an extractor read from an answer; None where it read nothing, or nothing came."""


@dataclass(frozen=True)
class MeasuredAnswer:
    """One response as measured by one extractor."""

    set: str
    unit: str
    groups: Mapping[str, str]
    extractor: str
    response_id: str
    values: Values


@dataclass
class GroupAnswers:
    """The answers of one group within a set."""

    by_group: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """Values by group and unit: the rest may be several groups."""
    missing: int = 0
    responses: list[str] = field(default_factory=list)

    @property
    def there(self) -> bool:
        """Tell whether the set has this side at all."""
        return bool(self.responses)

    @property
    def units(self) -> list[float]:
        """The mean of each unit."""
        return [_mean(values) for units in self.by_group.values() for values in units.values()]

    @property
    def mean(self) -> float | None:
        """The mean over groups of the means over units; None where any answer is missing.

        The mean of those that came would be about other answers in every round.
        """
        if self.missing or not self.by_group:
            return None
        groups = ([_mean(v) for v in units.values()] for units in self.by_group.values())
        return _mean([_mean(units) for units in groups])


@dataclass
class SetAnswers:
    """A set as one comparison sees it."""

    a: GroupAnswers = field(default_factory=GroupAnswers)
    b: GroupAnswers = field(default_factory=GroupAnswers)

    @property
    def compared(self) -> bool:
        """Tell whether both groups belong to the set."""
        return self.a.there and self.b.there

    @property
    def gap(self) -> float | None:
        """First less second, in the feature's units."""
        a, b = self.a.mean, self.b.mean
        return None if a is None or b is None else a - b

    @property
    def level(self) -> float | None:
        """The mean of both groups, in the feature's units."""
        a, b = self.a.mean, self.b.mean
        return None if a is None or b is None else (a + b) / 2


@dataclass(frozen=True)
class ComparedSets:
    """Every set of a round that one comparison is about."""

    sets: Mapping[str, SetAnswers]
    outside: int
    """Values beyond the declared range."""


def compared_sets(comparison: Comparison, answers: Iterable[MeasuredAnswer]) -> ComparedSets:
    """Sort the answers for one comparison; values beyond the range count as missing."""
    pair, watched = comparison.pair, comparison.watched
    sets: dict[str, SetAnswers] = defaultdict(SetAnswers)
    outside = 0
    for answer in answers:
        group = answer.groups.get(pair.dimension)
        if answer.extractor != watched.extractor or group is None:
            continue
        if group != pair.a and pair.b is not None and group != pair.b:
            continue
        side = sets[answer.set].a if group == pair.a else sets[answer.set].b
        value = value_of(answer.values, watched.feature)
        if value is not None and not watched.low <= value <= watched.high:
            value, outside = None, outside + 1
        side.responses.append(answer.response_id)
        if value is None:
            side.missing += 1
        else:
            side.by_group.setdefault(group, {}).setdefault(answer.unit, []).append(value)
    return ComparedSets(dict(sorted(sets.items())), outside)


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

    whole = {name: each for name, each in sets.items() if each.gap is not None}
    return {name: (share(each.a.units), share(each.b.units)) for name, each in whole.items()}


def value_of(values: Values, feature: str) -> float | None:
    """Return one number of an answer; that it is missing is a number too, and never missing."""
    if feature == MISSING:
        return float(not values)
    return values.get(feature) if values else None


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


Counts = dict[str, tuple[int, ...]]
"""The state of one comparison's evidence, by the name of each part."""


@dataclass(frozen=True)
class RoundCounts:
    """What a round adds to one comparison, and how many units it could not count."""

    counts: Counts
    missing: int


@dataclass(frozen=True)
class RoundScope:
    """Which round of which claim is counted."""

    claim: Claim
    round: int

    def unit_id(self, set_id: str) -> str:
        """Return the id of what counts as one unit: (set, round) of a bank, else the set."""
        return f"{set_id}@{self.round}" if self.claim is Claim.BANK else set_id


@dataclass(frozen=True)
class RoundData:
    """A round by comparison, whether a suite was asked or traffic was watched."""

    counted: Mapping[str, RoundCounts]
    outside: Mapping[str, int]
    """Values beyond the declared range."""
    sets: Mapping[str, ComparedSets] = field(default_factory=dict)
    """The twins, for alarms to show; traffic has none."""
    described: tuple[Description, ...] = ()
    """What a window of traffic looked like."""


def summed(a: Counts, b: Counts) -> Counts:
    """Return the counts of disjoint units together."""
    both = {name: zip(a[name], b[name], strict=True) for name in sorted(a)}
    return {name: tuple(x + y for x, y in places) for name, places in both.items()}
