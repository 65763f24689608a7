"""A run that has closed becomes questions to judges; each pair is waited for by itself."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue

from services.oracle.domain import (
    CONTROLS,
    PairCase,
    cases_of,
    control_probe_of,
    controls_of,
    other_questions,
    probe_of,
    questions_of,
    unasked,
)
from shared.contracts import (
    ClosedBy,
    Completion,
    Features,
    Probe,
    Record,
    Response,
    Run,
    Suite,
    Target,
    probes_of,
    response_id_of,
)
from shared.errors import PoisonError, TransientError
from shared.store import Store

GATHER = "oracle"
SOON_S = 0.2


@dataclass(frozen=True)
class Wait:
    """What is asked about one pair, or as a control of one judge."""

    key: str
    about: dict[str, JsonValue]
    asked: tuple[tuple[str, Probe], ...]
    """Each question's name and its probe."""

    @property
    def by_response(self) -> dict[str, Probe]:
        """The probes, by the id of the response that is waited for."""
        return {response_id_of(probe): probe for _, probe in self.asked}

    @property
    def context(self) -> dict[str, JsonValue]:
        """All that is needed to read the replies, whoever closes the pair."""
        asked: list[JsonValue] = [
            [response_id_of(probe), name, probe.target.name, probe.expected]
            for name, probe in self.asked
        ]
        return {**self.about, "asked": asked}


class Asking:
    """The handler of completions; it reads much of the store, so it runs in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self._store = store
        self._gathers = store.gathers(GATHER)
        self._now = now
        self._deadline_s = deadline_s

    def __call__(self, completion: Completion) -> Sequence[Record]:
        """Return the questions about a closed run, and verdicts where there is nothing to ask.

        Raises
        ------
        TransientError
            The recorder has not yet written everything the run closed with.
        """
        runs = list(self._store.records.get(Run, [completion.run_id]))
        if not runs or runs[0].judging is None or completion.closed_by is ClosedBy.CANCELLATION:
            return []
        self._all_written(completion)
        run, now = runs[0], self._now()
        cases, waits = self.questions(run)
        found: list[Record] = [
            unasked(case, run, judges_of(run, case), now) for case in cases if case.unasked
        ]
        for wait in waits:
            found += self._begin(wait, now)
        return found

    def questions(self, run: Run) -> tuple[list[PairCase], list[Wait]]:
        """Return a run's pairs, and all that is asked about them; always the same."""
        now = self._now()
        probes = list(probes_of(run, self._suite(run), now))
        by_id = {response_id_of(probe) for probe in probes}
        found = {each.id: each for each in self._store.records.get(Response, by_id)}
        cases = cases_of(run.id, probes, found)
        others = other_questions(probes)
        waits = [
            _about_pair(run, case, others.get(case.a.probe.facts.get("category", ""), ()), now)
            for case in cases
            if not case.unasked
        ]
        return cases, [*waits, *_controls(run, now)]

    def _begin(self, wait: Wait, now: datetime) -> list[Probe]:
        """Wait before anybody is asked; give what is still to be asked."""
        wanted = wait.by_response
        missing = self._store.records.missing(Response, wanted)
        deadline = now + timedelta(seconds=self._deadline_s)
        already = wanted.keys() - missing
        begun = self._gathers.expect(
            wait.key, wanted, deadline=deadline, now=now, context=wait.context, already=already
        )
        if not begun:  # the run was taken up again: what was given up before is waited for anew
            self._gathers.reopen(wait.key, deadline=deadline, now=now)
        return [probe for id_, probe in wanted.items() if id_ in missing]

    def _all_written(self, completion: Completion) -> None:
        features = list(self._store.records.read(Features, run_id=completion.run_id, texts=False))
        absent = self._store.records.missing(Response, {each.response_id for each in features})
        if len(features) < completion.arrived or absent:
            raise TransientError(
                "Not all answers of the run are in the store yet.", retry_after_s=SOON_S
            )

    def _suite(self, run: Run) -> Suite:
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        return suite


def judges_of(run: Run, case: PairCase) -> Sequence[Target]:
    """Return who judges a pair: those that were named, or the model that answered."""
    named = run.judging.judges if run.judging else ()
    return named or (case.a.probe.target,)


def _about_pair(run: Run, case: PairCase, others: Sequence[str], at: datetime) -> Wait:
    seed = run.judging.seed if run.judging else 0
    asked = tuple(
        (question.name, probe_of(run, case, judge, question, at))
        for question in questions_of(case, others, seed)
        for judge in judges_of(run, case)
    )
    sides: list[JsonValue] = [response_id_of(side.probe) for side in (case.a, case.b)]
    return Wait(f"{run.id}/{case.id}", {"set": case.set_id, "sides": sides}, asked)


def _controls(run: Run, at: datetime) -> Iterator[Wait]:
    """Ask every judge what we know, once in a run."""
    judges = (run.judging.judges if run.judging else ()) or run.targets
    for judge in {judge.lane: judge for judge in judges}.values():
        asked = tuple((q.name, control_probe_of(run, judge, q, at)) for q in controls_of())
        yield Wait(f"{run.id}/{CONTROLS}/{judge.lane}", {"judge": judge.lane}, asked)
