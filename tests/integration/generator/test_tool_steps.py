"""Agents in the generator: a death at any step loses nothing and repeats no answered call."""

import pytest

from biaswatch.shared.contracts import Ending, Probe, Response
from biaswatch.shared.contracts.tools import Tool, ToolCall
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer, ModelCall
from biaswatch.shared.store import Store
from tests.integration.generator.test_ask import AT, Scripted, ask_of, one, probe_of

TOOLS = (Tool(name="search"), Tool(name="refund", parameters={"percent": {"type": "number"}}))


class Died(BaseException):
    """The end of a process in the middle of a call."""


def agent_probe() -> Probe:
    return probe_of(scaffold="tools", tools=TOOLS, most_steps=6)


def agent(call: ModelCall) -> ModelAnswer:
    """Search twice, refund, and answer."""
    done = sum(message["role"] == "tool" for message in call.messages)
    if done == 3:
        return ModelAnswer("Refunded.", "stop", prompt_tokens=3, completion_tokens=2)
    name = "refund" if done == 2 else "search"
    tool_call = ToolCall(id=f"c{done}", name=name, arguments='{"a": 1}')
    return ModelAnswer("", "tool_calls", prompt_tokens=3, completion_tokens=2, calls=(tool_call,))


@pytest.mark.parametrize("step", [1, 2, 3, 4])
async def test_a_death_at_any_step_repeats_that_call_alone(store: Store, step: int) -> None:
    dying = Scripted(lambda call: agent(call))

    def dies(call: ModelCall) -> ModelAnswer:
        if len(dying.calls) == step:
            raise Died
        return agent(call)

    dying.script = dies
    with pytest.raises(Died):
        await ask_of(store, dying)(agent_probe())
    model = Scripted(agent)
    response = await one(ask_of(store, model), agent_probe())
    assert len(dying.calls) + len(model.calls) == 4 + 1  # the call under way is made again
    assert (response.ending, response.text) == (Ending.ANSWERED, "Refunded.")
    assert [call.name for call in response.tool_steps] == ["search", "search", "refund"]


async def test_steps_survive_the_wire_and_the_store_and_are_purged(store: Store) -> None:
    response = await one(ask_of(store, Scripted(agent)), agent_probe())
    assert Response.decode(response.encode()) == response
    store.records.write([response])
    [kept] = store.records.get(Response, [response.id])
    assert kept.tool_steps == response.tool_steps
    store.purges.run(response.run, AT)
    [purged] = store.records.get(Response, [response.id])
    assert (purged.tool_steps, purged.probe.tools) == ((), ())
    assert len(purged.steps) == 4


async def test_an_invalid_call_fails_the_probe_and_keeps_the_steps_before_it(store: Store) -> None:
    def breaks(call: ModelCall) -> ModelAnswer | CallFailed:
        if any(message["role"] == "tool" for message in call.messages):
            return CallFailed(Failure.TOOL_CALL, "The arguments of a call are no JSON object.")
        return agent(call)

    response = await one(ask_of(store, Scripted(breaks)), agent_probe())
    assert (response.ending, response.reason) == (Ending.FAILED, "tool_call")
    assert "step:2" in str(response.detail)
    assert [call.name for call in response.tool_steps] == ["search"]
