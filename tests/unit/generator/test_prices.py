"""What an answer costs is known only where price and tokens are."""

import pytest

from biaswatch.services.generator.domain.model_calls import Price, cost_of, price_of
from tests.support.records import make_target

TABLE = {"gpt": Price(read=2, written=10), "anthropic:claude": Price(read=3, written=15)}


def test_a_price_is_found_by_provider_and_model_or_by_the_model() -> None:
    assert price_of(make_target(provider="openai", model="gpt"), TABLE) == TABLE["gpt"]
    named = make_target(provider="anthropic", model="claude")
    assert price_of(named, TABLE) == TABLE["anthropic:claude"]
    assert price_of(make_target(provider="openai", model="claude"), TABLE) is None


def test_simulated_and_recorded_answers_cost_nothing() -> None:
    assert price_of(make_target(), {}) == Price(read=0, written=0)


def test_the_cost_is_that_of_both_directions() -> None:
    assert cost_of((1_000_000, 500_000), TABLE["gpt"]) == pytest.approx(7)


def test_what_is_not_known_is_no_zero() -> None:
    assert cost_of((1, None), TABLE["gpt"]) is None
    assert cost_of((1, 1), None) is None
