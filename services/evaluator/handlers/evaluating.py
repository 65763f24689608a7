"""Briefs become reports, reports become judgements, judgements become an evaluation.

Two waits in a row, both gathers: for the writer, then for all judges. Every id is derived from the
brief, so a redelivery, a kill or a second replica asks nothing twice.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from services.evaluator.domain.evaluations import evaluation_of, evaluation_without_report, written
from services.evaluator.domain.model_questions import (
    KEY,
    WRITE,
    JudgementRequest,
    judging_probes,
    writing_probe,
)
from services.evaluator.domain.rubric import JudgementTask, Profile, tasks_for
from services.evaluator.handlers.rubric_files import Rubric
from shared.contracts import (
    Brief,
    ClosedBy,
    Probe,
    Purpose,
    Record,
    Response,
    response_id_of,
)
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.runtime.gather import Gather
from shared.store import Closing, Store

WRITING, JUDGING = "write", "judge"


class Interpret:
    """The handlers of briefs and of the responses to the evaluator's questions."""

    def __init__(
        self, store: Store, library: Rubric, *, now: Callable[[], datetime], deadline_s: float
    ) -> None:
        self._store, self._library = store, library
        self._now, self._deadline_s = now, deadline_s
        self.gather = Gather(store.gathers("evaluator"), self.closed, now=now)

    async def begin(self, brief: Brief) -> Sequence[Record]:
        """Have a report written; one that was given is judged at once."""
        # Written here too: the recorder may come later than the reply.
        await in_thread(self._store.records.write, [brief])
        if why := self._impossible(brief):
            return [evaluation_without_report(brief, why, self._now())]
        if brief.report or brief.writer is None:
            return await self._judge(brief, brief.report)
        probe = writing_probe(brief, brief.writer, self._profile(brief), brief.at)
        return await self._expect(WRITING, brief, [probe])

    async def hear(self, response: Response) -> Sequence[Record]:
        """Note a reply; the writer's brings the judges' questions."""
        if response.purpose is not Purpose.JUDGE or not response.probe.key.startswith(KEY):
            return ()
        await in_thread(self._store.records.write, [response])
        asked: Sequence[Record] = ()
        if response.probe.key == WRITE:
            report, _ = written(response)
            brief = await in_thread(self._brief, response.probe.run_id)
            if report is not None:
                asked = await self._judge(brief, report)
        await self.gather.arrive([response.id])
        return asked

    async def _judge(self, brief: Brief, report: str) -> Sequence[Probe]:
        """Ask all judges; without any, the evaluation is what code alone can say."""
        probes = [each.probe for each in self._asked(brief, report)]
        return await self._expect(JUDGING, brief, probes)

    async def _expect(self, step: str, brief: Brief, probes: Sequence[Probe]) -> Sequence[Probe]:
        """Begin to wait; give the probes that have no response yet."""
        ids = [response_id_of(probe) for probe in probes]
        missing = await in_thread(self._store.records.missing, Response, ids)
        await self.gather.expect(
            f"{step}.{brief.id}",
            ids,
            deadline=self._now() + timedelta(seconds=self._deadline_s),
            context={"brief": brief.id, "step": step},
            already=set(ids) - missing,
        )
        return [probe for probe, id_ in zip(probes, ids, strict=True) if id_ in missing]

    def closed(self, closing: Closing) -> Sequence[Record]:
        """Return the evaluation once everything is there or late; it reads the store."""
        brief = self._brief(str(closing.context["brief"]))
        if closing.context["step"] == WRITING:
            return self._after_writing(brief, closing)
        report = brief.report or self._report(brief)[0]
        if report is None:
            reason = "There is no report: its text was purged."
            return [evaluation_without_report(brief, reason, closing.closed_at)]
        asked = self._asked(brief, report)
        ids = [response_id_of(each.probe) for each in asked]
        heard = {r.probe_id: r for r in self._store.records.get(Response, ids)}
        profile = self._profile(brief)
        return [evaluation_of(brief, report, profile, asked, heard, closing.closed_at)]

    def _after_writing(self, brief: Brief, closing: Closing) -> Sequence[Record]:
        report, reason = self._report(brief)
        if report is not None and closing.closed_by is ClosedBy.ARRIVAL:
            return ()  # the judges have been asked; their gather brings the evaluation
        said = reason or "There is no report: it came after its deadline."
        return [evaluation_without_report(brief, said, closing.closed_at)]

    def _report(self, brief: Brief) -> tuple[str | None, str | None]:
        if brief.writer is None:
            return None, "There is no report: its text was purged."
        probe = writing_probe(brief, brief.writer, self._profile(brief), brief.at)
        found = self._store.records.get(Response, [response_id_of(probe)])
        return written(next(found, None))

    def _asked(self, brief: Brief, report: str) -> list[JudgementRequest]:
        profile = self._profile(brief)
        return list(judging_probes(brief, self._tasks(brief), profile, report, brief.at))

    def _tasks(self, brief: Brief) -> list[JudgementTask]:
        return tasks_for(self._library.dimensions, brief.subject, brief.dimensions)

    def _impossible(self, brief: Brief) -> str | None:
        """Say why nothing can come of a brief: whoever waits for it has to hear of it."""
        if not brief.report and brief.writer is None:
            return "There is neither a report nor anybody to write one."
        if brief.profile not in self._library.profiles:
            known = ", ".join(sorted(self._library.profiles))
            return f"There is no profile {brief.profile!r}; there are: {known}."
        names = {dimension.name for dimension in self._library.dimensions}
        if strange := sorted(set(brief.dimensions) - names):
            return f"There is no dimension {strange[0]!r}; there are: {', '.join(sorted(names))}."
        return None

    def _profile(self, brief: Brief) -> Profile:
        return self._library.profiles[brief.profile]

    def _brief(self, brief_id: str) -> Brief:
        for brief in self._store.records.get(Brief, [brief_id]):
            return brief
        raise TransientError(f"The brief {brief_id} is not in the store yet.", retry_after_s=0.5)
