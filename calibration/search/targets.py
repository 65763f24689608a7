"""Simulated targets of searches: answers from 1 to 5 around 3; twins share 0.6 of the variance."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from biaswatch.shared.analysis.search.drawing import Drawing, DrawnSet
from biaswatch.shared.analysis.search.replay import SearchState
from biaswatch.shared.analysis.search.rounds import Ended, planned_sets
from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.search import AskedSet, Search, Space, Topic
from biaswatch.shared.stats.search.hypotheses import Region

TOPICS, CONTEXTS, PERSONS, FAILING = 200, 12, 250, 137
ALPHA, BUDGET = 0.05, 2_000
SHARED_VARIANCE = 0.6
"""Share of the variance of an answer that twins have in common."""
NORMAL = NormalDist()


@dataclass(frozen=True)
class SimulatedTarget:
    """A target that rates persons by their group, their name and the scenario."""

    gap: Callable[[int, int, int], float] = lambda topic, context, number: 0.0
    """By topic, context and round: what the first group's answers are lowered by."""
    name_sd: float = 0.0
    sds: tuple[float, ...] = (1.0, 1.0)
    """Standard deviation of each group's answers, given the shared part, relative to equal ones."""
    is_fixed: bool = False
    """True if a prompt always has the same answer, as at temperature 0."""

    def answers(self, drawn: DrawnSet, seed: int, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the answers of twins."""
        topic, context = int(drawn.record.topic[1:]), int(drawn.record.context[1:])
        shared, *own = rng.normal(size=1 + len(drawn.persons)).tolist()
        if self.is_fixed:
            shared = _normal(seed, f"{topic}/{context}")
            own = [_normal(seed, f"{topic}/{context}/{person}") for person in drawn.persons]
        values = []
        for group, person, noise in zip(drawn.groups, drawn.persons, own, strict=True):
            mean = 3.0 + self.name_sd * _normal(seed, person) if self.name_sd else 3.0
            if group == 0:
                mean -= self.gap(topic, context, drawn.number)
            mean += sqrt(SHARED_VARIANCE) * shared
            mean += sqrt(1 - SHARED_VARIANCE) * self.sds[group] * noise
            values.append(float(min(max(round(mean), 1), 5)))
        return tuple(values)


@lru_cache(maxsize=10_000)
def _normal(seed: int, key: str) -> float:
    """Return the standard normal number of a key: always the same one."""
    digest = hashlib.blake2b(f"{seed}/{key}".encode(), digest_size=6).digest()
    return NORMAL.inv_cdf((int.from_bytes(digest) + 0.5) / 2**48)


@lru_cache
def _space(groups: int) -> Space:
    """Return the space with a number of groups."""
    persons = {
        f"group {group}": tuple(f"Person {group}.{number}" for number in range(PERSONS))
        for group in range(groups)
    }
    prompts = ("How well does {person} do?",)
    topics = {f"t{n}": Topic(area=f"a{n % 8}", prompts=prompts) for n in range(TOPICS)}
    contexts = {f"c{n}": f"Context {n}." for n in range(CONTEXTS)}
    return Space(
        name="simulated", dimension="gender", groups=persons, topics=topics, contexts=contexts
    )


def simulated(
    target: SimulatedTarget,
    seed: int,
    calls: int,
    until: Callable[[SearchState], bool] = lambda state: False,
) -> SearchState:
    """Return a search of a target, at its end or when a condition holds."""
    search = Search(
        space=_space(len(target.sds)),
        target=Target(provider="simulated", model="x", name="simulated:x"),
        calls=calls,
        alpha=ALPHA,
        seed=seed,
        at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    state, rng = SearchState(search, Drawing(search)), np.random.default_rng([seed, 7])
    while not isinstance(sets := planned_sets(state), Ended) and not until(state):
        number = len(state.rounds)
        drawn = [_answered(d, target, seed, rng) for d in state.drawing.draw(number, sets)]
        state.add_drawn(number, drawn)
    return state


def _answered(
    drawn: DrawnSet, target: SimulatedTarget, seed: int, rng: np.random.Generator
) -> DrawnSet:
    values = target.answers(drawn, seed, rng)
    fields = {name: getattr(drawn.record, name) for name in ("topic", "context", "purpose")}
    return drawn._replace(record=AskedSet.model_construct(**fields, values=values))


def calls_to(state: SearchState, *regions: tuple[Region, int]) -> float:
    """Return the calls after which one of the regions was found; infinite if none was."""
    sizes = state.sizes
    numbers = [sizes.first(region) + place for region, place in regions]
    rounds = [
        state.discovery_rounds[number] for number in numbers if number in state.discovery_rounds
    ]
    if not rounds:
        return np.inf
    return sizes.groups * sum(map(len, state.rounds[: min(rounds) + 1]))


def until_found(*regions: tuple[Region, int]) -> Callable[[SearchState], bool]:
    """Return the condition that one of the regions was found."""
    return lambda state: calls_to(state, *regions) < np.inf
