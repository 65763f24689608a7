"""Seeded simulation of whole monitors through the diagnoser's decisions: promises are kept.

The quick forms, with fewer monitors and a looser alpha, which shows sooner what exceeds it; `make
calibration` runs the full ones.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from _pytest.mark import ParameterSet

from calibration.monitors.__main__ import kept, share_of
from calibration.monitors.scenarios import FALSE_ALARMS, FOUND, Scenario

FEW, LOOSE = 8, 0.2  # six alarms of eight are too many
SHORT = [scenario for scenario in FALSE_ALARMS if not scenario.epoch_rounds]


def quarter_of(scenarios: Sequence[Scenario]) -> list[ParameterSet]:
    """Return all scenarios; three of four are marked as slow."""
    return [
        pytest.param(scenario, marks=[pytest.mark.slow] if number % 4 else [], id=scenario.name)
        for number, scenario in enumerate(scenarios)
    ]


@pytest.mark.parametrize("scenario", quarter_of(SHORT))
def test_false_alarms_of_a_monitor_are_at_most_alpha(scenario: Scenario) -> None:
    loose = replace(scenario, alpha=LOOSE, at_most=LOOSE)
    assert kept(loose, share_of(loose, FEW), FEW)


@pytest.mark.parametrize("scenario", quarter_of(FOUND))
def test_gaps_and_changes_are_found_cleared_and_found_again(scenario: Scenario) -> None:
    assert kept(scenario, share_of(scenario, FEW), FEW)
