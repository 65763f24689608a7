"""A client of the gateway, whose replies are the gateway's own types."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx2
from pydantic import TypeAdapter, ValidationError

from services.gateway.monitors.views import AlarmView, AppliedMonitor, MonitorStatus, MonitorView
from services.gateway.runs.measurements import AnswerMeasurements, DeclaredAnalysis
from services.gateway.runs.views import (
    FlaggedPair,
    Interpretation,
    ResumedTarget,
    RunImpact,
    RunProgress,
    StartedRun,
    StoredSuite,
    StudyResults,
)
from services.gateway.traffic.requests import AcceptedBatch
from shared.contracts import (
    Assessment,
    Cancellation,
    Description,
    Diagnosis,
    Evaluation,
    Monitor,
    Suite,
)
from shared.contracts.mistakes import first_mistake
from shared.contracts.paused_target import PausedTarget
from shared.errors import TransientError, UsageError

RECONNECT_S = 0.5
TIMEOUT_S = 120
"""The intervals of a large study take a while."""
POLL_EVERY_S = 0.3

Reply = TypeVar("Reply")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what reads replies of a kind; making one takes longer than reading a line."""
    return TypeAdapter(kind)


class GatewayClient:
    """The gateway's operations; what it refuses is raised as a sentence."""

    def __init__(self, url: str, token: str | None = None) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise UsageError("The token has characters that no token has; see BIASWATCH_TOKEN.")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._url = url
        self._http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S)

    async def keep(self, suite: Suite) -> str:
        """Upload a suite; return its hash."""
        body = suite.model_dump(mode="json", exclude_none=True)
        return (await self._ask(StoredSuite, "POST", "/v1/suites", body)).hash

    async def start(self, request: Mapping[str, Any]) -> StartedRun:
        """Start or resume a run."""
        return await self._ask(StartedRun, "POST", "/v1/runs", request)

    async def cancel(self, run_id: str) -> None:
        """End a run before its time."""
        await self._ask(Cancellation, "POST", path("runs", run_id, "cancel"))

    async def paused_targets(self) -> list[PausedTarget]:
        """Return the targets that are not asked for now."""
        return await self._ask(list[PausedTarget], "GET", "/v1/targets/paused")

    async def resume_target(self, target: str) -> None:
        """Have a paused target asked again at once."""
        await self._ask(ResumedTarget, "POST", "/v1/targets/resume", {"target": target})

    async def follow(self, run_id: str, opening: int = 0) -> AsyncIterator[RunProgress]:
        """Return a run's progress whenever it changes, until it has ended."""
        events = path("runs", run_id, "events")
        ended = False
        while not ended:
            await self.progress(run_id)  # says why, where there is nothing to follow
            with suppress(httpx2.HTTPError):  # a broken stream is taken up again
                async with self._http.stream("GET", events, params={"opening": opening}) as reply:
                    async for line in reply.aiter_lines():
                        if line.startswith("data:"):
                            progress = self._read(RunProgress, line.removeprefix("data:"))
                            ended = progress.ended
                            yield progress
            if not ended:
                await asyncio.sleep(RECONNECT_S)

    async def runs(self, last: int, purpose: str) -> list[RunProgress]:
        """Return so many runs of a purpose, the latest first."""
        return await self._ask(list[RunProgress], "GET", f"/v1/runs?last={last}&purpose={purpose}")

    async def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is."""
        return await self._ask(RunProgress, "GET", path("runs", run_id))

    async def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the findings of a run."""
        return await self._ask(list[Diagnosis], "GET", path("runs", run_id, "diagnoses"))

    async def analysis(self, run_id: str) -> DeclaredAnalysis:
        """Return how a run is to be analysed, and how many answers it has."""
        return await self._ask(DeclaredAnalysis, "GET", path("runs", run_id, "analysis"))

    async def measurements(self, run_id: str) -> AsyncIterator[AnswerMeasurements]:
        """Return what was measured of every answer of a run, in the order of its plan.

        A connection that breaks is taken up again where it broke, as long as answers come.
        """
        read, before = 0, -1
        where = path("runs", run_id, "measurements")
        while True:
            try:
                async with self._http.stream("GET", where, params={"offset": read}) as reply:
                    await self._refused(reply)
                    async for line in reply.aiter_lines():
                        yield self._read(AnswerMeasurements, line)
                        read += 1
            except httpx2.HTTPError as error:
                if read == before:  # nothing came since it broke before
                    raise self._no_answer(error) from None
                before = read
            else:
                return

    async def assessments(self, run_id: str) -> list[Assessment]:
        """Return what else was looked at: quality, consistency, who is treated how."""
        return await self._ask(list[Assessment], "GET", path("runs", run_id, "assessments"))

    async def studies(self, run_id: str) -> StudyResults:
        """Return scores, pairs and judges of a run."""
        return await self._ask(StudyResults, "GET", path("runs", run_id, "studies"))

    async def impact_ratios(self, run_id: str, asked: Mapping[str, Any]) -> list[RunImpact]:
        """Return rates and impact ratios of a run, with the parameters that are given."""
        pairs = [
            (name, str(each))
            for name, value in asked.items()
            for each in (value if isinstance(value, list) else [value])
            if each is not None
        ]
        where = f"{path('runs', run_id, 'impact-ratios')}?{urlencode(pairs)}"
        return await self._ask(list[RunImpact], "GET", where)

    async def flagged(self, run_id: str) -> list[FlaggedPair]:
        """Return every flagged pair of a run, with its texts."""
        found: list[FlaggedPair] = []
        flagged = path("runs", run_id, "flagged")
        while some := await self._ask(list[FlaggedPair], "GET", f"{flagged}?offset={len(found)}"):
            found += some
        return found

    async def interpret(self, request: Mapping[str, Any]) -> Evaluation:
        """Have statistics interpreted and judged; return the evaluation once it is there."""
        found = await self._ask(Interpretation, "POST", "/v1/interpretations", request)
        address = path("interpretations", found.brief_id)
        while found.evaluation is None:
            await asyncio.sleep(POLL_EVERY_S)
            found = await self._ask(Interpretation, "GET", address)
        return found.evaluation

    async def apply_monitor(self, request: Mapping[str, Any]) -> AppliedMonitor:
        """Start a monitor, or change it."""
        return await self._ask(AppliedMonitor, "POST", "/v1/monitors", request)

    async def monitors(self) -> list[MonitorStatus]:
        """Return each monitor in one line."""
        return await self._ask(list[MonitorStatus], "GET", "/v1/monitors")

    async def monitor(self, name: str) -> MonitorView:
        """Return the evidence, verdicts and alarms of a monitor."""
        return await self._ask(MonitorView, "GET", path("monitors", name))

    async def alarms(self, name: str) -> list[AlarmView]:
        """Return a monitor's alarms with the answers behind them."""
        return await self._ask(list[AlarmView], "GET", path("monitors", name, "alarms"))

    async def windows(self, name: str, last: int) -> list[Description]:
        """Return so many windows of traffic, the latest first."""
        listed = f"{path('monitors', name, 'windows')}?last={last}"
        return await self._ask(list[Description], "GET", listed)

    async def pause_monitor(self, name: str) -> None:
        """Start no more rounds of a monitor for now."""
        await self._ask(Monitor, "POST", path("monitors", name, "pause"))

    async def resume_monitor(self, name: str) -> None:
        """Start rounds of a monitor again."""
        await self._ask(Monitor, "POST", path("monitors", name, "resume"))

    async def delete_monitor(self, name: str) -> None:
        """End a monitor for good."""
        await self._ask(Monitor, "DELETE", path("monitors", name))

    async def ingest(self, source: str, answers: Sequence[Mapping[str, Any]]) -> None:
        """Send recorded production answers in."""
        body = {"source": source, "responses": answers}
        await self._ask(AcceptedBatch, "POST", "/v1/responses", body)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    async def _ask(self, kind: type[Reply], verb: str, where: str, body: Any = None) -> Reply:
        """Return the gateway's reply; what it refuses is raised in its own sentence."""
        try:
            reply = await self._http.request(verb, where, json=body)
        except httpx2.HTTPError as error:
            raise self._no_answer(error) from None
        await self._refused(reply)
        return self._read(kind, reply.content)

    def _no_answer(self, error: httpx2.HTTPError) -> TransientError:
        return TransientError(
            f"The gateway at {self._url} does not answer ({type(error).__name__}). Start one"
            " with `biaswatch up`, or correct --server."
        )

    async def _refused(self, reply: httpx2.Response) -> None:
        """Raise what the gateway refuses, in its own sentence."""
        if reply.is_success:
            return
        await reply.aread()
        try:
            detail = str(reply.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = f"The gateway answered HTTP {reply.status_code}; is this a biaswatch gateway?"
        raise (TransientError if reply.is_server_error else UsageError)(detail)

    def _read(self, kind: type[Reply], data: str | bytes) -> Reply:
        wanted: Any = kind
        try:
            found: Reply = _adapter(wanted).validate_json(data)
        except ValidationError as error:
            mistake = first_mistake(error).in_words("the whole reply")
            raise UsageError(
                f"This version cannot read what the gateway at {self._url} answers ({mistake})."
                " Use the same version of biaswatch on both sides."
            ) from None
        return found


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
