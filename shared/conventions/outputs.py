"""The output of a model, from any form of record."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biaswatch.shared.contracts.probe import Role
from biaswatch.shared.conventions.messages import (
    SCALARS,
    first_label,
    label_of,
    opened,
    role_of,
    text_of,
)

TOOL_PARTS = {"tool_call", "tool-call", "tool_use", "toolCall", "function_call", "functionCall",
              "server_tool_use", "mcp_call", "custom_tool_call", "toolUse"}  # fmt: skip
"""Types of parts, or fields of a message, that hold a call of a tool."""
FINISHES = ("finish_reason", "finishReason", "stop_reason", "stopReason", "status")
HOLDERS = ("generations", "candidates", "messages", "message", "kwargs", "lc_kwargs", "outputs",
           "output", "response", "completion", "answer", "result", "generation",
           "generated_text", "output_text", "final_output", "final_result", "body")  # fmt: skip
"""Fields that hold an output inside an object, by precedence."""
MESSAGE_FIELDS = ("content", "parts", "text", "blocks")
BLOCKS = {"text", "toolUse", "reasoningContent", "cachePoint"}
"""Fields of parts without a type."""
MAX_DEPTH = 12
CUT_OFF = re.compile(r'\s*[\["]*\{\\*"(role|parts|choices|messages|finish_reason)\\*":')
"""The beginning of messages that are no JSON: exporters cut long attributes off."""


@dataclass(frozen=True, slots=True)
class Output:
    """The text of an answer, or what came in its place."""

    text: str | None = None
    finish: str | None = None
    """Why the model stopped."""
    is_tool_call: bool = False
    """True if a call of a tool came in place of a text."""


NOTHING = Output()


def output_of(value: Any, *, last: bool = False, depth: int = 0) -> Output:
    """Return the output in a text, a message, a list of choices, or the body of a reply.

    JSON in another form, like `{"rating": 3}`, is itself the answer. The first of several choices
    counts; of a conversation, or with `last`, the last answer.
    """
    content = opened(value)
    if depth > MAX_DEPTH:
        return NOTHING
    if isinstance(content, str):
        return NOTHING if CUT_OFF.match(content) else Output(content or None)
    if isinstance(value, str) and _is_list_of_texts(content):
        return Output(value)  # a list of names, for example, as the model wrote it
    if isinstance(content, Mapping):
        output = _of_object(content, last, depth + 1)
    elif isinstance(content, Sequence) and content:
        output = _of_list(content, last, depth + 1)
    else:
        return NOTHING
    if output is not None:
        return output
    if isinstance(value, str):
        return Output(value)
    return Output(json.dumps(content, ensure_ascii=False, default=str))


def logged_output(value: Any) -> Output:
    """Return the output in the field of a log: in any form, also text in parts or a number."""
    content = opened(value)
    is_history = isinstance(content, list) and any(map(role_of, content))
    text = label_of(value) if isinstance(value, SCALARS) else text_of(content)
    return output_of(value) if is_history or text is None else Output(text)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _of_object(content: Mapping[str, Any], last: bool, depth: int) -> Output | None:
    """Return the output in an object; None if its form is unknown."""
    finish = first_label(content, *FINISHES)
    if isinstance(choices := content.get("choices"), list):
        first = choices[0] if choices else {}
        return _with_finish(_of_choice(first, depth), finish)
    if isinstance(items := content.get("output"), list) and _is_response(items):
        return _with_finish(_of_response(items), finish)
    if content.keys() & {"role", *MESSAGE_FIELDS, *TOOL_PARTS, "tool_calls", "refusal"}:
        output = _of_message(content)
        if output.text is not None or output.is_tool_call or "message" not in content:
            return _with_finish(output, finish)
    if {"messages", "tools"} <= content.keys():
        return NOTHING  # the body of a request
    for name in HOLDERS:
        if content.get(name) is not None:
            is_history = last or name == "messages"
            return _with_finish(output_of(content[name], last=is_history, depth=depth), finish)
    return None if content else NOTHING


def _with_finish(output: Output, finish: str | None) -> Output:
    return replace(output, finish=output.finish or finish)


def _of_choice(choice: Any, depth: int) -> Output:
    output = output_of(choice, depth=depth)
    finish = label_of(choice.get("finish_reason")) if isinstance(choice, Mapping) else None
    return replace(output, finish=finish or output.finish)


def _is_response(items: Iterable[Any]) -> bool:
    """Return whether items are those of the Responses API."""
    return all(isinstance(item, Mapping) and "type" in item for item in items)


def _of_response(items: Sequence[Mapping[str, Any]]) -> Output:
    texts = [text for item in items if item["type"] == "message" and (text := text_of(item))]
    called = any(str(item["type"]) in TOOL_PARTS for item in items)
    return Output("\n".join(texts) or None, is_tool_call=called and not texts)


def _of_message(message: Mapping[str, Any]) -> Output:
    parts = next((message[name] for name in MESSAGE_FIELDS if message.get(name)), None)
    parts = opened(parts) if isinstance(parts, str) and _is_parts(opened(parts)) else parts
    text = text_of(parts) or text_of(message.get("refusal"))
    return Output(text or None, is_tool_call=not text and has_tool_call(message, parts))


def _is_parts(value: Any) -> bool:
    """Return whether a value is a list of parts, which some exporters write as text."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(part, Mapping)
            and "type" in part
            and not part.keys() & {"message", "kwargs"}
            and role_of(part) is None
            for part in value
        )
    )


def _are_blocks(items: Sequence[Any]) -> bool:
    """Return whether items are parts without a type, as Bedrock and Strands write them."""
    return all(isinstance(item, Mapping) and bool(item) and item.keys() <= BLOCKS for item in items)


def has_tool_call(message: Mapping[str, Any], parts: Any) -> bool:
    """Return whether a message, or one of its parts, calls a tool."""
    if isinstance(parts, Mapping):
        parts = parts.get("parts")
    items = parts if isinstance(parts, list) else []
    objects = [message, *(item for item in items if isinstance(item, Mapping))]
    return any(
        item.get("tool_calls")
        or str(item.get("type")) in TOOL_PARTS
        or any(item.get(name) for name in TOOL_PARTS)
        for item in objects
    )


def _of_list(items: Sequence[Any], last: bool, depth: int) -> Output | None:
    """Return the output of a list of messages, parts or nested lists; None if it is other JSON."""
    if _is_list_of_texts(items):
        return Output(items[-1 if last else 0] or None)
    if not all(isinstance(item, Mapping | list | tuple) for item in items):
        return None
    if deltas := [delta for item in items if (delta := _delta_of(item)) is not None]:
        return _of_stream(deltas)
    if _are_blocks(items):
        return _of_message({"parts": items})
    if _is_parts(items) and not any("role" in item for item in items):
        return _of_response(items) if _has_messages(items) else _of_message({"parts": items})
    answers = [item for item in items if _may_answer(item)]
    is_history = last or any(role_of(item) is Role.USER for item in items)
    outputs = [output_of(item, depth=depth) for item in answers]
    if is_history:
        outputs.reverse()
    answered = (output for output in outputs if output.text is not None)
    return next(answered, next((o for o in outputs if o.is_tool_call), (outputs or [NOTHING])[0]))


def _delta_of(chunk: Any) -> Mapping[str, Any] | None:
    """Return the first choice in a chunk of a stream; None for other values."""
    choices = chunk.get("choices") if isinstance(chunk, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) and isinstance(first.get("delta"), Mapping) else None


def _of_stream(choices: Sequence[Mapping[str, Any]]) -> Output:
    """Return the output of a stream of choices, one piece each."""
    deltas = [choice["delta"] for choice in choices]
    text = "".join(text_of(delta.get("content")) or "" for delta in deltas)
    called = not text and any(has_tool_call(delta, None) for delta in deltas)
    finishes = [label for choice in choices if (label := label_of(choice.get("finish_reason")))]
    return Output(text or None, finishes[-1] if finishes else None, is_tool_call=called)


def _has_messages(items: Iterable[Any]) -> bool:
    return any(item["type"] == "message" for item in items)


def _may_answer(item: Any) -> bool:
    if not isinstance(item, Mapping) or role_of(item) is Role.ASSISTANT:
        return True
    return "role" not in item and role_of(item) is None and str(item.get("type")) != "tool"
