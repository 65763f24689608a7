"""Pairs of a run, read part by part, with their questions to judges."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from pydantic import JsonValue

from biaswatch.services.oracle.domain.pairs import PairCase, pair_cases
from biaswatch.services.oracle.domain.questions import (
    CONTROLS,
    Distractors,
    StudyTexts,
    control_probe_of,
    control_question,
    examined_languages,
    probe_of,
    questions_of,
    study_texts,
)
from biaswatch.services.oracle.domain.verdicts import bank_id
from biaswatch.shared.analysis.judges.controls import OTHER_AUTHOR, variant_key
from biaswatch.shared.analysis.judges.stories import story_controls
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import (
    Judging,
    Probe,
    Response,
    Run,
    Target,
    drawn_sets,
    response_id_of,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.runtime.model_questions import QuestionSet
from biaswatch.shared.stats.judges.results import AUTHOR, GROUP
from biaswatch.shared.store import PlannedProbes, Store

PAIRS = 64
"""Pairs of one part, which are in memory together with their questions."""
MAX_CACHED_RUNS = 16
"""Runs whose order of pairs is cached."""


@dataclass(frozen=True)
class JudgedPart:
    """A part of the pairs of a run, with their questions."""

    cases: Sequence[PairCase]
    questions: Sequence[QuestionSet]
    reached: str | None
    """Position in the list of pairs after this part; None at its end."""


@dataclass
class PairList:
    """Positions of the sets of a run in its suite, at 8 bytes per question."""

    planned: PlannedProbes
    positions: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    """End of each set in `positions`."""
    texts: StudyTexts | None = None
    """Distractors and groups, read when they are first needed."""

    def of_sets(self, first: int, last: int) -> "array[int]":
        """Return the positions of the questions of a range of sets, in the order of the suite."""
        start = self.ends[first - 1] if first else 0
        return array("q", sorted(self.positions[start : self.ends[last - 1]]))


class JudgedPairs:
    """Reads the pairs of runs in a fixed order."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._lists = LatestResults[str, PairList](MAX_CACHED_RUNS)

    def every(self, run: Run) -> Iterator[JudgedPart]:
        """Yield all parts of a run."""
        reached: str | None = ""
        while reached is not None:
            part = self.read(run, reached)
            yield part
            reached = part.reached

    def read(self, run: Run, reached: str) -> JudgedPart:
        """Return the part after a position; the first one includes the controls.

        Raises
        ------
        PoisonError
            The suite of the run is not in the store.
        """
        listed, first, now = self._list(run), int(reached or 0), self._now()
        last = min(len(listed.ends), first + _sets_per_part(run))
        cases = self._cases(run, listed, first, last) if last > first else []
        judged = [case for case in cases if not case.unasked]
        texts = self._texts(run, listed) if judged or not reached else StudyTexts({}, {})
        questions = [_pair_questions(run, case, texts.distractors, now) for case in judged]
        if not reached:
            questions += _controls(run, texts.groups, now)
        return JudgedPart(cases, questions, str(last) if last < len(listed.ends) else None)

    def _cases(self, run: Run, listed: PairList, first: int, last: int) -> list[PairCase]:
        planned = listed.planned.at_positions(listed.of_sets(first, last))
        probes = list(planned.read(self._now()))
        ids = {response_id_of(probe) for probe in probes}
        responses = {r.id: r for r in self._store.records.get(Response, ids)}
        return pair_cases(run.id, probes, responses)

    def _texts(self, run: Run, listed: PairList) -> StudyTexts:
        if listed.texts is None:
            planned = listed.planned
            probes = planned.read(self._now(), targets=run.targets[:1], scaffolds=run.scaffolds[:1])
            listed.texts = study_texts(islice(probes, planned.questions))
        return listed.texts

    def _list(self, run: Run) -> PairList:
        return self._lists.get(run.id, partial(self._read_list, run))

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
    """Return the judges of a pair: those of the run, or else the model that answered."""
    named = run.judging.judges if run.judging else ()
    return named or (case.a.probe.target,)


def control_judges(run: Run) -> Sequence[Target]:
    """Return all judges of a run: those it names, or else the models that answer."""
    return (run.judging.judges if run.judging else ()) or run.targets


def _sets_per_part(run: Run) -> int:
    """Return the sets of a part; each has a pair for every target, scaffold and repeat."""
    return max(1, PAIRS // (len(run.targets) * len(run.scaffolds) * run.repeats))


def _pair_questions(
    run: Run, case: PairCase, distractors: Distractors, at: datetime
) -> QuestionSet:
    seed = run.judging.seed if run.judging else 0
    category = case.a.probe.facts.get("category", "")
    probes = [
        (question.name, probe_of(run, case, judge, question, at))
        for question in questions_of(case, distractors.get(category, ()), seed)
        for judge in judges_of(run, case)
    ]
    sides: list[JsonValue] = [response_id_of(side.probe) for side in (case.a, case.b)]
    return _question_set(f"{run.id}/{case.id}", {"set": case.set_id, "sides": sides}, probes)


def _controls(run: Run, groups: Mapping[str, Sequence[str]], at: datetime) -> Iterator[QuestionSet]:
    """Yield the control questions of every judge of a run, in the languages of its pairs."""
    judging = run.judging or Judging()
    if not judging.controls:
        return
    count = judging.controls_per_kind
    for judge in {judge.lane: judge for judge in control_judges(run)}.values():
        languages = examined_languages(judge.name, groups, count)
        questions = [
            control_question(control)
            for language, labels in languages.items()
            for control in story_controls(
                count, judging.seed, groups=labels, author=judge.model, language=language
            )
        ]
        probes = [(q.name, control_probe_of(run, judge, q, at)) for q in questions]
        words: dict[str, JsonValue] = {
            variant_key(examined, place, language): word
            for language, labels in languages.items()
            for examined, swapped in _swapped(judge, labels).items()
            for place, word in enumerate(swapped)
        }
        bank = bank_id(run, judge, questions)
        context: dict[str, JsonValue] = {"judge": judge.lane, "words": words, "bank": bank}
        yield _question_set(f"{run.id}/{CONTROLS}/{judge.lane}", context, probes)


def _swapped(judge: Target, groups: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return {AUTHOR: (judge.model, OTHER_AUTHOR), GROUP: groups}


def _question_set(
    key: str, context: dict[str, JsonValue], probes: Sequence[tuple[str, Probe]]
) -> QuestionSet:
    questions: list[JsonValue] = [
        [response_id_of(probe), name, probe.target.name, probe.expected] for name, probe in probes
    ]
    return QuestionSet(key, [probe for _, probe in probes], {**context, "asked": questions})
