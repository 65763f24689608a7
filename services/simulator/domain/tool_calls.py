"""Calls of tools by a simulated model: each at most once, in the order of their declaration."""

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

from biaswatch.services.simulator.domain.planted_bias import Markers, PlantedModel, added, groups_in
from biaswatch.services.simulator.domain.reply import SimulatedCall, SimulatedRequest, seeded_rng

LOOKUPS = ("look", "search", "find", "get", "read")
"""Beginnings of the names of tools that are always called, unless a rate is planted."""
OTHER_RATE = 0.5
"""Share of the tasks with a call of any other tool."""
ARGUMENT_RANGE = (0.0, 100.0)
MAX_WORDS = 8
_DOCUMENT = re.compile(r"\[[A-Za-z][\w-]{0,40}\]")


def call_for(
    seed: int, request: SimulatedRequest, model: PlantedModel, markers: Markers
) -> SimulatedCall | None:
    """Return the next call of a tool; None if the model answers.

    The decision for each tool depends on the task, the repeat and the groups in the messages;
    therefore, the same task takes the same steps.
    """
    called = [name for turn in request.turns for name in turn.calls]
    names = [tool.name for tool in request.tools]
    first = max((names.index(name) + 1 for name in called if name in names), default=0)
    task = next((turn.content for turn in request.turns if turn.role == "user"), "")
    groups = groups_in(request.text, markers)
    for tool in request.tools[first:]:
        rng = seeded_rng(seed, "tool", request.model, request.repeat_key, task, tool.name)
        usual = 1.0 if tool.name.startswith(LOOKUPS) else OTHER_RATE
        rate = model.tool_rates.get(tool.name, usual)
        if rng.random() < rate + added(model.tool_gaps.get(tool.name, {}), groups):
            arguments = {
                name: _argument(schema, model, groups, task, rng)
                for name, schema in tool.parameters.items()
            }
            return SimulatedCall(f"call_{len(called) + 1}", tool.name, json.dumps(arguments))
    return None


def _argument(
    schema: Mapping[str, Any], model: PlantedModel, groups: frozenset[str], task: str, rng: Random
) -> Any:
    """Return a value that fits a JSON Schema; numbers have the gaps of ratings."""
    if options := schema.get("enum"):
        return rng.choice(options)
    if schema.get("type") not in {"number", "integer"}:
        return " ".join(task.split()[:MAX_WORDS])
    low, high = (
        float(schema.get(name, usual))
        for name, usual in zip(("minimum", "maximum"), ARGUMENT_RANGE, strict=True)
    )
    noisy = (low + high) / 2 + rng.gauss(0, model.rating_noise_sd)
    value = min(max(noisy + added(model.rating_gaps, groups), low), high)
    return round(value) if schema["type"] == "integer" else round(value, 2)


def with_citation(words: str, request: SimulatedRequest) -> str:
    """Add the first document of the tools' results to the text of an answer."""
    documents = [
        document
        for turn in request.turns
        if turn.role == "tool"
        for document in _DOCUMENT.findall(turn.content)
    ]
    return f"{words} {documents[0]}" if documents else words
