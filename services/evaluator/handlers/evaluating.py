"""Handles briefs: first the report of the writer, then the grades of judges."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from pydantic import JsonValue

from biaswatch.services.evaluator.domain.controls.standings import (
    ControlRequest,
    control_requests,
    shipped_dimensions,
)
from biaswatch.services.evaluator.domain.evaluations import (
    evaluation_of,
    evaluation_without_report,
    read_report,
    report_or_reason,
)
from biaswatch.services.evaluator.domain.model_questions import (
    KEY_PREFIX,
    JudgementRequest,
    judging_probes,
    writing_probe,
)
from biaswatch.services.evaluator.domain.rubric import Profile, tasks_for
from biaswatch.services.evaluator.handlers.rubric_files import Rubric, load_rubric
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    Brief,
    ClosedBy,
    Evaluation,
    Probe,
    Purpose,
    Record,
    Response,
    response_id_of,
)
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.model_questions import ModelQuestions, QuestionSet
from biaswatch.shared.runtime.outbox import Backlog, Outbox
from biaswatch.shared.store import Closing, Store
from biaswatch.shared.telemetry import log

STAGE = "evaluator"
WRITING, JUDGING = "write", "judge"
KEPT = timedelta(days=7)
"""Age of lost briefs that are still recovered; the retention time of the bus."""


class EvaluateBriefs:
    """The handlers of briefs and of the responses to the evaluator's questions."""

    def __init__(
        self, store: Store, rubric: Rubric, *, now: Callable[[], datetime], deadline_s: float
    ) -> None:
        self._store, self._rubric, self._now = store, rubric, now
        self._shipped = shipped_dimensions(load_rubric().dimensions)
        self.questions = ModelQuestions(
            store, STAGE, KEY_PREFIX, self.closed, now=now, deadline_s=deadline_s
        )

    async def begin(self, brief: Brief) -> Sequence[Record]:
        """Request a report, or grades if the brief has a report."""
        records = await in_thread(self._begin, brief)
        self.questions.gather.wake()
        return records

    def _begin(self, brief: Brief) -> Sequence[Record]:
        # Also written here: the recorder may be slower than the reply.
        self._store.records.write([brief])
        if why := self._impossible(brief):
            return [evaluation_without_report(brief, why, self._now())]
        step = JUDGING if brief.report or brief.writer is None else WRITING
        return self.questions.expect_now([self._questions(step, brief)])

    async def note(self, response: Response) -> Sequence[Record]:
        """Store a reply; a complete set closes."""
        await self.questions.arrive(await self.questions.replies.keep([response]))
        return ()

    def jobs(self, every_s: float) -> list[Job[Publisher]]:
        """Return the periodic jobs of the evaluator."""
        briefs = Outbox(self._lost_briefs, now=self._now, stage=STAGE)
        return [
            self.questions.gather.job,
            *self.questions.outbox_jobs(self._probes_of, self.closed, every_s),
            briefs.job("begin lost briefs", every_s),
        ]

    def _lost_briefs(self) -> list[Backlog]:
        """Return the briefs whose message was lost before the evaluator began them."""
        return [
            Backlog(brief.id, 1, partial(self._begin, brief))
            for brief in self.forgotten(self._now() - KEPT)
        ]

    def forgotten(self, since: datetime) -> list[Brief]:
        """Return briefs without questions and without an evaluation."""
        graded = {
            evaluation.brief_id
            for evaluation in self._store.records.since(Evaluation, since, purpose=Purpose.JUDGE)
        }
        gathers = self._store.gathers(STAGE)
        return [
            brief
            for brief in self._store.records.since(Brief, since, purpose=Purpose.JUDGE)
            if brief.id not in graded
            and not any(gathers.look(f"{step}.{brief.id}") for step in (WRITING, JUDGING))
        ]

    def _questions(self, step: str, brief: Brief, report: str = "") -> QuestionSet:
        """Return the questions to the writer, or to all judges."""
        if step == WRITING:
            probes = [self._writing(brief)]
        else:
            probes = [r.probe for r in self._requests(brief, brief.report or report)]
            probes += [control.probe for control in self._controls(brief)]
        context: dict[str, JsonValue] = {"brief": brief.id, "step": step}
        return QuestionSet(f"{step}.{brief.id}", probes, context)

    def _writing(self, brief: Brief) -> Probe:
        assert brief.writer is not None  # noqa: S101 - for mypy
        return writing_probe(brief, brief.writer, self._profile(brief), brief.at)

    def _probes_of(self, key: str) -> Sequence[Probe]:
        step, _, brief_id = key.partition(".")
        brief = self._brief(brief_id)
        if brief is None:
            return []
        report = "" if step == WRITING else self._report(brief)[0]
        return self._questions(step, brief, report or "").probes

    def closed(self, closing: Closing) -> Sequence[Record]:
        """Return the next records: questions to judges, or the evaluation."""
        brief = self._brief(str(closing.context["brief"]))
        if brief is None:
            log(STAGE).warning("a brief was deleted", brief=closing.context["brief"])
            return []
        if closing.context["step"] == WRITING:
            report, reason = self._report(brief)
            if report is not None and closing.closed_by is ClosedBy.ARRIVAL:
                return self.questions.expect_now([self._questions(JUDGING, brief, report)])
            message = reason or "There is no report: it arrived after its deadline."
            return [evaluation_without_report(brief, message, closing.closed_at)]
        report = brief.report or self._report(brief)[0]
        if report is None:
            reason = "There is no report: its text was purged."
            return [evaluation_without_report(brief, reason, closing.closed_at)]
        return [self._evaluation(brief, report, closing.closed_at)]

    def _evaluation(self, brief: Brief, report: str, at: datetime) -> Evaluation:
        requests, controls = self._requests(brief, report), self._controls(brief)
        probes = [*(r.probe for r in requests), *(c.probe for c in controls)]
        responses = self.questions.replies.find([response_id_of(probe) for probe in probes])
        replies = {response.probe_id: response for response in responses.values()}
        profile = self._profile(brief)
        return evaluation_of(brief, report, profile, requests, controls, replies, at)

    def _report(self, brief: Brief) -> tuple[str | None, str | None]:
        if brief.writer is None:
            return None, "There is no report: its text was purged."
        reply_id = response_id_of(self._writing(brief))
        return report_or_reason(self.questions.replies.find([reply_id]).get(reply_id))

    def _requests(self, brief: Brief, report: str) -> list[JudgementRequest]:
        tasks = tasks_for(self._rubric.dimensions, brief.subject, brief.dimensions)
        text = read_report(brief, report).text
        return list(judging_probes(brief, tasks, self._profile(brief), text, brief.at))

    def _controls(self, brief: Brief) -> list[ControlRequest]:
        profile = self._profile(brief)
        return list(control_requests(brief, self._shipped, profile, brief.at))

    def _impossible(self, brief: Brief) -> str | None:
        """Return the reason why a brief cannot be evaluated, or None."""
        if not brief.report and brief.writer is None:
            return "The brief has neither a report nor a writer."
        if brief.profile not in self._rubric.profiles:
            known = ", ".join(sorted(self._rubric.profiles))
            return f"There is no profile {brief.profile!r}; there are: {known}."
        names = {dimension.name for dimension in self._rubric.dimensions}
        if strange := sorted(set(brief.dimensions) - names):
            return f"There is no dimension {strange[0]!r}; there are: {', '.join(sorted(names))}."
        calls = len(self._requests(brief, "")) + len(self._controls(brief)) + (not brief.report)
        if brief.most_calls is not None and calls > brief.most_calls:
            return (
                f"This interpretation takes {calls} calls, its judges' controls among them, and may"
                f" take {brief.most_calls}. Allow more, name fewer judges, or repeat less."
            )
        return None

    def _profile(self, brief: Brief) -> Profile:
        return self._rubric.profiles[brief.profile]

    def _brief(self, brief_id: str) -> Brief | None:
        """Return a stored brief; None if it was purged."""
        return next(self._store.records.get(Brief, [brief_id]), None)
