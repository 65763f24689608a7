"""A client of the gateway; replies are parsed as the types of the API."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from biaswatch.local.gateway_requests import GatewayRequests, path
from biaswatch.shared.contracts import (
    Assessment,
    AuditEntry,
    Cancellation,
    Diagnosis,
    Evaluation,
    Monitor,
    PausedTarget,
    Suite,
    first_mistake,
    parse_target,
)
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.evidence import WindowView
from biaswatch.shared.requests.exports import AnswerMeasurements, DeclaredAnalysis
from biaswatch.shared.requests.monitor_views import (
    AlarmView,
    AppliedMonitor,
    MonitorStatus,
    MonitorView,
)
from biaswatch.shared.requests.monitors import MonitorFile
from biaswatch.shared.requests.platform import (
    AuditRequest,
    ChannelView,
    PurgedTexts,
    PurgeRequest,
    RetriedChannel,
    SignInView,
)
from biaswatch.shared.requests.run_views import (
    FlaggedPair,
    Interpretation,
    ResumedTarget,
    RunImpact,
    RunProgress,
    StartedRun,
    StoredSuite,
    StudyResults,
)
from biaswatch.shared.requests.runs import BriefRequest, ImpactRequest, RunRequest
from biaswatch.shared.requests.traffic import AcceptedBatch, HistoryView

RECONNECT_S, POLL_EVERY_S = 0.5, 0.3

Reply = TypeVar("Reply")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the cached adapter of a type: building one takes longer than parsing a line."""
    return TypeAdapter(kind)


class GatewayClient:
    """Call the operations of the gateway; refusals are raised as errors with its sentence."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        gone: Callable[[], bool] = lambda: False,
        auth: httpx2.Auth | None = None,
    ) -> None:
        self._url = url
        self._requests = GatewayRequests(url, token, gone=gone, auth=auth)

    async def sign_in(self) -> SignInView:
        """Return how the gateway signs people in."""
        return await self._ask(SignInView, "GET", path("sign-in"))

    async def upload_suite(self, suite: Suite) -> str:
        """Upload a suite; return its hash."""
        body = suite.model_dump(mode="json", exclude_none=True)
        return (await self._ask(StoredSuite, "POST", "/v1/suites", body, repeatable=True)).hash

    async def start(self, request: RunRequest) -> StartedRun:
        """Start or resume a run."""
        return await self._ask(StartedRun, "POST", "/v1/runs", request, repeatable=True)

    async def cancel(self, run_id: str) -> None:
        """End a run before its time."""
        await self._ask(Cancellation, "POST", path("runs", run_id, "cancel"))

    async def paused_targets(self) -> list[PausedTarget]:
        """Return the targets that are paused."""
        return await self._ask(list[PausedTarget], "GET", "/v1/targets/paused")

    async def resume_target(self, target: str) -> None:
        """Resume a paused target at once."""
        await self._ask(ResumedTarget, "POST", "/v1/targets/resume", {"target": target})

    async def channels(self) -> list[ChannelView]:
        """Return the channels for alarms."""
        return await self._ask(list[ChannelView], "GET", "/v1/channels")

    async def try_channel(self, name: str) -> AlarmDelivery:
        """Send a test alarm to a channel; `deliveries` returns its outcome."""
        return await self._ask(AlarmDelivery, "POST", path("channels", name, "test"))

    async def retry_channel(self, name: str) -> int:
        """Send the alarms that a channel refused again; return their number."""
        return (await self._ask(RetriedChannel, "POST", path("channels", name, "retry"))).alarms

    async def deliveries(self, alarm_id: str) -> list[AlarmDelivery]:
        """Return the deliveries of an alarm to its channels."""
        return await self._ask(list[AlarmDelivery], "GET", path("alarms", alarm_id, "deliveries"))

    async def follow(self, run_id: str, opening: int = 0) -> AsyncIterator[RunProgress]:
        """Yield a run's progress at each change, until it has ended."""
        events = path("runs", run_id, "events")
        ended = False
        while not ended:
            await self.progress(run_id)  # raises an error if the run does not exist
            with suppress(httpx2.HTTPError):  # a broken stream is opened again
                async with self._requests.stream(events, opening=opening) as reply:
                    async for line in reply.aiter_lines():
                        if line.startswith("data:"):
                            progress = self._read(RunProgress, line.removeprefix("data:"))
                            ended = progress.ended
                            yield progress
            if not ended:
                await asyncio.sleep(RECONNECT_S)

    async def runs(self, last: int, **filters: str) -> list[RunProgress]:
        """Return the last runs, the latest first, filtered by `purpose` or `about` a text."""
        query = urlencode({"last": last, **filters})
        return await self._ask(list[RunProgress], "GET", f"/v1/runs?{query}")

    async def progress(self, run_id: str) -> RunProgress:
        """Return the progress of a run."""
        return await self._ask(RunProgress, "GET", path("runs", run_id))

    async def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the findings of a run."""
        return await self._ask(list[Diagnosis], "GET", path("runs", run_id, "diagnoses"))

    async def analysis(self, run_id: str) -> DeclaredAnalysis:
        """Return the declared analysis of a run, and the number of its answers."""
        return await self._ask(DeclaredAnalysis, "GET", path("runs", run_id, "analysis"))

    async def measurements(self, run_id: str) -> AsyncIterator[AnswerMeasurements]:
        """Yield the measurements of every answer of a run, in the order of its plan.

        A broken connection is resumed at the next answer, unless it brought none.
        """
        read, before = 0, -1
        where = path("runs", run_id, "measurements")
        while True:
            try:
                async with self._requests.stream(where, offset=read) as reply:
                    await self._requests.check(reply)
                    async for line in reply.aiter_lines():
                        yield self._read(AnswerMeasurements, line)
                        read += 1
            except httpx2.HTTPError as error:
                if read == before:  # no answer since the connection last broke
                    raise self._requests.no_answer(error) from None
                before = read
            else:
                return

    async def assessments(self, run_id: str) -> list[Assessment]:
        """Return further assessments: quality, consistency, treatment of groups."""
        return await self._ask(list[Assessment], "GET", path("runs", run_id, "assessments"))

    async def studies(self, run_id: str, *, count_failed: bool = False) -> StudyResults:
        """Return scores, pairs and judges of a run."""
        studies = f"{path('runs', run_id, 'studies')}?count_failed={count_failed}"
        return await self._ask(StudyResults, "GET", studies)

    async def impact_ratios(self, run_id: str, request: ImpactRequest) -> list[RunImpact]:
        """Return rates and impact ratios of a run."""
        parameters = request.model_dump(exclude_none=True, exclude_unset=True)
        where = f"{path('runs', run_id, 'impact-ratios')}?{urlencode(parameters, doseq=True)}"
        return await self._ask(list[RunImpact], "GET", where)

    async def flagged(
        self, run_id: str, *, count_failed: bool = False, unflagged: bool = False
    ) -> list[FlaggedPair]:
        """Return every flagged pair of a run, and on request the others, with their texts."""
        pairs: list[FlaggedPair] = []
        query = urlencode({"count_failed": count_failed, "unflagged": unflagged})
        flagged = f"{path('runs', run_id, 'flagged')}?{query}&offset="
        while page := await self._ask(list[FlaggedPair], "GET", f"{flagged}{len(pairs)}"):
            pairs += page
        return pairs

    async def interpret(self, request: BriefRequest) -> Evaluation | PausedTarget:
        """Have statistics interpreted and judged.

        Returns
        -------
        Evaluation | PausedTarget
            The evaluation, or the target that is paused and has to answer first.
        """
        interpretation = await self._ask(Interpretation, "POST", "/v1/interpretations", request)
        address = path("interpretations", interpretation.brief_id)
        models = filter(None, [request.writer, *request.judges])
        lanes = {parse_target(target).lane for target in models}
        while interpretation.evaluation is None:
            await asyncio.sleep(POLL_EVERY_S)
            interpretation = await self._ask(Interpretation, "GET", address)
            if interpretation.evaluation is None:
                paused = [pause for pause in await self.paused_targets() if pause.lane in lanes]
                if paused:
                    return paused[0]
        return interpretation.evaluation

    async def apply_monitor(self, request: MonitorFile | Mapping[str, Any]) -> AppliedMonitor:
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

    async def windows(self, name: str, last: int) -> list[WindowView]:
        """Return the last windows of traffic, latest first."""
        listed = f"{path('monitors', name, 'windows')}?last={last}"
        return await self._ask(list[WindowView], "GET", listed)

    async def pause_monitor(self, name: str) -> None:
        """Pause the rounds of a monitor."""
        await self._ask(Monitor, "POST", path("monitors", name, "pause"))

    async def resume_monitor(self, name: str) -> None:
        """Resume the rounds of a monitor."""
        await self._ask(Monitor, "POST", path("monitors", name, "resume"))

    async def delete_monitor(self, name: str) -> None:
        """End a monitor for good."""
        await self._ask(Monitor, "DELETE", path("monitors", name))

    async def ingest(
        self, source: str, answers: Sequence[Mapping[str, Any]], *, history: bool = False
    ) -> AcceptedBatch:
        """Send recorded production answers; return how many were accepted, and which are late."""
        body = {"source": source, "history": history, "responses": answers}
        return await self._ask(AcceptedBatch, "POST", "/v1/responses", body, repeatable=True)

    async def begin_history(self, source: str) -> list[HistoryView]:
        """Prepare to send the history of a live system."""
        return await self._ask(list[HistoryView], "POST", path("history", source), repeatable=True)

    async def read_history(self, source: str) -> list[HistoryView]:
        """Have the history that was sent read."""
        where = path("history", source, "read")
        return await self._ask(list[HistoryView], "POST", where, repeatable=True)

    async def history(self, source: str) -> list[HistoryView]:
        """Return how far the history has been read."""
        return await self._ask(list[HistoryView], "GET", path("history", source))

    async def audit(self, request: AuditRequest) -> list[AuditEntry]:
        """Return entries of the audit trail."""
        parameters = request.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        return await self._ask(list[AuditEntry], "GET", f"/v1/audit?{urlencode(parameters)}")

    async def purge(self, request: PurgeRequest) -> PurgedTexts:
        """Remove texts of the token's tenant for good."""
        return await self._ask(PurgedTexts, "POST", "/v1/purges", request)

    async def read(self, kind: type[Reply], where: str) -> Reply:
        """Read the resource at a path."""
        return await self._ask(kind, "GET", where)

    async def send(self, kind: type[Reply], where: str, body: Any) -> Reply:
        """Send an idempotent request; return the reply."""
        return await self._ask(kind, "POST", where, body, repeatable=True)

    async def close(self) -> None:
        """Close the connection."""
        await self._requests.close()

    async def _ask(
        self,
        kind: type[Reply],
        verb: str,
        where: str,
        body: Any = None,
        *,
        repeatable: bool = False,
    ) -> Reply:
        """Send a request; parse the reply as a type of the API."""
        if isinstance(body, BaseModel):
            body = body.model_dump(mode="json", exclude_unset=True)
        reply = await self._requests.ask(verb, where, body, repeatable=repeatable)
        return self._read(kind, reply)

    def _read(self, kind: type[Reply], data: str | bytes) -> Reply:
        wanted: Any = kind
        try:
            reply: Reply = _adapter(wanted).validate_json(data)
        except ValidationError as error:
            mistake = first_mistake(error).in_words("the whole reply")
            raise UsageError(
                f"This version cannot read the reply of the gateway at {self._url} ({mistake})."
                " Use the same version of biaswatch on both sides."
            ) from None
        return reply
