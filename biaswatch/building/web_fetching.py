"""Fetches public pages, one at a time from each server, with pauses and limits."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.message import Message
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2

from biaswatch.shared.backoff import Backoff, retry_after_s
from biaswatch.shared.errors import UsageError
from biaswatch.shared.network.outgoing import (
    GuardedTransport,
    RequestFailedError,
    Unanswered,
    request_failures,
)

MOST_HOPS = 5
PORTS = {"http": 80, "https": 443}
BUSY = {429, 502, 503, 504}
MOVED = {301, 302, 303, 307, 308}
READABLE = {"application/xhtml+xml", "application/json"}
LONGEST_WAIT_S = 120.0
NO_CHARSETS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs"}
"""Python codecs that are not charsets of web pages."""


@dataclass(frozen=True)
class FetchLimits:
    """Limits on requests to a server: pauses, time-outs, sizes and attempts."""

    user_agent: str
    pause_s: float
    timeout_s: float
    largest_bytes: int
    tries: int


@dataclass(frozen=True)
class Page:
    """A fetched page."""

    url: str
    """Final URL after redirects."""
    kind: str
    """Its media type."""
    text: str


class PageMissingError(UsageError):
    """The server reports that the page does not exist."""


class PageFetcher:
    """Fetches pages."""

    def __init__(
        self,
        limits: FetchLimits,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.limits = limits
        self._sleep = sleep
        self._clock = clock
        self._locks: dict[tuple[str, int], asyncio.Lock] = {}
        self._next_at: dict[tuple[str, int], float] = {}
        self._delay_s: dict[tuple[str, int], float] = {}
        self._http = httpx2.AsyncClient(
            transport=transport or GuardedTransport(),
            trust_env=False,
            headers={"User-Agent": limits.user_agent, "Accept-Encoding": "identity"},
            timeout=limits.timeout_s,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def slow_down(self, url: str, delay_s: float) -> None:
        """Lengthen the pause between requests to a server."""
        self._delay_s[_server_of(url)] = delay_s

    async def get(self, url: str, check: Callable[[str], Any] | None = None) -> Page:
        """Return the page; `check` is awaited with the URL of every hop.

        Raise PageMissingError if the page does not exist, UsageError if it cannot be fetched
        (refused, too large, too slow, redirected in circles, not text).
        """
        at = url
        for _ in range(MOST_HOPS + 1):
            if check:
                await check(at)
            outcome = await self._with_retries(at)
            if isinstance(outcome, Page):
                return outcome
            at = _moved(at, outcome)
        raise UsageError(f"{url} is redirected more than {MOST_HOPS} times.")

    async def _with_retries(self, url: str) -> Page | str:
        """Retry while the server is busy; return the page or its new location."""
        backoff = Backoff(self.limits.pause_s, LONGEST_WAIT_S)
        for attempt in range(self.limits.tries):
            outcome = await self._once(url)
            if not isinstance(outcome, float):
                return outcome
            if outcome > LONGEST_WAIT_S:
                raise UsageError(f"{url}: the server asks for a retry in {outcome:g} s.")
            if attempt < self.limits.tries - 1:
                await self._sleep(max(outcome, backoff.delay_s(attempt + 1)))
        raise UsageError(
            f"{url}: the server is busy, also at the {self.limits.tries}th time. Try again later."
        )

    async def _once(self, url: str) -> Page | str | float:
        """Return the page, its new location, or the seconds to wait before a retry."""
        server = _server_of(url)
        async with self._locks.setdefault(server, asyncio.Lock()):
            wait_s = self._next_at.get(server, 0.0) - self._clock()
            if wait_s > 0:
                await self._sleep(wait_s)
            try:
                async with request_failures(url, self.limits.timeout_s):
                    return await self._response(url)
            except RequestFailedError as failed:
                raise UsageError(self._why_unfetched(url, failed)) from None
            finally:
                pause_s = max(self.limits.pause_s, self._delay_s.get(server, 0.0))
                self._next_at[server] = self._clock() + pause_s

    def _why_unfetched(self, url: str, failed: RequestFailedError) -> str:
        match failed.reason:
            case Unanswered.TIMEOUT:
                return f"{url} did not come within {self.limits.timeout_s:g} s."
            case Unanswered.UNKNOWN_HOST:
                return f"{url}: {failed}"
            case Unanswered.PRIVATE_ADDRESS:
                return (
                    f"{url} leads to {failed.address}, which is in a private network; only public"
                    " pages are read. Save the text as a file beside the plan instead."
                )
            case _:
                return f"{url} cannot be fetched: {failed}"

    async def _response(self, url: str) -> Page | str | float:
        request = self._http.build_request("GET", url)
        response = await self._http.send(request, stream=True, follow_redirects=False)
        try:
            status = response.status_code
            if status in MOVED and "location" in response.headers:
                return response.headers["location"]
            if status in BUSY:
                return retry_after_s(response.headers) or 0.0
            if status in {404, 410}:
                raise PageMissingError(f"{url} does not exist (HTTP {status}).")
            if status != 200:
                raise UsageError(f"{url} cannot be fetched: the server answered HTTP {status}.")
            return await self._page(url, response)
        finally:
            await response.aclose()

    async def _page(self, url: str, response: httpx2.Response) -> Page:
        header = Message()
        header["content-type"] = response.headers.get("content-type") or "application/octet-stream"
        kind, charset = header.get_content_type(), str(header.get_param("charset") or "utf-8")
        if not kind.startswith("text/") and kind not in READABLE:
            raise UsageError(f"{url} is not a page but {kind}; only text and HTML are read.")
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > self.limits.largest_bytes:
                limit = self.limits.largest_bytes / 1024**2
                raise UsageError(f"{url} is larger than {limit:g} MiB.")
        try:
            return Page(url, kind, _decoded(bytes(body), charset))
        except (UnicodeError, LookupError, ValueError):
            raise UsageError(f"{url} is not text in {charset[:40]!r}.") from None


def _decoded(body: bytes, charset: str) -> str:
    if charset.lower().replace("-", "_") in NO_CHARSETS:
        raise LookupError(charset)
    return body.decode(charset)


def _moved(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise UsageError(f"{url} redirects to an invalid address.") from None


def _server_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL; raise UsageError if it is not a page's URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{url!r} is not the address of a page.") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise UsageError(
            f"{url!r} is not the address of a page: it begins with http:// or https://."
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError("A page's address must hold no user or password.")
    return parts.hostname, port or PORTS[parts.scheme]
