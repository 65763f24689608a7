"""A closed run becomes questions to judges; the replies about each pair become its verdict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from services.oracle.domain.controls import controls_of
from services.oracle.domain.pairs import PairCase, case_of, cases_of
from services.oracle.domain.questions import (
    CONTROLS,
    KEY_PREFIX,
    control_probe_of,
    other_questions,
    probe_of,
    questions_of,
)
from services.oracle.domain.verdicts import (
    JudgeReply,
    control_verdict,
    pair_verdict,
    unasked_verdict,
)
from shared.contracts import (
    JUDGING_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    Features,
    PairVerdict,
    Probe,
    Record,
    Response,
    Run,
    Target,
    probes_of,
    response_id_of,
)
from shared.errors import PoisonError, TransientError
from shared.runtime.blocking import in_thread
from shared.runtime.model_questions import ModelQuestions, QuestionSet
from shared.store import Closing, Store
from shared.telemetry import log

SOON_S = 0.2


class JudgeRuns:
    """The oracle's handlers; all they know is in the store."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self._store = store
        self._now = now
        self.questions = ModelQuestions(
            store, JUDGING_GATHER, KEY_PREFIX, self.closed, now=now, deadline_s=deadline_s
        )
        self.reconciliation = self.questions.reconciliation(self._probes_of)
        self.follow_up = self.questions.follow_up(self.closed)

    async def begin(self, completion: Completion) -> Sequence[Record]:
        """Return the questions about a closed run, and verdicts where there is nothing to ask.

        Raise TransientError until the recorder has written everything the run closed with.
        """
        run = await in_thread(self._judged_run, completion)
        if run is None:
            return []
        cases, sets = await in_thread(self._questions_of, run)
        verdicts = [
            unasked_verdict(case, run, judges_of(run, case), self._now())
            for case in cases
            if case.unasked
        ]
        # A run that was taken up again: what was given up before is waited for anew.
        return [*verdicts, *await self.questions.expect(sets, reopen=True)]

    async def note(self, batch: Sequence[Response]) -> Sequence[Record]:
        """Keep the replies to the oracle's own questions, so that whoever closes finds them."""
        await self.questions.arrive(await self.questions.replies.keep(batch))
        return ()

    async def cancel(self, cancellation: Cancellation) -> Sequence[Record]:
        """Wait no more for the judges of a run: its pairs close with what is there."""
        await self.questions.cancel(cancellation.run_id)
        return ()

    def closed(self, closing: Closing) -> Sequence[PairVerdict]:
        """Return the verdict of a pair, or of the controls of a judge; it reads the store."""
        context: Mapping[str, Any] = closing.context
        [run] = self._store.records.get(Run, [closing.key.partition("/")[0]])
        found = self.questions.replies.find([id_ for id_, *_ in context["asked"]])
        replies = [
            JudgeReply(name, judge, expected, found.get(id_))
            for id_, name, judge, expected in context["asked"]
        ]
        again = f"again:{closing.opening}" if closing.opening else ""
        if lane := context.get("judge"):
            judge = next(each for each in _control_judges(run) if each.lane == lane)
            return [control_verdict(run, judge, replies, closing.closed_at, again)]
        sides = {each.id: each for each in self._store.records.get(Response, context["sides"])}
        if len(sides) < len(context["sides"]):
            log("oracle").warning("answers of a pair are gone", run=run.id, pair=context["set"])
            return []
        a, b = (sides[id_] for id_ in context["sides"])
        case = case_of(run.id, context["set"], a, b)
        return [pair_verdict(case, run, judges_of(run, case), replies, closing.closed_at, again)]

    def _judged_run(self, completion: Completion) -> Run | None:
        """Return the run if it wants judges, once everything it closed with is written."""
        runs = list(self._store.records.get(Run, [completion.run_id]))
        if not runs or runs[0].judging is None or completion.closed_by is ClosedBy.CANCELLATION:
            return None
        features = self._store.records.count(Features, run_id=completion.run_id)
        absent = self._store.results.without_response(completion.run_id)
        if features < completion.arrived or absent:
            raise TransientError(
                "Not all answers of the run are in the store yet.", retry_after_s=SOON_S
            )
        return runs[0]

    def _questions_of(self, run: Run) -> tuple[list[PairCase], list[QuestionSet]]:
        """Return a run's pairs, and all that is asked about them; always the same."""
        now = self._now()
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        probes = list(probes_of(run, suite, now))
        by_id = {response_id_of(probe) for probe in probes}
        found = {each.id: each for each in self._store.records.get(Response, by_id)}
        cases = cases_of(run.id, probes, found)
        others = other_questions(probes)
        sets = [
            _about_pair(run, case, others.get(case.a.probe.facts.get("category", ""), ()), now)
            for case in cases
            if not case.unasked
        ]
        return cases, [*sets, *_controls(run, now)]

    def _probes_of(self, run_id: str) -> list[Probe]:
        [run] = self._store.records.get(Run, [run_id])
        return [probe for each in self._questions_of(run)[1] for probe in each.probes]


def judges_of(run: Run, case: PairCase) -> Sequence[Target]:
    """Return who judges a pair: those that were named, or the model that answered."""
    named = run.judging.judges if run.judging else ()
    return named or (case.a.probe.target,)


def _control_judges(run: Run) -> Sequence[Target]:
    """Return every judge of a run: those that were named, or the models that answer."""
    return (run.judging.judges if run.judging else ()) or run.targets


def _about_pair(run: Run, case: PairCase, others: Sequence[str], at: datetime) -> QuestionSet:
    seed = run.judging.seed if run.judging else 0
    asked = [
        (question.name, probe_of(run, case, judge, question, at))
        for question in questions_of(case, others, seed)
        for judge in judges_of(run, case)
    ]
    sides: list[JsonValue] = [response_id_of(side.probe) for side in (case.a, case.b)]
    return _question_set(f"{run.id}/{case.id}", {"set": case.set_id, "sides": sides}, asked)


def _controls(run: Run, at: datetime) -> Iterator[QuestionSet]:
    """Ask every judge what we know, once in a run."""
    if run.judging and not run.judging.controls:
        return
    for judge in {judge.lane: judge for judge in _control_judges(run)}.values():
        asked = [(q.name, control_probe_of(run, judge, q, at)) for q in controls_of()]
        yield _question_set(f"{run.id}/{CONTROLS}/{judge.lane}", {"judge": judge.lane}, asked)


def _question_set(
    key: str, about: dict[str, JsonValue], asked: Sequence[tuple[str, Probe]]
) -> QuestionSet:
    questions: list[JsonValue] = [
        [response_id_of(probe), name, probe.target.name, probe.expected] for name, probe in asked
    ]
    return QuestionSet(key, [probe for _, probe in asked], {**about, "asked": questions})
