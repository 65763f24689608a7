"""HTTP requests to a gateway: wait while it restarts, and raise refusals as sentences."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2

from biaswatch.shared.errors import NotFoundError, TransientError, UsageError

PATIENCE_S = 120.0
"""Wait for a gateway that has answered before and is restarting."""
PAUSE_S = 0.5
UNAVAILABLE = {502, 503, 504}
"""Status codes of a gateway without bus or store, and of a proxy without gateway."""
NOT_FOUND, TOO_MANY_REQUESTS = 404, 429
"""Status code of a gateway whose services have to catch up first."""
LONGEST_WAIT_S = 30.0
"""Maximum wait between two attempts, also for a longer `Retry-After`."""
TIMEOUT_S = 120
"""The intervals of a large study take a while."""


class GatewayRequests:
    """Sends requests; waits for a gateway that has answered before, unless it is `gone`."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        gone: Callable[[], bool],
        patience_s: float = PATIENCE_S,
        auth: httpx2.Auth | None = None,
    ) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise UsageError("The token has invalid characters; see BIASWATCH_TOKEN.")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._url = url
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S, auth=auth)
        self._gone, self._patience_s = gone, patience_s
        self._has_answered = False

    async def ask(
        self, verb: str, where: str, body: Any = None, *, repeatable: bool = False
    ) -> bytes:
        """Send a request; return the body of the reply.

        A request that may have arrived is repeated only if it is `repeatable`.

        Raises
        ------
        TransientError
            The gateway does not answer, or is unavailable.
        UsageError
            The gateway refuses the request.
        """
        reply = await self._reply(verb, where, body, repeatable or verb == "GET")
        await self.check(reply)
        self._has_answered = True
        return reply.content

    async def _reply(self, verb: str, where: str, body: Any, repeatable: bool) -> httpx2.Response:
        """Repeat the request until it is answered or waiting is pointless."""
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
                if repeatable and reply.status_code == TOO_MANY_REQUESTS:
                    # The gateway works: wait as long as it asks for.
                    await asyncio.sleep(wait_s(reply.headers.get("retry-after", "")))
                    deadline = clock() + self._patience_s
                    continue
                if reply.status_code not in UNAVAILABLE or not repeatable or clock() >= deadline:
                    return reply
            await asyncio.sleep(PAUSE_S)

    def stream(self, where: str, **parameters: int) -> Any:
        """Return the context of a streamed reply."""
        return self._http.stream("GET", where, params=parameters)

    async def check(self, reply: httpx2.Response) -> None:
        """Raise the gateway's refusal with its own sentence."""
        if reply.is_success:
            return
        await reply.aread()
        try:
            detail = str(reply.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = f"The gateway answered HTTP {reply.status_code}; is this a biaswatch gateway?"
        refused = NotFoundError if reply.status_code == NOT_FOUND else UsageError
        raise (TransientError if reply.is_server_error else refused)(detail)

    def no_answer(self, error: httpx2.HTTPError) -> TransientError:
        """Return the error for a gateway that does not answer."""
        return TransientError(
            f"The gateway at {self._url} does not answer ({type(error).__name__}). Start one"
            " with `biaswatch up`, or correct --server."
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()


def wait_s(retry_after: str) -> float:
    """Return the wait before the next attempt, from a `Retry-After` header in seconds."""
    requested = float(retry_after) if retry_after.isdecimal() else PAUSE_S
    return min(LONGEST_WAIT_S, requested)


def path(*parts: str) -> str:
    """Return the API path of a resource, with its name quoted.

    Raises
    ------
    UsageError
        A name is empty.
    """
    if not all(parts):
        raise UsageError(
            "The name is empty. `biaswatch runs` and `biaswatch monitor list` list the names."
        )
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
