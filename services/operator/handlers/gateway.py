"""A client of the gateway's HTTP API."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import TypeAdapter, ValidationError

from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.network.outgoing import RequestFailedError, outgoing_client, request_failures
from biaswatch.shared.requests.monitor_views import AppliedMonitor, MonitorView
from biaswatch.shared.requests.run_views import RunProgress, StartedRun, StoredSuite, SuiteView
from biaswatch.shared.requests.search_views import SearchProgress, SearchView

TIMEOUT_S = 60.0
UNAUTHORIZED = {401, 403}
NOT_FOUND, TOO_MANY_REQUESTS = 404, 429
Reply = TypeVar("Reply")


class GatewayApi:
    """Calls a gateway with the operator's token; refusals are raised as sentences."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = outgoing_client(None, headers=headers, timeout_s=TIMEOUT_S)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def trouble(self) -> str | None:
        """Return why the gateway cannot be used now; None while it can."""
        try:
            await self._send("GET", _path("targets", "paused"))
        except (TransientError, UsageError) as error:
            return str(error)
        return None

    async def monitor(self, name: str) -> MonitorView | None:
        """Return a monitor, or None if it does not exist."""
        return await self._find(MonitorView, _path("monitors", name))

    async def apply(self, file: Mapping[str, Any]) -> AppliedMonitor:
        """Apply the file of a monitor; the same file again changes nothing."""
        return await self._request(AppliedMonitor, "POST", "/v1/monitors", file)

    async def change(self, name: str, act: str) -> None:
        """Pause or resume a monitor."""
        await self._send("POST", _path("monitors", name, act))

    async def delete(self, name: str) -> None:
        """Delete a monitor, if it exists."""
        with suppress(NotFoundError):
            await self._send("DELETE", _path("monitors", name))

    async def suite(self, suite_hash: str) -> SuiteView | None:
        """Return a suite, or None if it was never uploaded."""
        return await self._find(SuiteView, _path("suites", suite_hash))

    async def upload(self, content: Mapping[str, Any]) -> str:
        """Upload a suite; return its hash."""
        return (await self._request(StoredSuite, "POST", "/v1/suites", content)).hash

    async def start(self, body: Mapping[str, Any]) -> str:
        """Start a run unless it is under way, and return its id."""
        return (await self._request(StartedRun, "POST", "/v1/runs", body)).run.id

    async def run(self, run_id: str) -> RunProgress:
        """Return the progress of a run."""
        return await self._request(RunProgress, "GET", _path("runs", run_id))

    async def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the findings of a run."""
        return await self._request(list[Diagnosis], "GET", _path("runs", run_id, "diagnoses"))

    async def cancel(self, kind: str, id_: str) -> None:
        """Cancel one of the `runs` or `searches`, if it exists."""
        with suppress(NotFoundError):
            await self._send("POST", _path(kind, id_, "cancel"))

    async def start_search(self, body: Mapping[str, Any]) -> str:
        """Start a search or raise its budget, and return its id."""
        return (await self._request(SearchProgress, "POST", "/v1/searches", body)).search_id

    async def search(self, search_id: str) -> SearchView:
        """Return the state and the results of a search."""
        return await self._request(SearchView, "GET", _path("searches", search_id))

    async def _find(self, model: type[Reply], path: str) -> Reply | None:
        try:
            return await self._request(model, "GET", path)
        except NotFoundError:
            return None

    async def _request(
        self, model: type[Reply], method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Reply:
        reply = await self._send(method, path, body)
        try:
            return TypeAdapter(model).validate_python(reply)
        except ValidationError:
            raise self._unknown_reply() from None

    def _unknown_reply(self) -> TransientError:
        return TransientError(
            f"The server at {self._url} is not a gateway of this operator's release. Correct"
            " BIASWATCH_OPERATOR_GATEWAY_URL, or run both of one release."
        )

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the decoded reply.

        Raises
        ------
        TransientError
            The gateway does not respond, is overloaded, or refuses the operator's token.
        NotFoundError
            The resource does not exist.
        UsageError
            The request is refused.
        """
        try:
            async with request_failures(self._url, TIMEOUT_S):
                reply = await self._http.request(method, self._url + path, json=body)
        except RequestFailedError as failed:
            raise TransientError(f"The gateway at {self._url} does not answer: {failed}") from None
        if reply.is_success:
            try:
                return reply.json()
            except ValueError:
                raise self._unknown_reply() from None
        detail = _detail(reply)
        if reply.status_code in UNAUTHORIZED:
            raise TransientError(f"The gateway does not let the operator do this: {detail}")
        if reply.is_server_error or reply.status_code == TOO_MANY_REQUESTS:
            raise TransientError(detail)
        raise (NotFoundError if reply.status_code == NOT_FOUND else UsageError)(detail)


def _detail(reply: httpx2.Response) -> str:
    try:
        return str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The server answers HTTP {reply.status_code} and is not a gateway of biaswatch."


def _path(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
