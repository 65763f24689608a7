"""Requests to providers: their content, the delay before a retry, and their cost."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, NonNegativeFloat

from biaswatch.services.generator.domain.planned_calls import PlannedCall
from biaswatch.shared.backoff import Backoff
from biaswatch.shared.contracts import Message, Probe, Role, Target
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.contracts.target import BATCH
from biaswatch.shared.llm.port import CallFailed, ModelCall, Tokens

RETRY_BACKOFF = Backoff(first_s=0.5, max_s=60.0)


def call_of(probe: Probe, planned: PlannedCall, timeout_s: float) -> ModelCall:
    """Return the request: the target's role first, then the messages of the planned call."""
    target = planned.target or probe.target
    system = target.system_prompt
    role = (Message(role=Role.SYSTEM, content=system),) if system else ()
    # A key that no other call has keeps the provider from answering out of its prompt cache.
    separate = probe.cache_apart and PROVIDERS[target.provider].takes_cache_key
    keys: dict[str, JsonValue] = {"user": probe.id, "prompt_cache_key": probe.id}
    return ModelCall(
        model=target.model,
        messages=tuple(
            _wire_message(message) for message in role + _context(probe) + planned.messages
        ),
        repeat_key=probe.id,
        parameters={
            name: value
            for name, value in {**target.parameters, **(keys if separate else {})}.items()
            if name != BATCH
        },
        timeout_s=timeout_s,
        recording=(probe.key, probe.scaffold, probe.repeat),
        answer_schema=planned.answer_schema,
        enforced=planned.enforced,
        continuations=planned.continuations,
        purpose=probe.purpose,
        tools=planned.tools,
    )


def _wire_message(message: Message) -> dict[str, Any]:
    """Return a message as Chat Completions writes it."""
    fields: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.call_id:
        fields["tool_call_id"] = message.call_id
    if message.calls:
        fields["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return fields


def _context(probe: Probe) -> tuple[Message, ...]:
    """Return the messages before a question that a scaffold builds from variables."""
    return probe.messages if probe.variables else ()


def pause_s(failure: CallFailed, attempt: int, jitter: float) -> float:
    """Return the delay before a retry; `attempt` counts from 0, jitter is uniform in [0, 1)."""
    if failure.retry_after_s is None:
        return RETRY_BACKOFF.delay_s(attempt + 1, jitter)
    return failure.retry_after_s * (1 + jitter / 10)


class Price(BaseModel):
    """Price of a million tokens of one model."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    read: NonNegativeFloat
    """A million tokens of input."""
    written: NonNegativeFloat
    """A million tokens of output."""


BATCH_PRICE = 0.5
"""The price of a call in a batch, as a share of the usual one."""
Prices = Mapping[str, Price]
"""By `provider:model`, or by the model's name alone."""


def price_of(target: Target, prices: Prices) -> Price | None:
    """Return the price of a target, half of it in batches; None if the table does not name it."""
    price = prices.get(f"{target.provider}:{target.model}") or prices.get(target.model)
    if price is None:
        return Price(read=0, written=0) if PROVIDERS[target.provider].free else None
    share = BATCH_PRICE if target.in_batches else 1.0
    return Price(read=price.read * share, written=price.written * share)


def cost_of(tokens: Tokens, price: Price | None) -> float | None:
    """Return the cost of a call; None if its price or its tokens are unknown."""
    read, written = tokens
    if price is None or read is None or written is None:
        return None
    return (read * price.read + written * price.written) / 1_000_000
