"""The pairs of a judged run, read from the store a part at a time, and what is asked about them."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from pydantic import JsonValue

from biaswatch.services.oracle.domain.pairs import PairCase, cases_of
from biaswatch.services.oracle.domain.questions import (
    CONTROLS,
    Others,
    control_probe_of,
    controls_of,
    other_questions,
    probe_of,
    questions_of,
)
from biaswatch.shared.contracts import Probe, Response, Run, Target, drawn_sets, response_id_of
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.runtime.model_questions import QuestionSet
from biaswatch.shared.store import PlannedProbes, Store

PAIRS = 64
"""About how many pairs a part has: they are in memory together, with all that is asked."""
MOST_KNOWN = 16
"""Runs whose order of pairs is kept at the same time."""


@dataclass(frozen=True)
class JudgedPart:
    """Some pairs of a run."""

    cases: Sequence[PairCase]
    questions: Sequence[QuestionSet]
    reached: str | None
    """How far the list of pairs has been gone through with it; None at its end."""


@dataclass
class PairList:
    """Where the sets of a run stand in its suite; most of its memory is 8 bytes for a question."""

    planned: PlannedProbes
    positions: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    """Where the positions of each set end."""
    others: Others | None = None
    """The questions that distractors are drawn from, once somebody has asked for them."""

    def of_sets(self, first: int, last: int) -> "array[int]":
        """Return the positions of the questions of some sets, in the suite's order."""
        begins = self.ends[first - 1] if first else 0
        return array("q", sorted(self.positions[begins : self.ends[last - 1]]))


class JudgedPairs:
    """Reads the pairs of runs; each run has an order that never changes."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._known: OrderedDict[str, PairList] = OrderedDict()

    def every(self, run: Run) -> Iterator[JudgedPart]:
        """Return all parts of a run."""
        reached: str | None = ""
        while reached is not None:
            part = self.read(run, reached)
            yield part
            reached = part.reached

    def read(self, run: Run, reached: str) -> JudgedPart:
        """Return the part after what was reached; the first has the controls of the judges.

        Raises
        ------
        PoisonError
            The suite of the run is not in the store.
        """
        listed, first, now = self._list(run), int(reached or 0), self._now()
        last = min(len(listed.ends), first + _sets_together(run))
        cases = self._cases(run, listed, first, last) if last > first else []
        asked = [case for case in cases if not case.unasked]
        others = self._others(run, listed) if asked else {}
        questions = [_about_pair(run, case, others, now) for case in asked]
        if not reached:
            questions += _controls(run, now)
        return JudgedPart(cases, questions, str(last) if last < len(listed.ends) else None)

    def _cases(self, run: Run, listed: PairList, first: int, last: int) -> list[PairCase]:
        planned = listed.planned.at_positions(listed.of_sets(first, last))
        probes = list(planned.read(self._now()))
        ids = {response_id_of(probe) for probe in probes}
        found = {each.id: each for each in self._store.records.get(Response, ids)}
        return cases_of(run.id, probes, found)

    def _others(self, run: Run, listed: PairList) -> Others:
        if listed.others is None:
            planned = listed.planned
            every = planned.read(self._now(), targets=run.targets[:1], scaffolds=run.scaffolds[:1])
            listed.others = other_questions(islice(every, planned.questions))
        return listed.others

    def _list(self, run: Run) -> PairList:
        if (listed := self._known.get(run.id)) is None:
            listed = self._known[run.id] = self._read_list(run)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return listed

    def _read_list(self, run: Run) -> PairList:
        suites = self._store.suites
        outline = suites.outline(run.suite_hash)
        if outline is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        listed = PairList(PlannedProbes(suites, outline, run))
        drawn = None
        if run.sets is not None:
            drawn = drawn_sets(run, (name for _, name in suites.sets(outline.hash)))
        for name, positions in suites.positions_by_set(outline.hash):
            if len(positions) > 1 and (drawn is None or name in drawn):
                listed.positions.extend(positions)
                listed.ends.append(len(listed.positions))
        return listed


def judges_of(run: Run, case: PairCase) -> Sequence[Target]:
    """Return who judges a pair: those that were named, or the model that answered."""
    named = run.judging.judges if run.judging else ()
    return named or (case.a.probe.target,)


def control_judges(run: Run) -> Sequence[Target]:
    """Return every judge of a run: those that were named, or the models that answer."""
    return (run.judging.judges if run.judging else ()) or run.targets


def _sets_together(run: Run) -> int:
    """Return how many sets make a part: each is a pair for every target, scaffold and repeat."""
    return max(1, PAIRS // (len(run.targets) * len(run.scaffolds) * run.repeats))


def _about_pair(run: Run, case: PairCase, others: Others, at: datetime) -> QuestionSet:
    seed = run.judging.seed if run.judging else 0
    questions = others.get(case.a.probe.facts.get("category", ""), ())
    asked = [
        (question.name, probe_of(run, case, judge, question, at))
        for question in questions_of(case, questions, seed)
        for judge in judges_of(run, case)
    ]
    sides: list[JsonValue] = [response_id_of(side.probe) for side in (case.a, case.b)]
    return _question_set(f"{run.id}/{case.id}", {"set": case.set_id, "sides": sides}, asked)


def _controls(run: Run, at: datetime) -> Iterator[QuestionSet]:
    """Ask every judge what we know, once in a run."""
    if run.judging and not run.judging.controls:
        return
    for judge in {judge.lane: judge for judge in control_judges(run)}.values():
        asked = [(q.name, control_probe_of(run, judge, q, at)) for q in controls_of()]
        yield _question_set(f"{run.id}/{CONTROLS}/{judge.lane}", {"judge": judge.lane}, asked)


def _question_set(
    key: str, about: dict[str, JsonValue], asked: Sequence[tuple[str, Probe]]
) -> QuestionSet:
    questions: list[JsonValue] = [
        [response_id_of(probe), name, probe.target.name, probe.expected] for name, probe in asked
    ]
    return QuestionSet(key, [probe for _, probe in asked], {**about, "asked": questions})
