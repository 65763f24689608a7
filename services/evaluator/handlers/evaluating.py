"""Handles briefs: first the report of the writer, then the grades of judges."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from pydantic import JsonValue

from biaswatch.services.evaluator.domain import reports
from biaswatch.services.evaluator.domain.controls.standings import ControlRequest, control_requests
from biaswatch.services.evaluator.domain.evaluations import JudgeQuestions, evaluation_of
from biaswatch.services.evaluator.domain.model_questions import KEY_PREFIX, judging_probes
from biaswatch.services.evaluator.domain.prose import prose_requests
from biaswatch.services.evaluator.domain.rubric import Dimension, Profile, tasks_for
from biaswatch.services.evaluator.domain.writing.board import board_draft
from biaswatch.services.evaluator.domain.writing.draft import CheckedReport
from biaswatch.services.evaluator.handlers.rubric_files import Rubric
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.caching import LatestResults
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
from biaswatch.shared.requests.runs import BOARD_PROFILE
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.model_questions import ModelQuestions, QuestionSet
from biaswatch.shared.runtime.outbox import Backlog, Outbox
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Closing, Store
from biaswatch.shared.telemetry import log

STAGE = "evaluator"
WRITING, JUDGING = "write", "judge"
MAX_CACHED_BRIEFS = 2
"""Briefs whose controls are kept in memory, some hundred for each judge."""
KEPT = timedelta(days=7)
"""Age of lost briefs that are still recovered; the retention time of the bus."""


class EvaluateBriefs:
    """The handlers of briefs and of the responses to the evaluator's questions."""

    def __init__(
        self, store: Store, rubric: Rubric, *, now: Callable[[], datetime], deadline_s: float
    ) -> None:
        self._store, self._rubric, self._now = store, rubric, now
        self._controls = LatestResults[str, list[ControlRequest]](MAX_CACHED_BRIEFS)
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
            return [self._evaluation(brief, CheckedReport(reason=why), self._now())]
        if self._asks_writer(brief):
            return self._ask(WRITING, brief, [self._writing(brief)])
        return self._judge(brief, self._now())

    def _ask(self, step: str, brief: Brief, probes: Sequence[Probe]) -> Sequence[Record]:
        """Request replies, and return the questions that have none."""
        context: dict[str, JsonValue] = {"brief": brief.id, "step": step}
        return self.questions.expect_now([QuestionSet(f"{step}.{brief.id}", probes, context)])

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
        """Return the briefs whose message was lost: without questions and without an evaluation."""
        records, gathers = self._store.records, self._store.gathers(STAGE)
        since = self._now() - KEPT
        graded = {e.brief_id for e in records.since(Evaluation, since, purpose=Purpose.JUDGE)}
        return [
            Backlog(brief.id, 1, partial(self._begin, brief))
            for brief in records.since(Brief, since, purpose=Purpose.JUDGE)
            if brief.id not in graded
            and not any(gathers.state(f"{step}.{brief.id}") for step in (WRITING, JUDGING))
        ]

    def _asks_writer(self, brief: Brief) -> bool:
        """Tell whether a model writes the report, or reads statements of one written elsewhere."""
        if brief.report:
            return bool(
                brief.writer and reports.read_elsewhere(brief, self._profile(brief)).unchecked
            )
        return brief.profile != BOARD_PROFILE

    def _writing(self, brief: Brief, attempts: Sequence[reports.Attempt] = ()) -> Probe:
        return reports.writer_probe(brief, self._profile(brief), attempts)

    def _replies(self, probes: Sequence[Probe]) -> dict[str, Response]:
        """Return the replies by the ids of their probes."""
        responses = self.questions.replies.find([response_id_of(probe) for probe in probes])
        return {response.probe_id: response for response in responses.values()}

    def _attempts(self, brief: Brief) -> list[reports.Attempt]:
        """Return the writer's attempts that have a reply."""
        attempts: list[reports.Attempt] = []
        while not brief.report and (not attempts or reports.may_repair(attempts)):
            probe = self._writing(brief, attempts)
            reply = self._replies([probe]).get(probe.id)
            if reply is None:
                break
            attempts.append(reports.attempt_of(reply, brief.subject, self._profile(brief)))
        return attempts

    def _report(self, brief: Brief) -> CheckedReport:
        """Return the report of a brief: given, written by code, or by the writer."""
        if brief.report:
            requests = [self._writing(brief)] if self._asks_writer(brief) else []
            reading = next(iter(self._replies(requests).values()), None)
            return reports.report_from_elsewhere(brief, self._profile(brief), reading)
        if brief.profile == BOARD_PROFILE:
            return reports.rendered_report(board_draft(brief.subject), brief.subject)
        if brief.writer is None:
            return CheckedReport(reason="No report: its text was purged.")
        return reports.report_of(self._attempts(brief), brief.subject)

    def _probes_of(self, key: str) -> Sequence[Probe]:
        step, _, brief_id = key.partition(".")
        brief = self._brief(brief_id)
        if brief is None:
            return []
        if step == JUDGING:
            return self._judging(brief, self._report(brief)).probes
        repairs = int(step.removeprefix(WRITING) or 0)
        attempts = self._attempts(brief)[:repairs]
        return [self._writing(brief, attempts)] if len(attempts) == repairs else []

    def closed(self, closing: Closing) -> Sequence[Record]:
        """Return the next records: a repair, questions to judges, or the evaluation."""
        brief = self._brief(str(closing.context["brief"]))
        if brief is None:
            log(STAGE).warning("a brief was deleted", brief=closing.context["brief"])
            return []
        if str(closing.context["step"]) == JUDGING:
            return [self._evaluation(brief, self._report(brief), closing.closed_at)]
        attempts = self._attempts(brief)
        if closing.closed_by is ClosedBy.ARRIVAL and reports.may_repair(attempts):
            step = f"{WRITING}{len(attempts)}"
            return self._ask(step, brief, [self._writing(brief, attempts)])
        if not attempts and not brief.report:
            reason = "No report arrived before the deadline."
            return [self._evaluation(brief, CheckedReport(reason=reason), closing.closed_at)]
        return self._judge(brief, closing.closed_at)

    def _judge(self, brief: Brief, at: datetime) -> Sequence[Record]:
        """Return the questions to judges; the evaluation where there are none."""
        report = self._report(brief)
        if probes := self._judging(brief, report).probes:
            return self._ask(JUDGING, brief, probes)
        return [self._evaluation(brief, report, at)]

    def _judging(self, brief: Brief, report: CheckedReport) -> JudgeQuestions:
        """Return the questions to judges; a report that failed is not judged."""
        if report.text is None or report.failed:
            return JudgeQuestions()
        profile = self._profile(brief)
        tasks = tasks_for(self._rubric.dimensions, brief.subject, brief.dimensions)
        graded = list({task.dimension.name: task.dimension for task in tasks}.values())
        return JudgeQuestions(
            list(judging_probes(brief, tasks, profile, report.text, brief.at)),
            self._control_requests(brief, graded, profile),
            list(prose_requests(brief, report.draft, brief.at)),
            [dimension.name for dimension in graded],
        )

    def _control_requests(
        self, brief: Brief, graded: Sequence[Dimension], profile: Profile
    ) -> list[ControlRequest]:
        """Return the questions that examine the judges; those of recent briefs are cached."""
        return self._controls.get(
            brief.id, lambda: list(control_requests(brief, graded, profile, brief.at))
        )

    def _evaluation(self, brief: Brief, report: CheckedReport, at: datetime) -> Evaluation:
        questions = self._judging(brief, report)
        return evaluation_of(brief, report, questions, self._replies(questions.probes), at)

    def _impossible(self, brief: Brief) -> str | None:
        """Return the reason why a brief cannot be evaluated, or None."""
        if not brief.report and brief.writer is None and brief.profile != BOARD_PROFILE:
            return "The brief has neither a report nor a writer."
        if brief.profile not in self._rubric.profiles:
            known = ", ".join(sorted(self._rubric.profiles))
            return f"Unknown profile {brief.profile!r}; there are: {known}."
        names = {dimension.name for dimension in self._rubric.dimensions}
        if strange := sorted(set(brief.dimensions) - names):
            return f"Unknown dimension {strange[0]!r}; there are: {', '.join(sorted(names))}."
        calls = len(self._judging(brief, CheckedReport("")).probes)
        if not brief.report and brief.profile != BOARD_PROFILE:
            calls += 1 + reports.MAX_REPAIRS + len(brief.judges)
        calls += bool(brief.report and brief.writer)
        if brief.most_calls is not None and calls > brief.most_calls:
            return (
                f"This interpretation takes up to {calls} calls, with repairs and controls of"
                f" judges, but the limit is {brief.most_calls}. Raise it, name fewer judges or"
                " repeat less."
            )
        return None

    def _profile(self, brief: Brief) -> Profile:
        return self._rubric.profiles[brief.profile]

    def _brief(self, brief_id: str) -> Brief | None:
        """Return a stored brief; None if it was purged."""
        return next(self._store.records.get(Brief, [brief_id]), None)
