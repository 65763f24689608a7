"""Briefs become reports, reports become judgements, judgements become an evaluation.

Two sets of questions in a row: one to the writer, then one to all judges.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import JsonValue

from services.evaluator.domain.evaluations import (
    evaluation_of,
    evaluation_without_report,
    report_or_reason,
)
from services.evaluator.domain.model_questions import (
    KEY_PREFIX,
    WRITE,
    JudgementRequest,
    judging_probes,
    writing_probe,
)
from services.evaluator.domain.rubric import Profile, tasks_for
from services.evaluator.handlers.rubric_files import Rubric
from shared.contracts import Brief, ClosedBy, Probe, Record, Response, response_id_of
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.runtime.model_questions import ModelQuestions, QuestionSet
from shared.store import Closing, Store

STAGE = "evaluator"
WRITING, JUDGING = "write", "judge"


class EvaluateBriefs:
    """The handlers of briefs and of the responses to the evaluator's questions."""

    def __init__(
        self, store: Store, rubric: Rubric, *, now: Callable[[], datetime], deadline_s: float
    ) -> None:
        self._store, self._rubric, self._now = store, rubric, now
        self.questions = ModelQuestions(
            store, STAGE, KEY_PREFIX, self.closed, now=now, deadline_s=deadline_s
        )

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

    async def note(self, response: Response) -> Sequence[Record]:
        """Keep a reply; the writer's brings the judges' questions."""
        replies = await self.questions.replies.keep([response])
        asked: Sequence[Record] = ()
        if replies and response.probe.key == WRITE:
            report, _ = report_or_reason(response)
            brief = await in_thread(self._brief, response.probe.run_id)
            if report is not None:
                asked = await self._judge(brief, report)
        await self.questions.arrive(replies)
        return asked

    async def _judge(self, brief: Brief, report: str) -> Sequence[Probe]:
        """Ask all judges; without any, the evaluation is what code alone can say."""
        probes = [each.probe for each in self._requests(brief, report)]
        return await self._expect(JUDGING, brief, probes)

    async def _expect(self, step: str, brief: Brief, probes: Sequence[Probe]) -> Sequence[Probe]:
        context: dict[str, JsonValue] = {"brief": brief.id, "step": step}
        return await self.questions.expect([QuestionSet(f"{step}.{brief.id}", probes, context)])

    def closed(self, closing: Closing) -> Sequence[Record]:
        """Return the evaluation once everything is there or late; it reads the store."""
        brief = self._brief(str(closing.context["brief"]))
        if closing.context["step"] == WRITING:
            report, reason = self._report(brief)
            if report is not None and closing.closed_by is ClosedBy.ARRIVAL:
                return ()  # the judges have been asked; their replies bring the evaluation
            said = reason or "There is no report: it came after its deadline."
            return [evaluation_without_report(brief, said, closing.closed_at)]
        report = brief.report or self._report(brief)[0]
        if report is None:
            reason = "There is no report: its text was purged."
            return [evaluation_without_report(brief, reason, closing.closed_at)]
        requests = self._requests(brief, report)
        found = self.questions.replies.find([response_id_of(each.probe) for each in requests])
        replies = {each.probe_id: each for each in found.values()}
        profile = self._profile(brief)
        return [evaluation_of(brief, report, profile, requests, replies, closing.closed_at)]

    def _report(self, brief: Brief) -> tuple[str | None, str | None]:
        if brief.writer is None:
            return None, "There is no report: its text was purged."
        probe = writing_probe(brief, brief.writer, self._profile(brief), brief.at)
        reply_id = response_id_of(probe)
        return report_or_reason(self.questions.replies.find([reply_id]).get(reply_id))

    def _requests(self, brief: Brief, report: str) -> list[JudgementRequest]:
        tasks = tasks_for(self._rubric.dimensions, brief.subject, brief.dimensions)
        return list(judging_probes(brief, tasks, self._profile(brief), report, brief.at))

    def _impossible(self, brief: Brief) -> str | None:
        """Return why a brief cannot be evaluated: whoever waits for it is told."""
        if not brief.report and brief.writer is None:
            return "There is neither a report nor anybody to write one."
        if brief.profile not in self._rubric.profiles:
            known = ", ".join(sorted(self._rubric.profiles))
            return f"There is no profile {brief.profile!r}; there are: {known}."
        names = {dimension.name for dimension in self._rubric.dimensions}
        if strange := sorted(set(brief.dimensions) - names):
            return f"There is no dimension {strange[0]!r}; there are: {', '.join(sorted(names))}."
        return None

    def _profile(self, brief: Brief) -> Profile:
        return self._rubric.profiles[brief.profile]

    def _brief(self, brief_id: str) -> Brief:
        for brief in self._store.records.get(Brief, [brief_id]):
            return brief
        raise TransientError(f"The brief {brief_id} is not in the store yet.", retry_after_s=0.5)
