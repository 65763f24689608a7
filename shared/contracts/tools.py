"""Tools that a model may call, with scripted results: no code is run."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import JsonValue, NonNegativeInt

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.record import Part, empty_mapping

TOOLS = "tools"
"""The scaffold with calls of tools."""
MAX_STEPS = 50
"""Largest number of model calls that a suite may allow for one probe."""
MAX_TOOLS = 32
"""Largest number of tools of a suite."""
NO_TOOL = "This tool does not exist."


class ToolKind(StrEnum):
    """The meaning of a call."""

    ACTION = "action"
    """It does something."""
    RETRIEVAL = "retrieval"
    """It returns documents or records."""
    ESCALATION = "escalation"
    """It passes the case to a person."""


class ScriptedResult(Part):
    """A result of a tool for some arguments."""

    when: dict[str, JsonValue] = empty_mapping()
    """Arguments that the call has to have, texts in any case of letters; none for every call."""
    result: str
    """The text that the model reads."""


class Tool(Part):
    """A tool that is declared to the model."""

    name: Token
    """Its name."""
    description: str = ""
    """The purpose, for the model."""
    kind: ToolKind = ToolKind.ACTION
    """The meaning of a call."""
    parameters: dict[str, JsonValue] = empty_mapping()
    """The JSON Schema of each argument, by its name; all are required."""
    results: tuple[ScriptedResult, ...] = ()
    """Its results; the first whose arguments fit is returned."""

    @property
    def schema_of_arguments(self) -> dict[str, JsonValue]:
        """The JSON Schema of its arguments."""
        properties: JsonValue = {**self.parameters}
        return {"type": "object", "properties": properties, "required": [*self.parameters]}

    def result_of(self, arguments: Mapping[str, Any]) -> str:
        """Return the scripted result for some arguments; empty without one."""
        fitting = (script.result for script in self.results if _fits(script.when, arguments))
        return next(fitting, "")


class ToolCall(Part):
    """A request of the model to call a tool."""

    id: Name
    """Its id, which the result repeats."""
    name: Name
    """The tool."""
    arguments: str = "{}"
    """The arguments: a JSON object."""


class ToolStep(Part):
    """One call of a tool, with its result."""

    step: NonNegativeInt
    """The model call that asked for it, from 1; 0 where an application made it by itself."""
    name: Name
    """The tool."""
    arguments: str = "{}"
    """The arguments: a JSON object."""
    result: str = ""
    """The text that it returned."""

    @property
    def values(self) -> dict[str, Any]:
        """The arguments by name."""
        return dict(json.loads(self.arguments))


def scripted_result(tools: Sequence[Tool], call: ToolCall) -> str:
    """Return the scripted result of a call; an unknown tool has a sentence."""
    known = {tool.name: tool for tool in tools}
    if call.name not in known:
        return NO_TOOL
    return known[call.name].result_of(json.loads(call.arguments))


def with_results(tools: Sequence[Tool], results: Mapping[str, str]) -> tuple[Tool, ...]:
    """Return tools with fixed results for the named ones."""
    return tuple(
        tool.model_copy(update={"results": (ScriptedResult(result=results[tool.name]),)})
        if tool.name in results
        else tool
        for tool in tools
    )


def _fits(when: Mapping[str, JsonValue], arguments: Mapping[str, Any]) -> bool:
    return all(_folded(arguments.get(name)) == _folded(value) for name, value in when.items())


def _folded(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value
