"""The scaffold of tools: steps, scripted results, limits, and the gaps of planted agents."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.readers.suites import load_suite
from biaswatch.services.extractor.domain.extractor import measured_all
from biaswatch.services.extractor.extractors import steps
from biaswatch.services.extractor.handlers.measuring import readings_of
from biaswatch.services.generator.domain.model_calls import call_of
from biaswatch.services.generator.domain.outcome import (
    NOTHING_SPENT,
    inconclusive_plan,
    response_from_plan,
    shrink_to_bus,
)
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.services.generator.handlers.paid_calls import answer_as_json, answer_in
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.services.simulator.domain.reply import words_for
from biaswatch.services.simulator.domain.tool_calls import call_for, with_citation
from biaswatch.services.simulator.routes.formats import ChatRequest
from biaswatch.services.simulator.settings import known_markers
from biaswatch.shared.contracts import Ending, Probe, Response, Run, Suite, parse_target
from biaswatch.shared.contracts.expansion import probe_of
from biaswatch.shared.contracts.response import STEP_LIMIT
from biaswatch.shared.contracts.tools import ScriptedResult, ToolCall
from biaswatch.shared.llm.port import ModelAnswer, ModelCall
from biaswatch.shared.llm.tool_calls import chat_tools
from biaswatch.shared.parsing import Unreadable

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TARGET = parse_target("simulator:planted")
Model = Callable[[ModelCall], ModelAnswer]


def probes(suite: Suite) -> Iterator[Probe]:
    run = Run(at=NOW, suite=suite.name, suite_hash=suite.hash, targets=(TARGET,))
    for position, item in enumerate(suite.probes):
        yield probe_of(run, suite, item, TARGET, "tools", 0, NOW, position=position)


def response_of(probe: Probe, model: Model) -> Response:
    """Carry out the scaffold with a model that answers at once; answers pass through the store."""
    scaffold, results = scaffold_of(probe.scaffold), dict[str, CallResult]()
    calls = scaffold.first(probe)
    while calls:
        for call in calls:
            answer = answer_in(
                json.loads(json.dumps(answer_as_json(model(call_of(probe, call, 1.0)))))
            )
            results[call.name] = CallResult(answer)
        calls = scaffold.then(probe, results)
    try:
        text = scaffold.conclude(probe, results)
    except Unreadable as error:
        failed = inconclusive_plan(probe, results, NOTHING_SPENT, NOW, reason=str(error))
        return shrink_to_bus(failed)
    return shrink_to_bus(response_from_plan(probe, text, results, NOTHING_SPENT, NOW))


def planted(model: PlantedModel) -> Model:
    def reply(call: ModelCall) -> ModelAnswer:
        body = {"model": "planted", "messages": call.messages, "tools": chat_tools(call.tools)}
        request = ChatRequest.model_validate(body).request(call.repeat_key, None)
        words = words_for(7, request, model, known_markers())
        called = call_for(7, request, model, known_markers())
        if called is None:
            return ModelAnswer(with_citation(words, request), "stop")
        tool_call = ToolCall(id=called.id, name=called.name, arguments=called.arguments)
        return ModelAnswer("", "tool_calls", calls=(tool_call,))

    return reply


def values(response: Response) -> Mapping[str, float | None]:
    [(measured, reason)] = measured_all(steps.EXTRACTORS["steps"], readings_of([response], "steps"))
    assert reason is None
    return measured


def one_probe(**fields: Any) -> Probe:
    suite = load_suite(ROOT / "suites" / "agents-refunds")
    return next(probes(suite)).model_copy(update=fields)


def calling(
    *names: str, arguments: str = "{}", text: str = "Done [returns-2]. Is that all?"
) -> Model:
    """Return a model that calls these tools one after the other, and then answers."""

    def reply(call: ModelCall) -> ModelAnswer:
        done = sum(message["role"] == "tool" for message in call.messages)
        if done == len(names):
            return ModelAnswer(text, "stop")
        tool_call = ToolCall(id=f"c{done}", name=names[done], arguments=arguments)
        return ModelAnswer("", "tool_calls", calls=(tool_call,))

    return reply


@pytest.mark.parametrize("name", ["agents-loans", "agents-refunds", "agents-triage"])
def test_a_planted_gap_by_tool_is_found_and_placebo_twins_show_none(name: str) -> None:
    suite = load_suite(ROOT / "suites" / name)
    action = suite.tools[2].name
    model = planted(PlantedModel(tool_gaps={action: {"black": -0.5}}))
    rows = []
    for probe in probes(suite):
        measured = values(response_of(probe, model))
        calls = [measured["called@escalate"], measured[f"called@{action}"]]
        assert measured["steps"] == calls.count(1.0) + 2
        rows.append(
            {"set": probe.set_id, "unit": probe.unit_id, **probe.groups,
             "value": measured[f"called@{action}"]}
        )  # fmt: skip
    assert "black" in disparities(rows, "race")
    assert disparities(rows, "placebo") == set()


def disparities(rows: list[dict[str, Any]], dimension: str) -> set[str]:
    frame = pd.DataFrame([row for row in rows if dimension in row])
    findings = bw.diagnose(
        frame, group=dimension, feature="value", set="set", unit="unit", permutations=0
    ).parts["comparisons"]
    assert findings
    return {
        str(name)
        for row in findings
        if row["verdict"] == "disparity"
        for name in (row["a"], row["b"])
    }


def test_steps_are_kept_with_arguments_and_results() -> None:
    model = calling("look_up_order", "search_rules", "refund", arguments='{"percent": 80}')
    response = response_of(one_probe(), model)
    assert [step.name for step in response.tool_steps] == [
        "look_up_order",
        "search_rules",
        "refund",
    ]
    assert [step.name for step in response.steps] == [f"step:{number}" for number in (1, 2, 3, 4)]
    assert "Order of the customer" in response.tool_steps[0].result
    measured = values(response)
    assert {name: measured[name] for name in ("steps", "called", "argument", "cited")} == {
        "steps": 3, "called": 1, "argument": 80, "cited": 1,
    }  # fmt: skip
    assert measured["argument@refund.percent"] == 80
    assert measured["cited@returns-2"] == measured["retrieved"] == measured["asked_back"] == 1
    assert measured["escalated"] == measured["refused"] == measured["abandoned"] == 0


def test_an_agent_that_goes_on_calling_tools_is_stopped_and_counts_as_abandoned() -> None:
    response = response_of(one_probe(), calling(*["search_rules"] * 1000))
    assert (response.ending, response.reason) == (Ending.FAILED, STEP_LIMIT)
    assert len(response.tool_steps) == 8
    measured = values(response)
    assert (measured["abandoned"], measured["steps"]) == (1, 8)
    assert measured["asked_back"] is None
    assert readings_of([response.model_copy(update={"tool_steps": ()})], "steps") == []


def test_an_unknown_tool_has_a_result_that_says_so() -> None:
    response = response_of(one_probe(), calling("delete_everything"))
    assert "does not exist" in response.tool_steps[0].result
    assert response.ending is Ending.ANSWERED


def test_a_refusal_and_an_escalation_are_features() -> None:
    text = "I'm sorry, but I can't help with that."
    measured = values(response_of(one_probe(), calling("escalate", text=text)))
    assert (measured["escalated"], measured["refused"], measured["called"]) == (1, 1, 0)
    assert measured["argument"] is None


def test_steps_too_large_for_the_bus_are_a_failed_answer() -> None:
    arguments = json.dumps({"query": "x" * 60_000})
    model = calling(*["search_rules"] * 20, arguments=arguments)
    response = response_of(one_probe(most_steps=30), model)
    assert (response.ending, response.reason) == (Ending.FAILED, "oversize")


def test_an_answer_without_recorded_steps_is_not_measured_as_an_agent_without_steps() -> None:
    response = response_of(one_probe(), calling())
    assert values(response)["steps"] == 0
    direct = response.model_copy(
        update={"probe": response.probe.model_copy(update={"scaffold": "direct"})}
    )
    [(measured, reason)] = measured_all(steps.EXTRACTORS["steps"], readings_of([direct], "steps"))
    assert measured == {}
    assert "no steps were recorded" in str(reason)


def test_long_results_end_the_steps() -> None:
    [tool, *_] = one_probe().tools
    long = tool.model_copy(update={"results": (ScriptedResult(result="x" * 400_000),)})
    response = response_of(one_probe(tools=(long,)), calling(*[long.name] * 50))
    assert len(response.steps) <= 3
    assert response.reason in {STEP_LIMIT, "oversize"}


def test_a_probe_without_tools_is_unfit() -> None:
    with pytest.raises(UnfitProbe, match="tools"):
        scaffold_of("tools").first(one_probe(tools=()))
