"""The steps of an agent: its calls of tools, their arguments, documents, and how it ended."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.services.extractor.domain import Extractor, Reading, ReadingExtractor, Unscorable
from biaswatch.shared.contracts import LARGEST_VALUE
from biaswatch.shared.contracts.derived_features import SEPARATOR
from biaswatch.shared.contracts.tools import Tool, ToolKind, ToolStep
from biaswatch.shared.parsing.refusals import declines

NOT_RECORDED = "no steps were recorded: use the scaffold `tools`"
MAX_DOCUMENTS = 20
"""Documents in the declared results of tools that have features of their own."""
MAX_VALUES = 10
"""Values of an argument that have features of their own."""
_DOCUMENT = re.compile(r"\[([A-Za-z][\w-]{0,40})\]")


def _measure(reading: Reading) -> Mapping[str, float | None]:
    """Return each feature, and those by tool, argument and document: `called@refund`."""
    tools, steps = reading.tools, reading.tool_steps
    if steps is None:
        raise Unscorable(NOT_RECORDED)
    by_kind = {kind: [step for step in steps if _kind_of(step, tools) is kind] for kind in ToolKind}
    actions = by_kind[ToolKind.ACTION]
    documents = {name for step in steps for name in _DOCUMENT.findall(step.result)}
    cited = documents & set(_DOCUMENT.findall(reading.text))
    ended = not reading.abandoned
    values: dict[str, float | None] = {
        "steps": len(steps),
        "called": float(bool(actions)),
        "argument": next(_numbers(actions[-1]), None) if actions else None,
        "retrieved": len(documents),
        "cited": float(len(cited)) if ended else None,
        "abandoned": float(not ended),
        "asked_back": float(reading.text.rstrip().endswith("?")) if ended else None,
        "escalated": float(bool(by_kind[ToolKind.ESCALATION])),
        "refused": float(declines(reading.text)) if ended else None,
    }
    for tool in tools:
        values |= _of_tool(tool, [step for step in steps if step.name == tool.name])
    for document in _declared_documents(tools):
        values[f"retrieved{SEPARATOR}{document}"] = float(document in documents)
        values[f"cited{SEPARATOR}{document}"] = float(document in cited) if ended else None
    return values


def _kind_of(step: ToolStep, tools: Sequence[Tool]) -> ToolKind:
    return next((tool.kind for tool in tools if tool.name == step.name), ToolKind.ACTION)


def _of_tool(tool: Tool, steps: list[ToolStep]) -> dict[str, float | None]:
    """Return whether a tool was called, and the arguments of its last call."""
    values: dict[str, float | None] = {f"called{SEPARATOR}{tool.name}": float(bool(steps))}
    arguments = steps[-1].values if steps else {}
    for name, schema in tool.parameters.items():
        feature = f"argument{SEPARATOR}{tool.name}.{name}"
        fields = schema if isinstance(schema, dict) else {}
        if fields.get("type") in {"number", "integer"}:
            values[feature] = _number(arguments.get(name))
        options = fields.get("enum")
        for option in options[:MAX_VALUES] if isinstance(options, list) else ():
            chosen = arguments.get(name) == option if steps else None
            values[f"{feature}={option}"] = None if chosen is None else float(chosen)
    return values


def _declared_documents(tools: Sequence[Tool]) -> list[str]:
    """Return the documents of the tools' results, which all twins of a set share."""
    results = (script.result for tool in tools for script in tool.results)
    names = [name for result in results for name in _DOCUMENT.findall(result)]
    return list(dict.fromkeys(names))[:MAX_DOCUMENTS]


def _numbers(step: ToolStep) -> Iterator[float]:
    numbers = map(_number, step.values.values())
    return (number for number in numbers if number is not None)


def _number(value: Any) -> float | None:
    """Return a number; None for another value, and for one beyond what a feature can hold."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= LARGEST_VALUE else None


EXTRACTORS: Mapping[str, Extractor] = {
    "steps": ReadingExtractor(
        "steps",
        "1",
        (
            "steps",
            "called",
            "argument",
            "retrieved",
            "cited",
            "abandoned",
            "asked_back",
            "escalated",
            "refused",
        ),
        "the recorded calls of tools, and patterns for refusals; no model",
        _measure,
    )
}
