"""The gateway as the command line talks to it, here or elsewhere."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx2

from shared.contracts import Suite
from shared.errors import TransientError, UsageError

ENDED = {"complete", "incomplete", "cancelled"}
RECONNECT_S = 0.5
TIMEOUT_S = 120
"""The intervals of a large study take a while."""
LOOK_EVERY_S = 0.3


class GatewayClient:
    """Asks a gateway; what it answers wrongly becomes one sentence."""

    def __init__(self, url: str, token: str | None = None) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise UsageError("The token has characters that no token has; see BIASWATCH_TOKEN.")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._url = url
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S)

    async def keep(self, suite: Suite) -> str:
        """Upload a suite; give its hash."""
        body = suite.model_dump(mode="json", exclude_none=True)
        return str((await self.ask("POST", "/v1/suites", body))["hash"])

    async def start(self, asked: Mapping[str, Any]) -> tuple[str, int]:
        """Start or resume a run; give its id, and the opening with which its news begin."""
        started = await self.ask("POST", "/v1/runs", asked)
        return str(started["run"]["id"]), int(started["opening"])

    async def cancel(self, run_id: str) -> None:
        """End a run before its time."""
        await self.ask("POST", path("runs", run_id, "cancel"))

    async def follow(self, run_id: str, opening: int = 0) -> AsyncIterator[dict[str, Any]]:
        """Return a run's progress whenever it changes, until it has ended."""
        news = path("runs", run_id, "events")
        stand: dict[str, Any] = {}
        while stand.get("stand") not in ENDED:
            await self.progress(run_id)  # says why, where there is nothing to follow
            with suppress(httpx2.HTTPError):  # a broken stream is taken up again
                async with self._http.stream("GET", news, params={"opening": opening}) as reply:
                    async for line in reply.aiter_lines():
                        if line.startswith("data:"):
                            stand = json.loads(line.removeprefix("data:"))
                            yield stand
            if stand.get("stand") not in ENDED:
                await asyncio.sleep(RECONNECT_S)

    async def runs(self, last: int, purpose: str) -> list[dict[str, Any]]:
        """Return so many runs of a purpose, the latest first."""
        listed = f"/v1/runs?last={last}&purpose={purpose}"
        found: list[dict[str, Any]] = await self.ask("GET", listed)
        return found

    async def progress(self, run_id: str) -> dict[str, Any]:
        """Tell how a run stands."""
        found: dict[str, Any] = await self.ask("GET", path("runs", run_id))
        return found

    async def diagnoses(self, run_id: str) -> list[dict[str, Any]]:
        """Return what a run shows."""
        found: list[dict[str, Any]] = await self.ask("GET", path("runs", run_id, "diagnoses"))
        return found

    async def assessments(self, run_id: str) -> list[dict[str, Any]]:
        """Return what else was looked at: quality, consistency, who is treated how."""
        found: list[dict[str, Any]] = await self.ask("GET", path("runs", run_id, "assessments"))
        return found

    async def studies(self, run_id: str) -> dict[str, Any]:
        """Return scores, pairs and judges of a run."""
        found: dict[str, Any] = await self.ask("GET", path("runs", run_id, "studies"))
        return found

    async def flagged(self, run_id: str) -> list[dict[str, Any]]:
        """Return every flagged pair of a run, with its texts."""
        found: list[dict[str, Any]] = []
        flagged = path("runs", run_id, "flagged")
        while some := await self.ask("GET", f"{flagged}?offset={len(found)}"):
            found += some
        return found

    async def interpret(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Have statistics interpreted and judged; give the evaluation once it is there."""
        found = await self.ask("POST", "/v1/interpretations", asked)
        asked_for = path("interpretations", found["brief_id"])
        while found["evaluation"] is None:
            await asyncio.sleep(LOOK_EVERY_S)
            found = await self.ask("GET", asked_for)
        return dict(found["evaluation"])

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    async def ask(self, verb: str, where: str, body: Any = None) -> Any:
        """Ask the gateway anything; what it refuses becomes its sentence."""
        try:
            reply = await self._http.request(verb, where, json=body)
        except httpx2.HTTPError as error:
            raise TransientError(
                f"The gateway at {self._url} does not answer ({type(error).__name__}). Start one"
                " with `biaswatch up`, or correct --server."
            ) from None
        if reply.is_success:
            return reply.json()
        raise (TransientError if reply.is_server_error else UsageError)(_detail(reply))


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


def _detail(reply: httpx2.Response) -> str:
    try:
        detail = reply.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return f"The gateway answered HTTP {reply.status_code}; is this a biaswatch gateway?"
    return str(detail)
