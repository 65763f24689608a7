"""Asks judges about the pairs of closed runs, and turns their replies into verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from biaswatch.services.oracle.domain.pairs import case_of
from biaswatch.services.oracle.domain.questions import KEY_PREFIX
from biaswatch.services.oracle.domain.verdicts import (
    JudgeReply,
    check_of,
    control_verdict,
    kept_examination,
    kept_examination_id,
    pair_verdict,
    unasked_verdict,
)
from biaswatch.services.oracle.handlers.judged_pairs import JudgedPairs, control_judges, judges_of
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    JUDGING_GATHER,
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    Features,
    PairVerdict,
    Probe,
    Record,
    Response,
    Run,
)
from biaswatch.shared.contracts.judge_votes import is_answered
from biaswatch.shared.errors import PoisonError, TransientError
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.model_questions import ModelQuestions, QuestionSet
from biaswatch.shared.runtime.passes import ArrivalForecast, Passes, PassSteps, PreparedPart
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Closing, PlanningCursor, Store
from biaswatch.shared.telemetry import log

PAIRS_LANE = "pairs"
"""The lane of the planning cursor of a run."""


class JudgeRuns:
    """The handlers of the oracle; all state is in the store.

    The handler of a completion only starts a pass through the pairs of the run. Each part of the
    pairs is first expected, then published, and then the pass is advanced.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self._store = store
        self._now = now
        self._pairs = JudgedPairs(store, now=now)
        self._forecast = ArrivalForecast(now)
        self.questions = ModelQuestions(
            store, JUDGING_GATHER, KEY_PREFIX, self.closed, now=now, deadline_s=deadline_s
        )
        steps = PassSteps(self.prepare, self.settle, self._wanted, lambda cursor: cursor.run_id)
        self.passes = Passes(store.judging_cursors, steps, stage="oracle")

    def outbox_jobs(self, every_s: float) -> list[Job[Publisher]]:
        """Return the jobs that publish lost questions and verdicts again."""
        return self.questions.outbox_jobs(self._probes_of, self.closed, every_s)

    async def begin(self, completion: Completion) -> Sequence[Record]:
        """Start the pass through the pairs of a closed run.

        Raise TransientError until the recorder has written everything the run closed with.
        """
        if await in_thread(self._needs_judging, completion):
            cursor = PlanningCursor(completion.run_id, PAIRS_LANE, completion.opening)
            await in_thread(self._store.judging_cursors.renew, cursor)
            self.passes.wake()
        return ()

    def prepare(self, cursor: PlanningCursor) -> PreparedPart | None:
        """Expect the replies about a part of the pairs; None if the run or its suite is gone.

        The pairs of a cancelled run close at once, with the replies received.
        """
        run = next(self._store.records.get(Run, [cursor.run_id]), None)
        if run is None:
            return None
        try:
            part = self._pairs.read(run, cursor.reached)
        except PoisonError as error:
            log("oracle").error("a run cannot be judged", run=run.id, why=str(error))
            return None
        verdicts = [
            unasked_verdict(case, run, judges_of(run, case), self._now())
            for case in part.cases
            if case.unasked
        ]
        known = {q.key: verdict for q in part.questions if (verdict := self._examined(run, q))}
        unknown = [questions for questions in part.questions if questions.key not in known]
        if self._cancelled(run):
            self.questions.expect_now(unknown)
            self.questions.close_now(questions.key for questions in unknown)
            return PreparedPart([*verdicts, *known.values()], part.reached)
        # In a resumed run, questions that were given up are expected again.
        unanswered = self.questions.expect_now(unknown, reopen=True)
        return PreparedPart([*verdicts, *known.values(), *unanswered], part.reached)

    def _examined(self, run: Run, questions: QuestionSet) -> PairVerdict | None:
        """Return the verdict on controls that an earlier run of the tenant asked this judge."""
        bank = str(questions.context.get("bank", ""))
        if (
            not bank
            or not questions.probes
            or self._store.gathers(JUDGING_GATHER).state(questions.key)
        ):
            return None
        judge = questions.probes[0].target
        kept_id = kept_examination_id(run, judge, bank)
        for kept in self._store.records.get(PairVerdict, [kept_id]):
            return control_verdict(run, judge, kept.checks, kept.facts, self._now())
        return None

    def settle(self, cursor: PlanningCursor, part: PreparedPart | None) -> None:
        """Advance or end a pass."""
        self._store.judging_cursors.settle(cursor, part.reached if part else None)
        self.questions.gather.wake()  # sets whose replies had all arrived are closed

    async def note(self, batch: Sequence[Response]) -> Sequence[Record]:
        """Store the replies to questions of the oracle."""
        await self.questions.arrive(await self.questions.replies.keep(batch))
        return ()

    async def cancel(self, cancellation: Cancellation) -> Sequence[Record]:
        """Close the pairs of a cancelled run with the replies received."""
        # Stored first, so that parts that are being prepared see it.
        await in_thread(self._store.records.write, [cancellation])
        await self.questions.cancel(cancellation.run_id)
        return ()

    def closed(self, closing: Closing) -> Sequence[PairVerdict]:
        """Return the verdict on a pair, or on the controls of a judge; blocks."""
        context: Mapping[str, Any] = closing.context
        run_id = closing.key.partition("/")[0]
        run = next(self._store.records.get(Run, [run_id]), None)
        if run is None:
            log("oracle").warning("a judged run is gone", run=run_id)
            return []
        responses = self.questions.replies.find([id_ for id_, *_ in context["asked"]])
        replies = [
            JudgeReply(name, judge, expected, responses.get(id_))
            for id_, name, judge, expected in context["asked"]
        ]
        on_replies = self._control_verdicts if context.get("judge") else self._pair_verdicts
        return on_replies(run, closing, replies)

    def _control_verdicts(
        self, run: Run, closing: Closing, replies: Sequence[JudgeReply]
    ) -> Sequence[PairVerdict]:
        """Return the verdict on the controls of a judge, and its copy for later runs."""
        context: Mapping[str, Any] = closing.context
        lane = context["judge"]
        judge = next((target for target in control_judges(run) if target.lane == lane), None)
        if judge is None:  # the lane is from another version
            log("oracle").warning("no judge of the run has this lane", run=run.id, lane=lane)
            return []
        checks, words = [check_of(reply) for reply in replies], context["words"]
        verdict = control_verdict(
            run, judge, checks, words, closing.closed_at, _closing_name(closing)
        )
        if not all(map(is_answered, checks)):
            return [verdict]
        return [verdict, kept_examination(verdict, context["bank"])]

    def _pair_verdicts(
        self, run: Run, closing: Closing, replies: Sequence[JudgeReply]
    ) -> Sequence[PairVerdict]:
        """Return the verdict on a pair, unless its answers are gone."""
        context: Mapping[str, Any] = closing.context
        sides = {r.id: r for r in self._store.records.get(Response, context["sides"])}
        if len(sides) < len(context["sides"]):
            log("oracle").warning("answers of a pair are gone", run=run.id, pair=context["set"])
            return []
        a, b = (sides[id_] for id_ in context["sides"])
        case = case_of(run.id, context["set"], a, b)
        judges = judges_of(run, case)
        return [pair_verdict(case, run, judges, replies, closing.closed_at, _closing_name(closing))]

    def _needs_judging(self, completion: Completion) -> bool:
        """Return whether a run has judges, once all of its records are in the store."""
        runs = list(self._store.records.get(Run, [completion.run_id]))
        if not runs or runs[0].judging is None or completion.closed_by is ClosedBy.CANCELLATION:
            return False
        features = self._store.records.count(Features, run_id=completion.run_id)
        absent = self._store.results.without_response(completion.run_id)
        if missing := max(0, completion.arrived - features) + absent:
            raise TransientError(
                "Not all answers of the run are in the store yet.",
                retry_after_s=self._forecast.wait_s(completion.run_id, missing),
            )
        return True

    def _wanted(self, cursor: PlanningCursor) -> bool:
        run = next(self._store.records.get(Run, [cursor.run_id]), None)
        return run is not None and not self._cancelled(run)

    def _cancelled(self, run: Run) -> bool:
        """Tell whether a run was cancelled after it was last opened."""
        opened = self._store.gathers(RUN_GATHER).opened_at(run.id) or run.at
        cancellations = self._store.records.read(Cancellation, run_id=run.id)
        return any(record.came_after(opened) for record in cancellations)

    def _probes_of(self, run_id: str) -> Iterator[Probe]:
        for run in self._store.records.get(Run, [run_id]):
            for part in self._pairs.every(run):
                for questions in part.questions:
                    yield from questions.probes


def _closing_name(closing: Closing) -> str:
    return f"again:{closing.opening}" if closing.opening else ""
