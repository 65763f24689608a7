"""Seeded simulation: the quick form of `python -m calibration.search`."""

import numpy as np

from calibration.search import TOPIC, SimulatedTarget, calls_to, one_topic, simulated


def test_a_failing_topic_is_found_soon_and_nothing_else_is() -> None:
    states = [simulated(SimulatedTarget(one_topic), seed, 2_000) for seed in range(4)]
    assert np.median([calls_to(state, TOPIC) for state in states]) <= 2_000
    for state in states:
        regions = [state.sizes.region_of(finding)[:2] for finding in state.findings]
        assert regions in ([], [TOPIC])


def test_searches_without_an_effect_find_nothing() -> None:
    targets = (SimulatedTarget(name_sd=0.3), SimulatedTarget(is_fixed=True))
    states = [simulated(target, seed, 1_000) for target in targets for seed in range(3)]
    assert sum(bool(state.found_in) for state in states) <= 1
