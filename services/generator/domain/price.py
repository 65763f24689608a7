"""What calls cost, by the operator's own price table; there are no prices of ours to go stale."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, NonNegativeFloat

from shared.contracts import Target
from shared.llm.port import Answer

FREE = ("replay", "simulator")


class Price(BaseModel):
    """What a million tokens of one model cost."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    read: NonNegativeFloat
    """A million tokens of the question."""
    written: NonNegativeFloat
    """A million tokens of the answer."""


Prices = Mapping[str, Price]
"""By `provider:model`, or by the model's name alone."""


def price_of(target: Target, prices: Prices) -> Price | None:
    """Return a target's price; None where the table does not name it."""
    found = prices.get(f"{target.provider}:{target.model}") or prices.get(target.model)
    if found is None and target.provider in FREE:
        return Price(read=0, written=0)
    return found


def cost_of(answer: Answer, price: Price | None) -> float | None:
    """Return what an answer cost; unknown where the price or the tokens are."""
    if price is None or answer.prompt_tokens is None or answer.completion_tokens is None:
        return None
    written = answer.completion_tokens * price.written
    return (answer.prompt_tokens * price.read + written) / 1_000_000
