"""OpenAI Responses, through the official SDK: reasoning effort, and limits that count reasoning."""

from collections.abc import Awaitable, Callable
from typing import Any

import openai

from shared.llm.openai_chat import OPENAI
from shared.llm.port import Answer, Call, CallFailed, Failure, Form
from shared.llm.sdk_model import SdkModel


class OpenAIResponses(SdkModel[openai.AsyncOpenAI]):
    """Asks for a response; nothing is kept on the server, unless the parameters say so."""

    provider = OPENAI

    def _endpoint(self, client: openai.AsyncOpenAI) -> Callable[..., Awaitable[Any]]:
        return client.responses.create

    def _request(self, call: Call, form: Form | None) -> dict[str, Any]:
        given = {"store": False, **call.parameters}
        # As arguments: a parameter of that name is an error, and never asked instead.
        request: dict[str, Any] = dict(input=list(call.messages), **given)
        if form:
            request["text"] = {"format": _response_schema(form), **request.get("text", {})}
        return request

    def _answer(self, reply: Any) -> Answer:
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
            raise CallFailed(empty, "The model said nothing.", tokens=tokens)
        finish = "length" if why == "max_output_tokens" else why or "stop"
        return Answer(text, finish, tokens[0], tokens[1], reply.model)


def _response_schema(form: Form) -> dict[str, object]:
    return {"type": "json_schema", "name": form.name, "strict": True, "schema": dict(form.schema)}
