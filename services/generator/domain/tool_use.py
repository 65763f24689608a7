"""The scaffold of tools: the model calls declared tools, and reads their scripted results."""

from collections.abc import Iterator, Mapping

from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall, Scaffold
from biaswatch.services.generator.domain.questions import UnfitProbe, check_not_batched
from biaswatch.shared.contracts import Message, Probe, Role
from biaswatch.shared.contracts.response import STEP_LIMIT, TOOL_STEP
from biaswatch.shared.contracts.tools import ToolStep, scripted_result
from biaswatch.shared.parsing import Unreadable

MAX_HISTORY_CHARACTERS = 1_000_000
"""Characters of replies and results that are sent again; beyond it, no further step is made."""


class ToolUse(Scaffold):
    """Asks again with the results of the called tools, until the model calls none."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        check_not_batched(probe, "each step would take a batch of up to 24 hours")
        if not probe.tools or not probe.messages:
            raise UnfitProbe("The scaffold `tools` needs messages, and tools that the suite names.")
        return (_call_number(1, probe, {}),)

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """See `Scaffold.then`."""
        [*_, last] = results.values()
        if not last.calls or len(results) >= probe.most_steps or _is_long(probe, results):
            return ()
        return (_call_number(len(results) + 1, probe, results),)

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """See `Scaffold.conclude`."""
        [*_, last] = results.values()
        if last.calls:
            raise Unreadable(STEP_LIMIT)
        return last.text


def _call_number(number: int, probe: Probe, results: Mapping[str, CallResult]) -> PlannedCall:
    messages = (*probe.messages, *_turns(probe, results))
    return PlannedCall(f"{TOOL_STEP}{number}", messages, tools=probe.tools)


def _is_long(probe: Probe, results: Mapping[str, CallResult]) -> bool:
    """Tell whether the results of the called tools are too long to be sent once more."""
    return sum(len(turn.content) for turn in _turns(probe, results)) > MAX_HISTORY_CHARACTERS


def _turns(probe: Probe, results: Mapping[str, CallResult]) -> Iterator[Message]:
    """Yield the replies of the model, each before the results of its calls."""
    for result in results.values():
        yield Message(role=Role.ASSISTANT, content=result.text, calls=result.calls)
        for call in result.calls:
            text = scripted_result(probe.tools, call)
            yield Message(role=Role.TOOL, content=text, call_id=call.id)


def tool_steps(probe: Probe, results: Mapping[str, CallResult]) -> tuple[ToolStep, ...]:
    """Return the calls of tools in the results of model calls, with the tools' results."""
    return tuple(
        step
        for number, result in enumerate(results.values(), 1)
        for step in (
            *(result.answer.tool_steps if result.answer else ()),
            *(
                ToolStep(
                    step=number, name=call.name, arguments=call.arguments,
                    result=scripted_result(probe.tools, call),
                )
                for call in result.calls
            ),
        )
    )  # fmt: skip
