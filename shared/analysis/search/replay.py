"""Replay of a search: evidence, findings and confirmation, from its rounds alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from biaswatch.shared.analysis.search.drawing import Drawing, DrawnSet
from biaswatch.shared.contracts.search import AskedSet, Search, SearchRound, SetPurpose
from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.search.evidence import Evidence, updated
from biaswatch.shared.stats.search.hypotheses import Cells, SearchSpace


@dataclass
class Replay:
    """The state of a search after its rounds."""

    search: Search
    sizes: SearchSpace
    drawing: Drawing
    evidence: Evidence
    rounds: list[list[DrawnSet]] = field(default_factory=list)

    @property
    def sets(self) -> int:
        """Return the number of sets that were asked."""
        return sum(map(len, self.rounds))

    @property
    def calls(self) -> int:
        """Return the number of twins that were asked."""
        return self.sets * self.sizes.groups

    @property
    def measured(self) -> int:
        """Return the number of sets with an answer of every twin."""
        return sum(is_complete(drawn.asked) for sets in self.rounds for drawn in sets)

    @property
    def placebo_sets(self) -> int:
        """Return the number of placebo sets that were asked."""
        return sum(d.asked.purpose is SetPurpose.PLACEBO for sets in self.rounds for d in sets)

    @property
    def pending_sets(self) -> int:
        """Return the number of confirmation sets that are still to be asked."""
        return 0

    def confirmation_sets(self, size: int, rng: np.random.Generator) -> list[AskedSet]:
        """Return the next confirmation sets."""
        return []

    def asked_sets(self, cells: Cells, purpose: SetPurpose) -> list[AskedSet]:
        """Return sets without answers in cells."""
        topics, contexts = list(self.search.space.topics), list(self.search.space.contexts)
        return [
            AskedSet(
                topic=topics[topic],
                context=contexts[context],
                purpose=purpose,
                values=(None,) * self.sizes.groups,
            )
            for topic, context in zip(cells.topics, cells.contexts, strict=True)
        ]


def replay(search: Search, rounds: Sequence[SearchRound]) -> Replay:
    """Return the state of a search after its rounds."""
    space = search.space
    sizes = SearchSpace(len(space.topics), len(space.contexts), len(space.groups))
    state = Replay(search, sizes, Drawing(search), Evidence.none(sizes))
    for round_ in rounds:
        sets = list(state.drawing.draw(round_.number, round_.sets))
        state.rounds.append(sets)
        state.evidence = updated(state.evidence, sizes, *evidence_of(search, sets))
    return state


def is_complete(asked: AskedSet) -> bool:
    """Return whether every twin has an answer."""
    return None not in asked.values


def evidence_of(search: Search, sets: Sequence[DrawnSet]) -> tuple[Cells, Floats, Bools]:
    """Return the cells, answers and counts of the sets that are evidence."""
    space = search.space
    topics = {name: place for place, name in enumerate(space.topics)}
    contexts = {name: place for place, name in enumerate(space.contexts)}
    counted = [d for d in sets if any(d.counted) and is_complete(d.asked)]
    cells = Cells.of(
        np.array([topics[d.asked.topic] for d in counted], dtype=np.int64),
        np.array([contexts[d.asked.context] for d in counted], dtype=np.int64),
    )
    values = np.array([d.asked.values for d in counted], dtype=np.float64)
    values = values.reshape(len(counted), len(space.groups)) / (space.high - space.low)
    kinds = np.array([(*d.counted, False) for d in counted], dtype=np.bool_)
    return cells, values, kinds.reshape(len(counted), 5)
