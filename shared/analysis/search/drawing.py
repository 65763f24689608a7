"""Drawing of persons and wordings: the same for the same search and rounds."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from biaswatch.shared.contracts.search import AskedSet, Search, SetPurpose
from biaswatch.shared.stats.search.hypotheses import Region

MIN_NAMES = 100
"""Minimum persons per group for findings about the group beyond these names."""
HELD_OUT_SHARE = 0.2
"""Share of each group's persons for confirmation twins alone, where there are enough persons."""
NOT_COUNTED = (False,) * len(Region)
_WORDINGS, _PERSONS = 1, 2
_PersonsByPrompt = defaultdict[tuple[str, str, int], set[str]]
"""Persons by topic, context and wording."""


def is_about_names(search: Search) -> bool:
    """Return whether findings are about these names alone."""
    return min(map(len, search.space.groups.values())) < MIN_NAMES


class DrawnSet(NamedTuple):
    """A set with its persons and its wording."""

    record: AskedSet
    number: int
    """The round."""
    wording: int
    """The number of the topic's wording."""
    persons: tuple[str, ...]
    """One for each twin."""
    groups: tuple[int, ...]
    """The group of each person."""
    new_prompts: bool
    """True if none of its prompts was sent before."""
    counted: tuple[bool, ...]
    """True if it counts as evidence for its region of each kind."""


@dataclass
class _Queue:
    """Persons of one group in random order; a new order begins where all were drawn."""

    persons: tuple[str, ...]
    seeds: tuple[int, ...]
    waiting: list[str] = field(default_factory=list)
    shuffles: int = 0

    def next(self, known: set[str]) -> str:
        """Return the next person with a new prompt, or else the next person."""
        for _ in range(2):
            for place, person in enumerate(self.waiting):
                if person not in known:
                    return self.waiting.pop(place)
            self._shuffle()
        return self.waiting.pop(0)

    def _shuffle(self) -> None:
        """Append the persons in a new order."""
        rng = np.random.default_rng([*self.seeds, self.shuffles, _PERSONS])
        self.waiting += [self.persons[place] for place in rng.permutation(len(self.persons))]
        self.shuffles += 1


class Drawing:
    """State of the drawing of persons; draw sets in the order of sending."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.space = search.space
        """The space, including accepted proposals."""
        self.about_names = is_about_names(search)
        """True if findings are about these names alone."""
        self._asked: _PersonsByPrompt = defaultdict(set)
        self._used: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        """Persons by region, as evidence."""
        self._queues = {purpose: self._queues_for(purpose) for purpose in SetPurpose}
        if self.about_names:
            self._queues[SetPurpose.CONFIRMATION] = self._queues[SetPurpose.EVIDENCE]

    @property
    def persons(self) -> int:
        """Return the number of persons of the smallest group that can be evidence."""
        return self._new(set(), SetPurpose.EVIDENCE)

    def new_prompts(
        self, topic: str, context: str, purpose: SetPurpose = SetPurpose.EVIDENCE
    ) -> int:
        """Return an upper limit of the sets of a cell that can have new prompts."""
        wordings = range(len(self.space.topics[topic].prompts))
        known = (self._asked.get((topic, context, wording), set()) for wording in wordings)
        return sum(self._new(persons, purpose) for persons in known)

    def new_persons(self, *region: str) -> int:
        """Return an upper limit of the sets of a region with persons that are new there."""
        return self._new(self._used.get(region, set()), SetPurpose.EVIDENCE)

    def _new(self, known: set[str], purpose: SetPurpose) -> int:
        if not known:
            return min(len(queue.persons) for queue in self._queues[purpose])
        return min(len(set(queue.persons) - known) for queue in self._queues[purpose])

    def copy(self) -> "Drawing":
        """Return a drawing that continues from here and leaves this one unchanged."""
        return deepcopy(self, {id(self._search): self._search, id(self.space): self.space})

    def _queues_for(self, purpose: SetPurpose) -> list[_Queue]:
        held_out, place = purpose is SetPurpose.CONFIRMATION, list(SetPurpose).index(purpose)
        queues = []
        for group, persons in enumerate(self._search.space.groups.values()):
            if not self.about_names:
                rng = np.random.default_rng([self._search.seed, group, _PERSONS])
                order = [persons[number] for number in rng.permutation(len(persons))]
                kept = int(HELD_OUT_SHARE * len(persons))
                persons = tuple(order[:kept] if held_out else order[kept:])
            queues.append(_Queue(persons, (self._search.seed, place + 1, group + 1)))
        return queues

    def draw(self, number: int, sets: Sequence[AskedSet]) -> Iterator[DrawnSet]:
        """Yield the sets of a round with their persons."""
        rng = np.random.default_rng([self._search.seed, number, _WORDINGS])
        shares, groups = rng.random(len(sets)), len(self._search.space.groups)
        placebo = rng.integers(groups, size=len(sets))
        for place, record in enumerate(sets):
            topic = self.space.topics[record.topic]
            wording = int(shares[place] * len(topic.prompts))
            of_twins = tuple(range(groups))
            if record.purpose is SetPurpose.PLACEBO:
                of_twins = (int(placebo[place]),) * groups
            yield self._drawn(record, number, wording, of_twins)

    def _drawn(
        self, record: AskedSet, number: int, wording: int, groups: tuple[int, ...]
    ) -> DrawnSet:
        is_placebo = record.purpose is SetPurpose.PLACEBO
        cell = record.topic, record.context, wording
        known: set[str] = set() if is_placebo else self._asked[cell]
        persons, is_new = list[str](), True
        for group in groups:
            person = self._queues[record.purpose][group].next(known)
            is_new = is_new and person not in known
            known.add(person)
            persons.append(person)
        is_evidence = record.purpose is SetPurpose.EVIDENCE and is_new
        counted = self._counted(record, persons) if is_evidence else NOT_COUNTED
        return DrawnSet(record, number, wording, tuple(persons), groups, is_new, counted)

    def _counted(self, record: AskedSet, persons: Sequence[str]) -> tuple[bool, ...]:
        """Return whether the set counts for its region of each kind.

        A set counts for a region unless one of its persons was used there before: answers about
        one person are correlated, so a second one adds no evidence about the group. Where findings
        are about these names alone, every new prompt counts.
        """
        if self.about_names:
            return (True,) * len(Region)
        regions = [("topic", record.topic), ("context", record.context), ("everywhere",)]
        if record.topic not in self._search.space.topics:
            return (*NOT_COUNTED[1:], self._are_fresh(regions[0], persons))
        topic, context, everywhere = (self._are_fresh(region, persons) for region in regions)
        return topic, context, everywhere, topic, False

    def _are_fresh(self, region: tuple[str, ...], persons: Sequence[str]) -> bool:
        """Return whether none of some persons was used in a region before; note them."""
        used = self._used[region]
        fresh = used.isdisjoint(persons)
        used.update(persons)
        return fresh
