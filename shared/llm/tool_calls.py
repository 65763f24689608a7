"""Calls of tools in the formats of OpenAI and Anthropic, bounded and checked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.shared.contracts.tools import Tool, ToolCall
from biaswatch.shared.llm.port import CallFailed, Failure, Tokens
from biaswatch.shared.llm.replies import at, label_of
from biaswatch.shared.parsing.json_objects import json_in

MAX_CALLS = 32
"""Calls of tools in one reply."""
MAX_ARGUMENTS_BYTES = 64 * 1024
"""Bytes of the arguments of one call."""


def chat_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools as Chat Completions declares them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema_of_arguments,
            },
        }
        for tool in tools
    ]


def chat_calls(message: Any, tokens: Tokens) -> tuple[ToolCall, ...]:
    """Return the calls in a message of Chat Completions; raise CallFailed for an invalid one."""
    calls = at(message, "tool_calls")
    listed = calls if isinstance(calls, list) else []
    fields = [(at(call, "id"), at(call, "function")) for call in listed]
    return _checked(
        [(id_, at(part, "name"), at(part, "arguments")) for id_, part in fields], tokens
    )


def messages_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools as Anthropic Messages declares them."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.schema_of_arguments,
        }
        for tool in tools
    ]


def messages_calls(parts: Any, tokens: Tokens) -> tuple[ToolCall, ...]:
    """Return the calls among the parts of a reply; raise CallFailed for an invalid one."""
    used = [part for part in parts if at(part, "type") == "tool_use"]
    return _checked([(at(p, "id"), at(p, "name"), at(p, "input")) for p in used], tokens)


def anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield messages as Anthropic writes them: results of tools are parts of a user's turn."""
    results: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message["tool_call_id"],
                    "content": message["content"],
                }
            )
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        yield _anthropic_message(message)
    if results:
        yield {"role": "user", "content": results}


def _anthropic_message(message: Mapping[str, Any]) -> dict[str, Any]:
    if not message.get("tool_calls"):
        return dict(message)
    text = message["content"]
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for call in message["tool_calls"]:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        parts.append({"type": "tool_use", "id": call["id"], "name": name, "input": arguments})
    return {"role": message["role"], "content": parts}


def _checked(calls: Sequence[tuple[Any, Any, Any]], tokens: Tokens) -> tuple[ToolCall, ...]:
    if len(calls) > MAX_CALLS:
        detail = f"The reply calls {len(calls):,} tools; the limit is {MAX_CALLS}."
        raise CallFailed(Failure.OVERSIZE, detail, tokens=tokens)
    return tuple(
        ToolCall(
            id=label_of(id_) or f"call_{number}",
            name=_name(name, tokens),
            arguments=arguments_of(arguments, tokens),
        )
        for number, (id_, name, arguments) in enumerate(calls, 1)
    )


def _name(value: Any, tokens: Tokens) -> str:
    if name := label_of(value):
        return name
    raise CallFailed(Failure.TOOL_CALL, "A call names no tool.", tokens=tokens)


def arguments_of(value: Any, tokens: Tokens) -> str:
    """Return the JSON of the arguments of a call.

    Raises
    ------
    CallFailed
        They are no JSON object, or too large.
    """
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value or "{}"
    if not isinstance(text, str):
        raise CallFailed(
            Failure.TOOL_CALL, "The arguments of a call are no JSON object.", tokens=tokens
        )
    if len(text.encode(errors="replace")) > MAX_ARGUMENTS_BYTES:
        limit_kib = MAX_ARGUMENTS_BYTES // 1024
        detail = f"The arguments of a call are larger than {limit_kib} KiB."
        raise CallFailed(Failure.OVERSIZE, detail, tokens=tokens)
    try:
        fields = json_in(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise CallFailed(
            Failure.TOOL_CALL, "The arguments of a call are no JSON object.", tokens=tokens
        )
    return json.dumps(fields, ensure_ascii=False)
