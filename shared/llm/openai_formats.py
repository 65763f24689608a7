"""OpenAI's Chat Completions, which many servers speak, and Responses, through the official SDK."""

from typing import Any

import openai

from shared.llm.port import AnswerSchema, CallFailed, Failure, ModelAnswer, ModelCall
from shared.llm.sdk_model import Sdk, SdkModel

OPENAI = Sdk(openai, openai.AsyncOpenAI, openai.OpenAIError)


class OpenAIChat(SdkModel[openai.AsyncOpenAI]):
    """Asks for the next message of a conversation."""

    sdk = OPENAI
    endpoint = "chat.completions.create"

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        # As arguments: a parameter of that name is an error, and never asked instead.
        request: dict[str, Any] = dict(messages=list(call.messages), **call.parameters)
        if schema:
            held_to = {"type": "json_schema", "json_schema": _strict(schema)}
            request.setdefault("response_format", held_to)
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        try:
            choice = reply.choices[0]
            text, refusal = choice.message.content, getattr(choice.message, "refusal", None)
        except (AttributeError, IndexError, TypeError):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no choices.") from None
        usage = reply.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
        if choice.finish_reason == "content_filter":
            said = "The provider withheld the answer."
            raise CallFailed(Failure.CONTENT_FILTER, said, tokens=tokens)
        if isinstance(refusal, str) and refusal.strip():
            raise CallFailed(Failure.REFUSAL, refusal, tokens=tokens)
        if not isinstance(text, str) or not text.strip():
            said = f"The answer is empty ({choice.finish_reason})."
            raise CallFailed(Failure.EMPTY, said, tokens=tokens)
        finish, fingerprint = choice.finish_reason, reply.system_fingerprint
        return ModelAnswer(text, finish, tokens[0], tokens[1], reply.model, fingerprint)


def _strict(schema: AnswerSchema) -> dict[str, object]:
    return {"name": schema.name, "strict": True, "schema": dict(schema.schema)}


class OpenAIResponses(SdkModel[openai.AsyncOpenAI]):
    """Asks for a response; nothing is kept on the server, unless the parameters say so."""

    sdk = OPENAI
    endpoint = "responses.create"

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        given = {"store": False, **call.parameters}
        # As arguments: a parameter of that name is an error, and never asked instead.
        request: dict[str, Any] = dict(input=list(call.messages), **given)
        if schema:
            held_to = {"type": "json_schema", **_strict(schema)}
            request["text"] = {"format": held_to, **request.get("text", {})}
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        try:
            parts = [p for item in reply.output if item.type == "message" for p in item.content]
            status, stopped, usage = reply.status, reply.incomplete_details, reply.usage
        except (AttributeError, TypeError):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no output.") from None
        tokens = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
        why = stopped.reason if stopped else None
        if status == "failed":
            raise CallFailed(Failure.SERVER_ERROR, "The provider says that the response failed.")
        if why == "content_filter":
            said = "The provider withheld the answer."
            raise CallFailed(Failure.CONTENT_FILTER, said, tokens=tokens)
        if refusals := [part.refusal for part in parts if part.type == "refusal"]:
            raise CallFailed(Failure.REFUSAL, " ".join(refusals), tokens=tokens)
        text = "".join(part.text for part in parts if part.type == "output_text")
        if not text.strip():
            # A limit that reasoning has used up leaves nothing: that is an outcome of its own.
            empty = Failure.TRUNCATED if why == "max_output_tokens" else Failure.EMPTY
            raise CallFailed(empty, "The model's answer is empty.", tokens=tokens)
        finish = "length" if why == "max_output_tokens" else why or "stop"
        return ModelAnswer(text, finish, tokens[0], tokens[1], reply.model)
