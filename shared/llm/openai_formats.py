"""OpenAI's Chat Completions and Responses, through the official SDK."""

from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from biaswatch.shared.llm.likelihoods import Exchange, chat_scores, completion_scores, llama_scores
from biaswatch.shared.llm.openai_batches import OpenAIBatches
from biaswatch.shared.llm.port import (
    MAY_PASS,
    PURPOSE_HEADER,
    AnswerSchema,
    CallFailed,
    Continuations,
    Failure,
    ModelAnswer,
    ModelCall,
)
from biaswatch.shared.llm.provider_errors import cut_off, failure_in_reply, finish_of
from biaswatch.shared.llm.replies import (
    answer_text,
    at,
    json_of,
    label_of,
    message_reasoning,
    refusal_text,
    shortened,
    stated_tokens,
    storable,
    tokens_of,
)
from biaswatch.shared.llm.sdk_model import Sdk, SdkModel, named_failures
from biaswatch.shared.llm.tool_calls import chat_calls, chat_tools

NO_TOOLS = "The scaffold `tools` asks OpenAI's models as `openai:`, not `openai_responses:`."
OPENAI = Sdk(openai, openai.AsyncOpenAI, openai.OpenAIError)


class OpenAIChat(SdkModel[openai.AsyncOpenAI]):
    """Client of Chat Completions, which many servers implement."""

    sdk = OPENAI
    endpoint = "chat.completions.with_raw_response.create"
    required = ("messages",)
    is_llama: bool | None = None
    """True if the server is llama.cpp's; None while that is unknown."""

    def batch_api(self) -> OpenAIBatches:
        """See `BatchedModel`."""
        return OpenAIBatches(self, self._connection.key, "/v1/chat/completions")

    async def _scores(self, call: ModelCall, continuations: Continuations) -> ModelAnswer:
        async def exchange(path: str, body: Mapping[str, Any] | None) -> Any:
            return await self._exchange(call, path, body)

        if self.is_llama is None:
            self.is_llama = not self._connection.structured and await _is_llama(exchange)
        if self.is_llama:
            return await llama_scores(exchange, call, continuations)
        score = chat_scores if continuations.context is None else completion_scores
        return await score(exchange, call, continuations)

    async def _exchange(self, call: ModelCall, path: str, body: Mapping[str, Any] | None) -> Any:
        """Return the JSON of a reply from another path of the server."""
        key, key_source = self._connection.key, self._connection.key_source
        if path.startswith("/"):
            path = self._connection.url.rstrip("/").removesuffix("/v1") + path
        options: Any = {"timeout": call.timeout_s, "headers": {PURPOSE_HEADER: call.purpose}}
        with self._clients.one() as client:
            async with named_failures(self.sdk, key_source, call.timeout_s, key=key):
                if body is None:
                    reply = await client.get(path, cast_to=httpx2.Response, options=options)
                else:
                    reply = await client.post(
                        path, cast_to=httpx2.Response, body=dict(body), options=options
                    )
        document = json_of(reply.content, "The provider's")
        if failure := failure_in_reply(document, key=key, tokens=stated_tokens(document)):
            raise failure
        return document

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        request: dict[str, Any] = {**call.parameters, "messages": list(call.messages)}
        if call.tools:
            request["tools"] = chat_tools(call.tools)
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
        text, calls = answer_text(content), chat_calls(message, tokens)
        if finish == "content_filter":
            detail = "The provider withheld the answer."
            raise CallFailed(Failure.CONTENT_FILTER, detail, tokens=tokens)
        if finish == "length" and not content and not calls:
            raise cut_off(tokens)
        if isinstance(refusal, str) and refusal.strip():
            raise CallFailed(Failure.REFUSAL, shortened(refusal), tokens=tokens)
        if not isinstance(message, dict) or (text is None and content is not None):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no choices.", tokens=tokens)
        if not calls and (not text or not text.strip()):
            if finish == "length":
                raise cut_off(tokens)
            detail = f"The answer is empty ({finish})."
            raise CallFailed(Failure.EMPTY, detail, tokens=tokens)
        model, fingerprint = (label_of(at(reply, n)) for n in ("model", "system_fingerprint"))
        reasoning = message_reasoning(message, content)
        text = storable(text or "")
        return ModelAnswer(text, finish, *tokens, model, fingerprint, reasoning, calls=calls)


async def _is_llama(exchange: Exchange) -> bool:
    """Tell whether a server is llama.cpp's, which describes itself at `/props`."""
    try:
        properties = await exchange("/props", None)
    except CallFailed as failed:
        if failed.why in MAY_PASS - {Failure.GARBAGE}:
            raise
        return False
    return isinstance(at(properties, "default_generation_settings"), dict)


def _strict(schema: AnswerSchema) -> dict[str, object]:
    return {"name": schema.name, "strict": True, "schema": dict(schema.schema)}


class OpenAIResponses(SdkModel[openai.AsyncOpenAI]):
    """Client of the Responses API; by default, the server stores nothing."""

    sdk = OPENAI
    endpoint = "responses.with_raw_response.create"
    required = ("input",)

    def batch_api(self) -> OpenAIBatches:
        """See `BatchedModel`."""
        return OpenAIBatches(self, self._connection.key, "/v1/responses")

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        if call.tools:
            raise CallFailed(Failure.BAD_REQUEST, NO_TOOLS)
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
