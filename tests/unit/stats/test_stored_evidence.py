"""States of evidence travel as JSON and come back as they were."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.discordant import DiscordantPairs
from biaswatch.shared.stats.anytime.four_fifths import SelectionShares
from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.pairs import PairHistogram
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms

RNG = np.random.default_rng(1)
STATES = [
    PairHistogram.of(RNG.uniform(-1, 1, 500), RNG.random(500)) + PairHistogram.unknown(3),
    CommonOdds.of([Batch(300, 1000, 250, 900)] * 500),
    DiscordantPairs(3, 4, 5),
    SelectionShares.of_pairs(1, 2, 3, 4),
    TwoHistograms.of(RNG.random(50), RNG.random(40), RNG.random(50), RNG.random(40)),
]


def restored(kind: Any, numbers: dict[str, Any]) -> Any:
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in numbers.items()})


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state).__name__)
def test_a_state_survives_json_and_is_small(state: Any) -> None:
    text = json.dumps(asdict(state))
    assert restored(type(state), json.loads(text)) == state
    assert len(text) < 5_000


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state).__name__)
def test_an_increment_of_nothing_changes_nothing(state: Any) -> None:
    empty = PairHistogram.empty() if isinstance(state, PairHistogram) else type(state)()
    assert state + empty == empty + state == state
    assert empty.units == 0
