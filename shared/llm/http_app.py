"""Any HTTP application as a model: fill a request template, follow a pointer into the reply."""

import asyncio
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

import httpx2
import yaml
from pydantic import JsonValue

from shared.contracts import Target
from shared.contracts.providers.http import Application
from shared.errors import UsageError
from shared.files import checked, read_text
from shared.llm.bounded_replies import ACCEPTED, accepted_call, bounded_body
from shared.llm.port import (
    HOST_KEY_SOURCE,
    PURPOSE_HEADER,
    UNKNOWN_TOKENS,
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
    Tokens,
    key_refused,
    off_limits,
)
from shared.llm.reply_values import json_of, storable
from shared.network import GuardedTransport, PrivateAddressError, UnknownHostError, retry_after_s
from shared.parsing.yaml_values import parse_yaml

MESSAGES, PROMPT, SYSTEM, REPEAT = "{messages}", "{prompt}", "{system}", "{repeat}"


def read_application(path: Path) -> Application:
    """Read the file that describes an application.

    Raises
    ------
    UsageError
        It cannot be read, or a field is wrong; its contents are not repeated.
    """
    try:
        fields = parse_yaml(read_text(path, "application"))
    except yaml.YAMLError:  # its own words could repeat a key
        raise UsageError(f"The application {path} is not YAML or JSON.") from None
    return checked(Application, fields, f"The application {path}")


class HttpApp:
    """Asks one application."""

    def __init__(
        self, application: Application, *, key: str | None, private_hosts: Collection[str] = ()
    ) -> None:
        headers = {"Accept-Encoding": ACCEPTED, **application.headers}
        if key:
            headers[application.key_header] = application.key_prefix + key
        self._application = application
        transport = GuardedTransport(private_hosts)
        self._client = httpx2.AsyncClient(transport=transport, headers=headers, trust_env=False)

    @classmethod
    def connect(cls, target: Target, connection: ModelEndpoint) -> Self:
        """Return the adapter for a target."""
        application = Application.model_validate(target.parameters)
        return cls(application, key=connection.key, private_hosts=connection.private_hosts)

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """See `ChatModel.ask`."""
        body = filled_template(self._application.request, call)
        accepted: list[bool] = []
        accepted_call.set(accepted)
        try:
            async with asyncio.timeout(call.timeout_s):
                status, headers, reply = await self._exchange(body, call)
        except (TimeoutError, httpx2.TimeoutException):
            said = "The application did not answer in time."
            raise CallFailed(Failure.TIMEOUT, said, tokens=_cost(accepted)) from None
        except UnknownHostError as error:
            raise CallFailed(Failure.UNREACHABLE, str(error)) from None
        except PrivateAddressError:
            raise off_limits(httpx2.URL(self._application.url).host) from None
        except httpx2.HTTPError:
            said = "The application cannot be reached."
            raise CallFailed(Failure.UNREACHABLE, said, tokens=_cost(accepted)) from None
        except (ValueError, TypeError, LookupError):  # headers and bodies no library expects
            said = "The application's reply could not be read."
            raise CallFailed(Failure.GARBAGE, said, tokens=_cost(accepted)) from None
        _check(status, headers)
        return ModelAnswer(self._text(reply), "stop")

    async def _exchange(
        self, body: JsonValue, call: ModelCall
    ) -> tuple[int, httpx2.Headers, bytes]:
        url, why = self._application.url, {PURPOSE_HEADER: call.purpose}
        asked = self._client.stream("POST", url, json=body, headers=why, timeout=call.timeout_s)
        async with asked as reply:
            return reply.status_code, reply.headers, await bounded_body(reply)

    def _text(self, reply: bytes) -> str:
        document = json_of(reply, "The application's")
        try:
            found: Any = found_at(document, self._application.answer)
        except LookupError:
            said = f"The application's reply has nothing at {self._application.answer}."
            raise CallFailed(Failure.GARBAGE, said, tokens=UNKNOWN_TOKENS) from None
        if not isinstance(found, str):
            said = "What the pointer finds is no text."
            raise CallFailed(Failure.GARBAGE, said, tokens=UNKNOWN_TOKENS)
        if not found.strip():
            said = "The application's answer is empty."
            raise CallFailed(Failure.EMPTY, said, tokens=UNKNOWN_TOKENS)
        return storable(found)

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._client.aclose()


def _cost(accepted: list[bool]) -> Tokens | None:
    """Return what a call cost that failed: unknown once it was accepted, else nothing."""
    return UNKNOWN_TOKENS if accepted else None


def _check(status: int, headers: httpx2.Headers) -> None:
    if status in {401, 403}:
        raise key_refused(status, HOST_KEY_SOURCE)
    if status == 429:
        said = "The application limits the rate of calls (HTTP 429)."
        raise CallFailed(Failure.RATE_LIMITED, said, retry_after_s=retry_after_s(headers))
    if status >= 500:
        raise CallFailed(Failure.SERVER_ERROR, f"The application answered HTTP {status}.")
    if not 200 <= status < 300:
        raise CallFailed(Failure.BAD_REQUEST, f"The application answered HTTP {status}.")


def found_at(document: Any, pointer: str) -> Any:
    """Return what a pointer points to; raise LookupError where nothing is there."""
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
            raise LookupError(pointer)  # noqa: TRY004 - the reply is another than was described
    return document


def filled_template(template: JsonValue, call: ModelCall) -> JsonValue:
    """Return the request: placeholders in its strings become what is asked, nothing else does."""
    if isinstance(template, dict):
        return {name: filled_template(value, call) for name, value in template.items()}
    if isinstance(template, list):
        return [filled_template(value, call) for value in template]
    if template == MESSAGES:
        return [dict(message) for message in call.messages if message["role"] != "system"]
    if not isinstance(template, str):
        return template
    said = [message["content"] for message in call.messages if message["role"] != "system"]
    system = [message["content"] for message in call.messages if message["role"] == "system"]
    words = {PROMPT: "\n\n".join(said), SYSTEM: "\n\n".join(system), REPEAT: call.repeat_key}
    # In one pass, so that what a prompt says is never taken for a placeholder.
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], template)
