"""One call of a plan as it goes to a provider, and how long to wait before it goes again."""

from pydantic import JsonValue

from services.generator.domain.plan import SubCall
from shared.contracts import Message, Probe, Role
from shared.llm.port import Call, CallFailed

LONGEST_PAUSE_S = 60.0
TAKES_CACHE_KEY = frozenset({"openai", "openai-responses", "simulator"})
"""Providers whose requests have `user` and `prompt_cache_key`."""


def call_of(probe: Probe, sub: SubCall, timeout_s: float) -> Call:
    """Return the call: the target's role first, then what is said."""
    system = probe.target.system_prompt
    said = (Message(role=Role.SYSTEM, content=system),) if system else ()
    return Call(
        model=probe.target.model,
        messages=tuple({"role": m.role.value, "content": m.content} for m in said + sub.messages),
        repeat_key=probe.id,
        parameters=_parameters(probe),
        timeout_s=timeout_s,
        recording=(probe.key, probe.scaffold, probe.repeat),
        form=sub.form,
        purpose=probe.purpose,
    )


def _parameters(probe: Probe) -> dict[str, JsonValue]:
    """Return the target's parameters; a call that is to be apart has a name nobody else has."""
    apart = probe.cache_apart and probe.target.provider in TAKES_CACHE_KEY
    own: dict[str, JsonValue] = {"user": probe.id, "prompt_cache_key": probe.id} if apart else {}
    return {**probe.target.parameters, **own}


def pause_s(failure: CallFailed, attempt: int, luck: float) -> float:
    """Return how long to wait before asking again: what was asked for, or longer each time."""
    doubled = min(LONGEST_PAUSE_S, 0.5 * 2.0 ** min(attempt, 10)) * (0.5 + luck / 2)
    if failure.retry_after_s is None:
        return doubled
    return failure.retry_after_s * (1 + luck / 10)  # spread, so that all do not come at once
