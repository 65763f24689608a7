"""A model server in three formats: a call of the first tool, and a text after its result."""

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ANSWER = "Eva is a strong applicant."
ARGUMENTS = {"person": "Eva"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}


async def _chat(request: Request) -> JSONResponse:
    """Answer as OpenAI's chat completions do."""
    body = await request.json()
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if _calls(body, lambda item: item["role"] == "tool"):
        function = {
            "name": body["tools"][0]["function"]["name"], "arguments": json.dumps(ARGUMENTS),
        }  # fmt: skip
        call = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return JSONResponse({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1760000000,
        "model": body["model"], "choices": [choice], "usage": USAGE,
    })  # fmt: skip


async def _messages(request: Request) -> JSONResponse:
    """Answer as Anthropic does."""
    body = await request.json()
    part: dict[str, Any] = {"type": "text", "text": ANSWER}
    if _calls(body, lambda item: "tool_result" in str(item["content"])):
        name = body["tools"][0]["name"]
        part = {"type": "tool_use", "id": "toolu_1", "name": name, "input": ARGUMENTS}
    return JSONResponse({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [part], "stop_reason": "end_turn" if part["type"] == "text" else "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 6},
    })  # fmt: skip


def _calls(body: dict[str, Any], is_result: Any) -> bool:
    return bool(body.get("tools")) and not any(is_result(item) for item in body["messages"])


scripted_model = Starlette(
    routes=[
        Route("/v1/chat/completions", _chat, methods=["POST"]),
        Route("/v1/messages", _messages, methods=["POST"]),
    ]
)
