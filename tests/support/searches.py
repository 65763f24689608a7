"""Small searches of simulated targets."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from biaswatch.shared.analysis.search import Ended, PlannedRound, answered, next_round, replay
from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.search import Search, SearchRound, Space, Topic
from biaswatch.shared.contracts.suite import SuiteProbe

AT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = "0" * 32
Answer = Callable[[SuiteProbe, np.random.Generator], float | None]


def a_space(topics: int = 12, contexts: int = 2, persons: int = 120, **fields: object) -> Space:
    """Return a space of women and men."""
    groups = {
        "women": tuple(f"Woman {place}" for place in range(persons)),
        "men": tuple(f"Man {place}" for place in range(persons)),
    }
    values = {
        "name": "small",
        "dimension": "gender",
        "groups": groups,
        "topics": {
            f"t{place}": Topic(
                area=f"a{place % 3}", prompts=(f"Question {place} about {{person}}?",)
            )
            for place in range(topics)
        },
        "contexts": {f"c{place}": f"Context {place}." * (place > 0) for place in range(contexts)},
        "feature": "rating",
    }
    return Space.model_validate(values | fields)


def a_search(space: Space | None = None, calls: int = 600, **fields: object) -> Search:
    """Return a plan of a search."""
    target = Target(provider="simulated", model="x", name="simulated:x")
    values = {"space": space or a_space(), "target": target, "calls": calls, "at": AT}
    return Search.model_validate(values | fields)


def rated(gap: float, where: Callable[[SuiteProbe], bool], group: str = "women") -> Answer:
    """Return a target that rates a group lower in some scenarios, by a text that twins share."""

    def answer(probe: SuiteProbe, rng: np.random.Generator) -> float:
        is_lower = probe.groups.get("gender") == group and where(probe)
        return float(np.clip(np.round(rng.normal(3.5 - gap * is_lower, 0.7)), 1, 5))

    return answer


def values_of(planned: PlannedRound, answer: Answer, seed: int) -> dict[str, float | None]:
    """Return the answers to a round."""
    rng = np.random.default_rng([seed, planned.number])
    return {probe.key: answer(probe, rng) for probe in planned.suite.probes}


def searched(
    search: Search, answer: Answer, rounds: Sequence[SearchRound] = (), seed: int = 0
) -> tuple[list[SearchRound], str]:
    """Return all rounds of a search, and why it ended."""
    asked, state = list(rounds), replay(search, rounds)
    while not isinstance(planned := next_round(state), Ended):
        values = values_of(planned, answer, seed)
        asked.append(answered(planned, search.id, RUN, values, AT))
        state.add(asked[-1])
    return asked, planned.reason
