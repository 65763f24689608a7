"""One call of a plan as it goes to a provider, and how long to wait before it goes again."""

from services.generator.domain.plan import SubCall
from shared.contracts import Message, Probe, Role
from shared.llm.port import Call, CallFailed

LONGEST_PAUSE_S = 60.0


def call_of(probe: Probe, sub: SubCall, timeout_s: float) -> Call:
    """Give the call: the target's role first, then what is said."""
    system = probe.target.system_prompt
    said = (Message(role=Role.SYSTEM, content=system),) if system else ()
    return Call(
        model=probe.target.model,
        messages=tuple({"role": m.role.value, "content": m.content} for m in said + sub.messages),
        repeat_key=probe.id,
        parameters=probe.target.parameters,
        timeout_s=timeout_s,
        recording=(probe.key, probe.scaffold, probe.repeat),
        form=sub.form,
    )


def pause_s(failure: CallFailed, attempt: int, luck: float) -> float:
    """Give how long to wait before asking again: what was asked for, or longer each time."""
    doubled = min(LONGEST_PAUSE_S, 0.5 * 2.0 ** min(attempt, 10)) * (0.5 + luck / 2)
    if failure.retry_after_s is None:
        return doubled
    return failure.retry_after_s * (1 + luck / 10)  # spread, so that all do not come at once
