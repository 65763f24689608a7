"""Seeded simulation: the quick form of `python -m calibration.search`."""

from calibration.search.__main__ import TOPIC, one_topic
from calibration.search.targets import SimulatedTarget, simulated


def test_a_failing_topic_is_found_and_nothing_else_is() -> None:
    states = [simulated(SimulatedTarget(one_topic), seed, 4_000) for seed in range(3)]
    assert sum(bool(state.findings) for state in states) >= 2
    for state in states:
        cells = [state.evidence_cells(finding) for finding in state.findings]
        assert all((topics == TOPIC[1]).all() for topics in (rows[:, 0] for rows in cells))


def test_searches_without_an_effect_find_nothing() -> None:
    targets = (SimulatedTarget(name_sd=0.3), SimulatedTarget(is_fixed=True))
    states = [simulated(target, seed, 1_000) for target in targets for seed in range(3)]
    assert sum(bool(state.discovery_rounds) for state in states) <= 1
