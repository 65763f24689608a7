"""Any HTTP application as a model: a request template, and a pointer into the reply."""

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

import httpx2
import yaml
from pydantic import JsonValue

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.providers.http import Application, StepPointers
from biaswatch.shared.contracts.tools import MAX_STEPS, ToolStep
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, read_text
from biaswatch.shared.llm.bounded_replies import ACCEPTED, CallProgress, bounded_body, call_progress
from biaswatch.shared.llm.port import (
    HOST_KEY_SOURCE,
    PURPOSE_HEADER,
    UNKNOWN_TOKENS,
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
    Tokens,
    no_logprobs,
    off_limits,
    unsendable,
)
from biaswatch.shared.llm.provider_errors import failure_of_status, failure_without_text
from biaswatch.shared.llm.replies import is_from_cache, json_of, label_of, shortened, storable
from biaswatch.shared.llm.tool_calls import arguments_of
from biaswatch.shared.network.outgoing import (
    RequestFailedError,
    Unanswered,
    host_of,
    outgoing_client,
    request_failures,
)
from biaswatch.shared.parsing.yaml_values import parse_yaml

MAX_RESULT_CHARACTERS = 20_000
"""Longer results of an application's tools are cut."""
MAX_CALL_S = 3600.0
"""Default of the client; every call has its own time limit."""
MESSAGES, PROMPT, SYSTEM, REPEAT = "{messages}", "{prompt}", "{system}", "{repeat}"


def read_application(path: Path) -> Application:
    """Read the file that describes an application.

    Raises
    ------
    UsageError
        It cannot be read, or a field is invalid; its contents are not repeated.
    """
    try:
        fields = parse_yaml(read_text(path, "application"))
    except yaml.YAMLError:  # its message could contain a key
        raise UsageError(f"The application {path} is not YAML or JSON.") from None
    return checked(Application, fields, f"The application {path}")


class HttpApp:
    """Client of one application."""

    def __init__(
        self, application: Application, *, key: str | None, private_hosts: Collection[str] = ()
    ) -> None:
        headers = {"Accept-Encoding": ACCEPTED, **application.headers}
        if key:
            headers[application.key_header] = application.key_prefix + key
        self._application, self._key = application, key
        self._client = outgoing_client(private_hosts, timeout_s=MAX_CALL_S, headers=headers)

    @classmethod
    def connect(cls, target: Target, connection: ModelEndpoint) -> Self:
        """Return the adapter for a target."""
        application = Application.model_validate(target.parameters)
        return cls(application, key=connection.key, private_hosts=connection.private_hosts)

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """See `ChatModel.ask`."""
        if call.continuations:
            raise no_logprobs("an application returns texts alone")
        request = self._request(call)
        progress = CallProgress(sent=True)
        call_progress.set(progress)
        try:
            async with request_failures(self._application.url, call.timeout_s):
                status, headers, reply = await self._exchange(request)
        except RequestFailedError as failed:
            raise self._failure(failed, progress) from None
        except (ValueError, TypeError, LookupError):  # malformed headers or bodies
            detail = "The application's reply could not be read."
            raise CallFailed(Failure.GARBAGE, detail, tokens=_cost(progress)) from None
        if not 200 <= status < 300:
            raise failure_of_status(
                "The application", status, headers, reply,
                key=self._key, key_source=HOST_KEY_SOURCE,
            )  # fmt: skip
        document = json_of(reply, "The application's")
        steps = steps_in(document, self._application.steps) if self._application.steps else ()
        text = self._text(document)
        return ModelAnswer(text, "stop", from_cache=is_from_cache(headers), tool_steps=steps)

    def _failure(self, failed: RequestFailedError, progress: CallProgress) -> CallFailed:
        if failed.reason is Unanswered.PRIVATE_ADDRESS:
            return off_limits(host_of(self._application.url) or "")
        if failed.reason is Unanswered.UNKNOWN_HOST:
            return CallFailed(Failure.UNREACHABLE, str(failed))
        tokens = _cost(progress)
        if failed.reason is Unanswered.TIMEOUT:
            detail = "The application did not answer in time."
            return CallFailed(Failure.TIMEOUT, detail, tokens=tokens)
        return CallFailed(Failure.UNREACHABLE, "The application cannot be reached.", tokens=tokens)

    def _request(self, call: ModelCall) -> httpx2.Request:
        try:
            return self._client.build_request(
                "POST",
                self._application.url,
                json=filled_template(self._application.request, call),
                headers={PURPOSE_HEADER: call.purpose},
                timeout=call.timeout_s,
            )
        except Exception as error:  # noqa: BLE001 - nothing was sent
            raise unsendable(error) from None

    async def _exchange(self, request: httpx2.Request) -> tuple[int, httpx2.Headers, bytes]:
        reply = await self._client.send(request, stream=True)
        return reply.status_code, reply.headers, await bounded_body(reply)

    def _text(self, document: Any) -> str:
        try:
            text: Any = value_at(document, self._application.answer)
        except LookupError:
            if failure := failure_without_text(document, key=self._key):
                raise failure from None
            detail = f"The application's reply has nothing at {self._application.answer}."
            raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS) from None
        if not isinstance(text, str):
            detail = f"The value at {self._application.answer} is not a text."
            raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS)
        if not text.strip():
            if failure := failure_without_text(document, key=self._key):
                raise failure
            detail = "The application's answer is empty."
            raise CallFailed(Failure.EMPTY, detail, tokens=UNKNOWN_TOKENS)
        return storable(text)

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._client.aclose()


def _cost(progress: CallProgress) -> Tokens | None:
    """Return the usage of a failed call: unknown once it was accepted, else None."""
    return UNKNOWN_TOKENS if progress.accepted else None


def steps_in(document: Any, pointers: StepPointers) -> tuple[ToolStep, ...]:
    """Return the calls of tools that an application made.

    Raises
    ------
    CallFailed
        The list is missing or too long, or a step has no name or no valid arguments.
    """
    try:
        steps = value_at(document, pointers.list)
    except (LookupError, ValueError):
        steps = None
    if not isinstance(steps, list):
        detail = f"The application's reply has no list of steps at {pointers.list}."
        raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS)
    if len(steps) > MAX_STEPS:
        detail = f"The application returned {len(steps):,} steps; the limit is {MAX_STEPS}."
        raise CallFailed(Failure.OVERSIZE, detail, tokens=UNKNOWN_TOKENS)
    return tuple(_step(step, pointers) for step in steps)


def _step(step: Any, pointers: StepPointers) -> ToolStep:
    name, arguments, result = (
        _value_or_none(step, pointer)
        for pointer in (pointers.name, pointers.arguments, pointers.result)
    )
    if not (named := label_of(name)):
        detail = "A step of the application names no tool."
        raise CallFailed(Failure.TOOL_CALL, detail, tokens=UNKNOWN_TOKENS)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return ToolStep(
        step=0, name=named, arguments=arguments_of(arguments, UNKNOWN_TOKENS),
        result="" if result is None else shortened(text, MAX_RESULT_CHARACTERS),
    )  # fmt: skip


def _value_or_none(document: Any, pointer: str) -> Any:
    try:
        return value_at(document, pointer)
    except (LookupError, ValueError):
        return None


def value_at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer; raise LookupError if it is missing."""
    if pointer and not pointer.startswith("/"):
        raise LookupError(pointer)
    for raw in pointer.split("/")[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            if not (step.isascii() and step.isdigit()):
                raise LookupError(pointer)
            document = document[int(step)]
        elif isinstance(document, Mapping):
            document = document[step]
        else:
            raise LookupError(pointer)  # noqa: TRY004 - the reply is not as described
    return document


def filled_template(template: JsonValue, call: ModelCall) -> JsonValue:
    """Return the request, with the placeholders in its strings replaced."""
    if isinstance(template, dict):
        return {name: filled_template(value, call) for name, value in template.items()}
    if isinstance(template, list):
        return [filled_template(value, call) for value in template]
    if template == MESSAGES:
        return [dict(message) for message in call.messages if message["role"] != "system"]
    if not isinstance(template, str):
        return template
    prompt = [message["content"] for message in call.messages if message["role"] != "system"]
    system = [message["content"] for message in call.messages if message["role"] == "system"]
    words = {PROMPT: "\n\n".join(prompt), SYSTEM: "\n\n".join(system), REPEAT: call.repeat_key}
    # In one pass, so that texts of the prompt are never taken for placeholders.
    return re.sub("|".join(map(re.escape, words)), lambda match: words[match[0]], template)
