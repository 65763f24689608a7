"""The gateway's HTTP API, as far as the operator uses it; what it refuses is a sentence."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from biaswatch.services.operator.domain.gateway_replies import (
    AcceptedRun,
    FoundDiagnoses,
    KeptSuite,
    MonitorApplied,
    SeenDiagnosis,
    SeenMonitor,
    SeenRun,
    SeenSuite,
)
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError

TIMEOUT_S = 60.0
TOKEN_REFUSED = {401, 403}
TOO_MANY = 429
NOT_FOUND = 404
Reply = TypeVar("Reply", bound=BaseModel)


class GatewayApi:
    """Asks a gateway under a token of the operator's own."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def monitor(self, name: str) -> SeenMonitor | None:
        """Return a monitor, or None where there is none of this name."""
        found = await self._found(_path("monitors", name))
        return None if found is None else self._read(SeenMonitor, found)

    async def apply(self, file: Mapping[str, Any]) -> MonitorApplied:
        """Apply the file of a monitor; the same file again changes nothing."""
        return self._read(MonitorApplied, await self._ask("POST", "/v1/monitors", file))

    async def change(self, name: str, act: str) -> None:
        """Pause or resume a monitor."""
        await self._ask("POST", _path("monitors", name, act))

    async def delete(self, name: str) -> None:
        """Delete a monitor; one that is not there is deleted already."""
        try:
            await self._ask("DELETE", _path("monitors", name))
        except NotFoundError:
            return

    async def suite(self, hash_: str) -> SeenSuite | None:
        """Return what is known of a suite, or None where it was never uploaded."""
        found = await self._found(_path("suites", hash_))
        return None if found is None else self._read(SeenSuite, found)

    async def keep(self, content: Mapping[str, Any]) -> str:
        """Upload a suite; return its hash."""
        return self._read(KeptSuite, await self._ask("POST", "/v1/suites", content)).hash

    async def start(self, body: Mapping[str, Any]) -> str:
        """Start a run and return its id; one that is under way is left alone."""
        return self._read(AcceptedRun, await self._ask("POST", "/v1/runs", body)).run.id

    async def run(self, run_id: str) -> SeenRun:
        """Return how far a run is."""
        return self._read(SeenRun, await self._ask("GET", _path("runs", run_id)))

    async def diagnoses(self, run_id: str) -> list[SeenDiagnosis]:
        """Return the findings of a run."""
        found = await self._ask("GET", _path("runs", run_id, "diagnoses"))
        return self._read(FoundDiagnoses, {"found": found}).found

    async def cancel(self, run_id: str) -> None:
        """End a run before its time; one that is not there has ended."""
        try:
            await self._ask("POST", _path("runs", run_id, "cancel"))
        except NotFoundError:
            return

    def _read(self, kind: type[Reply], found: Any) -> Reply:
        try:
            return kind.model_validate(found)
        except ValidationError:
            raise TransientError(self._unknown_reply()) from None

    def _unknown_reply(self) -> str:
        return (
            f"What answers at {self._url} is no gateway that this operator knows. Correct"
            " BIASWATCH_OPERATOR_GATEWAY_URL, or run both of one release."
        )

    async def _found(self, path: str) -> Any:
        try:
            return await self._ask("GET", path)
        except NotFoundError:
            return None

    async def _ask(self, verb: str, path: str, body: Any = None) -> Any:
        """Return the reply.

        Raises
        ------
        TransientError
            The gateway does not answer, cannot do it now, or does not know the operator's token.
        NotFoundError
            There is no such thing.
        UsageError
            It refuses.
        """
        try:
            reply = await self._http.request(verb, path, json=body)
        except httpx2.HTTPError as error:
            raise TransientError(
                f"The gateway at {self._url} does not answer ({type(error).__name__})."
            ) from None
        if reply.is_success:
            try:
                return reply.json()
            except ValueError:
                raise TransientError(self._unknown_reply()) from None
        said = _sentence(reply)
        if reply.status_code in TOKEN_REFUSED:
            raise TransientError(f"The gateway does not let the operator do this: {said}")
        if reply.is_server_error or reply.status_code == TOO_MANY:
            raise TransientError(said)
        raise (NotFoundError if reply.status_code == NOT_FOUND else UsageError)(said)


def _sentence(reply: httpx2.Response) -> str:
    try:
        return str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"What answers there with HTTP {reply.status_code} is no gateway of biaswatch."


def _path(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
