"""OpenAI's Chat Completions and Responses, through the official SDK."""

from typing import Any

import openai

from biaswatch.shared.llm.port import AnswerSchema, CallFailed, Failure, ModelAnswer, ModelCall
from biaswatch.shared.llm.provider_errors import cut_off, finish_of
from biaswatch.shared.llm.replies import (
    answer_text,
    at,
    label_of,
    message_reasoning,
    refusal_text,
    shortened,
    storable,
    tokens_of,
)
from biaswatch.shared.llm.sdk_model import Sdk, SdkModel

OPENAI = Sdk(openai, openai.AsyncOpenAI, openai.OpenAIError)


class OpenAIChat(SdkModel[openai.AsyncOpenAI]):
    """Client of Chat Completions, which many servers implement."""

    sdk = OPENAI
    endpoint = "chat.completions.with_raw_response.create"
    required = ("messages",)

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        request: dict[str, Any] = {**call.parameters, "messages": list(call.messages)}
        if schema:
            format_ = {"type": "json_schema", "json_schema": _strict(schema)}
            request.setdefault("response_format", format_)
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        tokens = tokens_of(at(reply, "usage"), "prompt_tokens", "completion_tokens")
        choice = at(reply, "choices", 0)
        message, finish = at(choice, "message"), finish_of(at(choice, "finish_reason"))
        content = at(message, "content")
        refusal = at(message, "refusal") or refusal_text(content)
        text = answer_text(content)
        if finish == "content_filter":
            detail = "The provider withheld the answer."
            raise CallFailed(Failure.CONTENT_FILTER, detail, tokens=tokens)
        if finish == "length" and not content:
            raise cut_off(tokens)
        if isinstance(refusal, str) and refusal.strip():
            raise CallFailed(Failure.REFUSAL, shortened(refusal), tokens=tokens)
        if not isinstance(message, dict) or (text is None and content is not None):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no choices.", tokens=tokens)
        if not text or not text.strip():
            if finish == "length":
                raise cut_off(tokens)
            detail = f"The answer is empty ({finish})."
            raise CallFailed(Failure.EMPTY, detail, tokens=tokens)
        model, fingerprint = (label_of(at(reply, n)) for n in ("model", "system_fingerprint"))
        reasoning = message_reasoning(message, content)
        return ModelAnswer(storable(text), finish, *tokens, model, fingerprint, reasoning)


def _strict(schema: AnswerSchema) -> dict[str, object]:
    return {"name": schema.name, "strict": True, "schema": dict(schema.schema)}


class OpenAIResponses(SdkModel[openai.AsyncOpenAI]):
    """Client of the Responses API; by default, the server stores nothing."""

    sdk = OPENAI
    endpoint = "responses.with_raw_response.create"
    required = ("input",)

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        request: dict[str, Any] = {"store": False, **call.parameters}
        request["input"] = list(call.messages)
        if schema:
            format_ = {"type": "json_schema", **_strict(schema)}
            request["text"] = {"format": format_, **request.get("text", {})}
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        tokens = tokens_of(at(reply, "usage"), "input_tokens", "output_tokens")
        status, why = at(reply, "status"), finish_of(at(reply, "incomplete_details", "reason"))
        parts = _parts(at(reply, "output"))
        if parts is None:
            raise CallFailed(Failure.GARBAGE, "The server's reply has no output.", tokens=tokens)
        if status == "failed":
            detail = "The provider reports that the response failed."
            raise CallFailed(Failure.SERVER_ERROR, detail, tokens=tokens)
        if why == "content_filter":
            detail = "The provider withheld the answer."
            raise CallFailed(Failure.CONTENT_FILTER, detail, tokens=tokens)
        if refusals := _texts(parts, "refusal", "refusal"):
            raise CallFailed(Failure.REFUSAL, shortened(" ".join(refusals)), tokens=tokens)
        text = storable("".join(_texts(parts, "output_text", "text")))
        if not text.strip():
            # The limit was used up by reasoning.
            if why == "length":
                raise cut_off(tokens)
            raise CallFailed(Failure.EMPTY, "The model's answer is empty.", tokens=tokens)
        items = [item for item in at(reply, "output") if at(item, "type") == "reasoning"]
        model, reasoning = label_of(at(reply, "model")), message_reasoning(None, items)
        return ModelAnswer(text, why or "stop", *tokens, model, reasoning=reasoning)


def _parts(output: Any) -> list[Any] | None:
    """Return the parts of all messages in an output; None if it is invalid."""
    if not isinstance(output, list):
        return None
    contents = [at(item, "content") for item in output if at(item, "type") == "message"]
    if not all(isinstance(content, list) for content in contents):
        return None
    return [part for content in contents for part in content]


def _texts(parts: list[Any], kind: str, name: str) -> list[str]:
    """Return the texts of the parts of one type."""
    values = [at(part, name) for part in parts if at(part, "type") == kind]
    return [value for value in values if isinstance(value, str)]
