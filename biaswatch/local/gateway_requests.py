"""HTTP requests to a gateway, which may be away for a moment; its refusals are sentences."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2

from biaswatch.shared.errors import TransientError, UsageError

PATIENCE_S = 120.0
"""How long a gateway that has answered before may be away: it is being started again."""
PAUSE_S = 0.5
AWAY = {502, 503, 504}
"""What a gateway answers without its bus or its store, and a proxy without its gateway."""
FULL = 429
"""What a gateway answers that is there and takes no more until its services have caught up."""
LONGEST_WAIT_S = 30.0
"""Between two tries, whatever such a gateway asks for."""
TIMEOUT_S = 120
"""The intervals of a large study take a while."""


class GatewayRequests:
    """Sends requests; a gateway that has answered once is waited for, unless it is `gone`."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        gone: Callable[[], bool],
        patience_s: float = PATIENCE_S,
    ) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise UsageError("The token has characters that no token has; see BIASWATCH_TOKEN.")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._url = url
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S)
        self._gone, self._patience_s = gone, patience_s
        self._has_answered = False

    async def ask(
        self, verb: str, where: str, body: Any = None, *, repeatable: bool = False
    ) -> bytes:
        """Return the body of the reply.

        A request that may have arrived is sent again only where it is `repeatable`.

        Raises
        ------
        TransientError
            The gateway does not answer, or cannot do it now.
        UsageError
            It refuses.
        """
        reply = await self._reply(verb, where, body, repeatable or verb == "GET")
        await self.check(reply)
        self._has_answered = True
        return reply.content

    async def _reply(self, verb: str, where: str, body: Any, repeatable: bool) -> httpx2.Response:
        """Ask until there is a reply, as long as there is reason to wait for one."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + (self._patience_s if self._has_answered else 0)
        while True:
            try:
                reply = await self._http.request(verb, where, json=body)
            except httpx2.HTTPError as error:
                waits = repeatable or isinstance(error, httpx2.ConnectError)
                if not waits or clock() >= deadline or self._gone():
                    raise self.no_answer(error) from None
            else:
                if repeatable and reply.status_code == FULL:
                    # It works, so it is waited for as long as it says so.
                    await asyncio.sleep(wait_s(reply.headers.get("retry-after", "")))
                    deadline = clock() + self._patience_s
                    continue
                if reply.status_code not in AWAY or not repeatable or clock() >= deadline:
                    return reply
            await asyncio.sleep(PAUSE_S)

    def stream(self, where: str, **parameters: int) -> Any:
        """Return the context of a reply that is read while it comes."""
        return self._http.stream("GET", where, params=parameters)

    async def check(self, reply: httpx2.Response) -> None:
        """Raise what the gateway refuses, in its own sentence."""
        if reply.is_success:
            return
        await reply.aread()
        try:
            detail = str(reply.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = f"The gateway answered HTTP {reply.status_code}; is this a biaswatch gateway?"
        raise (TransientError if reply.is_server_error else UsageError)(detail)

    def no_answer(self, error: httpx2.HTTPError) -> TransientError:
        """Return the sentence for a gateway that is not there."""
        return TransientError(
            f"The gateway at {self._url} does not answer ({type(error).__name__}). Start one"
            " with `biaswatch up`, or correct --server."
        )

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()


def wait_s(retry_after: str) -> float:
    """Return how long to wait where a gateway asks to come again after so many seconds."""
    asked = float(retry_after) if retry_after.isdecimal() else PAUSE_S
    return min(LONGEST_WAIT_S, asked)


def path(*parts: str) -> str:
    """Return the path of something by its name, whatever that is made of.

    Raises
    ------
    UsageError
        A name is empty.
    """
    if not all(parts):
        raise UsageError(
            "The name is empty. `biaswatch runs` and `monitor list` list those there are."
        )
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
