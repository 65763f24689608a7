"""OpenAI Responses, through the official SDK: reasoning effort, and limits that count reasoning."""

from typing import Any

import openai

from shared.llm.clients import Clients
from shared.llm.openai_chat import KEY, OPENAI_URL, told
from shared.llm.port import Answer, Call, CallFailed, Failure, Form
from shared.llm.sdk_errors import outcomes


class OpenAIResponses:
    """Asks one server; nothing is kept on it, unless the parameters say so."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        tell_repeat: bool = False,
        structured: bool = True,
    ) -> None:
        self._clients = Clients(
            lambda: openai.AsyncOpenAI(
                api_key=api_key, base_url=base_url or OPENAI_URL, max_retries=0
            )
        )
        self._tell_repeat = tell_repeat
        self._structured = structured

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        said: Any = list(call.messages)
        parameters: Any = {"store": False, **call.parameters}
        if self._structured and call.form:
            text = parameters.get("text", {})
            parameters["text"] = {"format": _format(call.form), **text}
        with self._clients.one() as client:
            async with outcomes(openai, openai.OpenAIError, KEY, call.timeout_s):
                reply = await client.responses.create(
                    model=call.model,
                    input=said,
                    timeout=call.timeout_s,
                    extra_headers=told(call) if self._tell_repeat else {},
                    **parameters,
                )
        return _answer(reply)

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()


def _format(form: Form) -> dict[str, object]:
    return {"type": "json_schema", "name": form.name, "strict": True, "schema": dict(form.schema)}


def _answer(reply: Any) -> Answer:
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
