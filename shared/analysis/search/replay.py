"""Replay of a search: evidence, findings and confirmation, from its rounds alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import ceil

import numpy as np

from biaswatch.shared.analysis.search.drawing import Drawing, DrawnSet
from biaswatch.shared.contracts.search import (
    MOST_PROPOSED,
    AskedSet,
    Search,
    SearchRound,
    SetPurpose,
    Space,
    Topic,
)
from biaswatch.shared.stats.arrays import Floats, Ints
from biaswatch.shared.stats.search.distinct import NARROW_TO_WIDE, SearchBatch, distinct_findings
from biaswatch.shared.stats.search.evidence import SearchEvidence, updated
from biaswatch.shared.stats.search.hypotheses import AskedCells, Region, SearchSpace

MIN_CONFIRMATION_SETS, MAX_CONFIRMATION_SETS = 30, 80
CONFIRMATION_VARIANCES = 16
"""Confirmation sets times the squared gap over the variance: a power of about 0.95 at the level
0.025, and less where the observed gap exceeds the true one."""


@dataclass
class Confirmation:
    """Fresh twins for a finding."""

    needed: int
    """Number of sets; fixed when the finding is made."""
    answers: list[tuple[float | None, ...]] = field(default_factory=list)
    """The answers of the sets that were sent; null where a question was repeated."""

    @property
    def pending(self) -> int:
        """Return the number of sets that are still to be sent."""
        return self.needed - len(self.answers)


@dataclass
class SearchState:
    """The state of a search after its rounds."""

    search: Search
    drawing: Drawing
    rounds: list[list[DrawnSet]] = field(default_factory=list)
    batches: list[SearchBatch] = field(default_factory=list)
    findings: list[int] = field(default_factory=list)
    """Rejected hypotheses with evidence of their own, strongest first."""
    discovery_rounds: dict[int, int] = field(default_factory=dict)
    """The number of the round that rejected each hypothesis."""
    confirmations: dict[int, Confirmation] = field(default_factory=dict)
    """By hypothesis, oldest first."""

    def __post_init__(self) -> None:
        space, proposals = self.search.space, MOST_PROPOSED if self.search.proposer else 0
        self.sizes = SearchSpace(
            len(space.topics), len(space.contexts), len(space.groups), proposals
        )
        self.evidence = SearchEvidence.none(self.sizes)
        self.contexts = {name: place for place, name in enumerate(space.contexts)}
        """The number of each context."""
        self.topics: dict[str, int] = {}
        """The number of each topic; proposed scenarios come after the space's own topics."""
        self.sets_by_cell = np.zeros((0, len(space.contexts)), dtype=np.int64)
        """[topics, contexts]: sets asked as evidence."""
        self.extend(space.topics)
        self.purposes: Counter[SetPurpose] = Counter()
        """Sets that were sent."""
        self.measured = 0
        """Sets with an answer of every twin."""
        self.requests = 0
        """Rounds that asked a model for scenarios."""
        self.proposed: dict[str, int] = {}
        """The number of the round that proposed each scenario."""
        self.refused = 0
        """Proposals that were not accepted."""

    @property
    def sets(self) -> int:
        """Return the number of sets that were sent."""
        return self.purposes.total()

    @property
    def calls(self) -> int:
        """Return the number of twins and of requests for scenarios that were sent."""
        return self.sets * self.sizes.groups + self.requests

    @property
    def space(self) -> Space:
        """Return the space, including accepted proposals."""
        return self.drawing.space

    def extend(self, topics: Mapping[str, Topic]) -> None:
        """Add topics, available from the next round on."""
        all_topics = {**self.space.topics, **topics}
        self.drawing.space = self.space.model_copy(update={"topics": all_topics})
        self.topics = {name: place for place, name in enumerate(all_topics)}
        new = np.zeros((len(all_topics) - len(self.sets_by_cell), len(self.contexts)), np.int64)
        self.sets_by_cell = np.concatenate([self.sets_by_cell, new])

    def pending(self) -> Iterator[int]:
        """Yield the finding of each confirmation set that is still to be sent."""
        waiting = (n for n in self.confirmations if n in self.findings)
        return chain.from_iterable([n] * self.confirmations[n].pending for n in waiting)

    def add(self, round_: SearchRound) -> None:
        """Add the answers of a round, or the scenarios that a model proposed in it."""
        self.requests += not round_.sets
        self.refused += round_.refused
        self.proposed |= dict.fromkeys(round_.proposed, round_.number)
        self.add_drawn(round_.number, list(self.drawing.draw(round_.number, round_.sets)))
        self.extend(round_.proposed)

    def add_drawn(self, number: int, sets: list[DrawnSet]) -> None:
        """Add the answers of a round whose persons are drawn."""
        confirming = [d for d in sets if d.record.purpose is SetPurpose.CONFIRMATION]
        for finding, drawn in zip(islice(self.pending(), len(confirming)), confirming, strict=True):
            values = drawn.record.values if drawn.new_prompts else (None,) * self.sizes.groups
            self.confirmations[finding].answers.append(values)
        batch = self._batch(sets)
        self.rounds.append(sets)
        self.batches.append(batch)
        for set_ in (drawn.record for drawn in sets):
            self.purposes[set_.purpose] += 1
            self.measured += is_complete(set_)
            is_evidence = set_.purpose is SetPurpose.EVIDENCE
            self.sets_by_cell[self.topics[set_.topic], self.contexts[set_.context]] += is_evidence
        self.evidence = updated(
            self.evidence, self.sizes, batch.cells, batch.answers, batch.counted
        )
        self._find(number)

    def _batch(self, sets: Sequence[DrawnSet]) -> SearchBatch:
        """Return the sets of a round that are evidence."""
        space, evidence = self.search.space, [d for d in sets if _is_evidence(d)]
        answers = np.array([d.record.values for d in evidence], dtype=np.float64)
        counted = np.array([drawn.counted for drawn in evidence], dtype=np.bool_)
        return SearchBatch(
            self._cells([d.record for d in evidence]),
            answers.reshape(len(evidence), self.sizes.groups) / (space.high - space.low),
            counted.reshape(len(evidence), len(Region)),
        )

    def _cells(self, sets: Sequence[AskedSet]) -> AskedCells:
        return AskedCells(
            np.array([self.topics[record.topic] for record in sets], dtype=np.int64),
            np.array([self.contexts[record.context] for record in sets], dtype=np.int64),
        )

    def _find(self, number: int) -> None:
        """Add the findings of the last round.

        Their regions are examined again where the number of rounds is a power of 2: after few sets,
        other topics may seem to share the gap of one.
        """
        rejected = np.flatnonzero(self.evidence.rejected(self.sizes, self.search.alpha)).tolist()
        new = [hypothesis for hypothesis in rejected if hypothesis not in self.discovery_rounds]
        self.discovery_rounds |= dict.fromkeys(new, number)
        if new or (self.findings and (number + 1).bit_count() == 1):
            self.findings = distinct_findings(
                self.sizes, self.search.alpha, self.evidence, self.batches
            )
        for finding in self.findings:
            self.confirmations.setdefault(finding, Confirmation(self._sets_needed(finding)))

    def _sets_needed(self, finding: int) -> int:
        """Return the number of confirmation sets for the observed gap and variance."""
        past = self.evidence.past
        mean = past.sums[finding] / past.sets[finding]
        variance = past.squares[finding] / past.sets[finding] - mean**2
        needed = ceil(CONFIRMATION_VARIANCES * variance / mean**2) if mean else 0
        return min(max(needed, MIN_CONFIRMATION_SETS), MAX_CONFIRMATION_SETS)

    def evidence_cells(self, finding: int) -> Ints:
        """Return [sets, 2]: topic and context of the evidence for a finding alone."""
        kinds = {number: self.sizes.region_of(number)[0] for number in self.findings}
        width = NARROW_TO_WIDE.index(kinds[finding])
        narrower = [n for n, kind in kinds.items() if NARROW_TO_WIDE.index(kind) < width]
        cells = SearchBatch.merged(self.batches).outside(self.sizes, narrower).cells
        cells = cells[self.sizes.contains(finding, cells)]
        return np.column_stack([cells.topics, cells.contexts])

    def _cells_to_ask(self, finding: int, purpose: SetPurpose) -> Ints:
        topics, contexts = list(self.topics), list(self.contexts)
        cells = self.evidence_cells(finding)
        is_new = [
            self.drawing.new_prompts(topics[topic], contexts[context], purpose) > 0
            for topic, context in cells
        ]
        return cells[is_new] if any(is_new) else cells

    def sets_for(
        self, findings: Sequence[int], purpose: SetPurpose, rng: np.random.Generator
    ) -> list[AskedSet]:
        """Return a set for each finding, in a scenario drawn from those of its evidence.

        Scenarios with new questions come first.
        """
        cells = {finding: self._cells_to_ask(finding, purpose) for finding in set(findings)}
        drawn = [rng.choice(cells[finding]) for finding in findings]
        pairs = np.array(drawn, dtype=np.int64).reshape(-1, 2)
        return self.unanswered_sets(AskedCells(pairs[:, 0], pairs[:, 1]), purpose)

    def unanswered_sets(self, cells: AskedCells, purpose: SetPurpose) -> list[AskedSet]:
        """Return a set without answers for each cell."""
        topics, contexts = list(self.topics), list(self.contexts)
        return [
            AskedSet(
                topic=topics[topic],
                context=contexts[context],
                purpose=purpose,
                values=(None,) * self.sizes.groups,
            )
            for topic, context in zip(cells.topics, cells.contexts, strict=True)
        ]


def replay(search: Search, rounds: Sequence[SearchRound]) -> SearchState:
    """Return the state of a search after its rounds."""
    state = SearchState(search, Drawing(search))
    for round_ in rounds:
        state.add(round_)
    return state


def is_complete(record: AskedSet) -> bool:
    """Return whether every twin has an answer."""
    return None not in record.values


def contrasts_of(answers: Floats) -> Floats:
    """Return [sets, groups]: each group's answer minus the mean of the others."""
    other_means = (answers.sum(axis=1, keepdims=True) - answers) / (answers.shape[1] - 1)
    return np.asarray(answers - other_means)


def _is_evidence(drawn: DrawnSet) -> bool:
    return True in drawn.counted and is_complete(drawn.record)
