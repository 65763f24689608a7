"""One call as it goes to a provider, how long to wait before it goes again, and what it costs."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, JsonValue, NonNegativeFloat

from biaswatch.services.generator.domain.scaffolds import PlannedCall
from biaswatch.shared.contracts import Message, Probe, Role, Target
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.llm.port import CallFailed, ModelAnswer, ModelCall

LONGEST_PAUSE_S = 60.0


def call_of(probe: Probe, planned: PlannedCall, timeout_s: float) -> ModelCall:
    """Return the call: the target's role first, then the probe's messages."""
    system = probe.target.system_prompt
    said = (Message(role=Role.SYSTEM, content=system),) if system else ()
    # A call that is to be separate has a name nobody else has.
    separate = probe.cache_apart and PROVIDERS[probe.target.provider].takes_cache_key
    own: dict[str, JsonValue] = {"user": probe.id, "prompt_cache_key": probe.id} if separate else {}
    return ModelCall(
        model=probe.target.model,
        messages=tuple(
            {"role": m.role.value, "content": m.content} for m in said + planned.messages
        ),
        repeat_key=probe.id,
        parameters={**probe.target.parameters, **own},
        timeout_s=timeout_s,
        recording=(probe.key, probe.scaffold, probe.repeat),
        answer_schema=planned.answer_schema,
        purpose=probe.purpose,
    )


def pause_s(failure: CallFailed, attempt: int, jitter: float) -> float:
    """Return how long to wait before asking again: what was asked for, or longer each time."""
    doubled = min(LONGEST_PAUSE_S, 0.5 * 2.0 ** min(attempt, 10)) * (0.5 + jitter / 2)
    if failure.retry_after_s is None:
        return doubled
    return failure.retry_after_s * (1 + jitter / 10)  # spread, so that all do not come at once


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
    if found is None and PROVIDERS[target.provider].free:
        return Price(read=0, written=0)
    return found


def cost_of(answer: ModelAnswer, price: Price | None) -> float | None:
    """Return what an answer cost; unknown where the price or the tokens are."""
    if price is None or answer.prompt_tokens is None or answer.completion_tokens is None:
        return None
    written = answer.completion_tokens * price.written
    return (answer.prompt_tokens * price.read + written) / 1_000_000
