"""The results of studies, computed from the store when somebody asks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from services.gateway.domain import (
    JudgeRecord,
    PairGap,
    PairTable,
    ScoreGap,
    Scores,
    Told,
    judge_records,
    last_of_each,
    pair_gaps,
    pair_tables,
    score_gaps,
    scores_of,
    told_of,
)
from services.gateway.handlers.desk import NotThereError
from shared.contracts import (
    Features,
    PairVerdict,
    Response,
    Run,
    features_id_of,
    probes_of,
    response_id_of,
)
from shared.parsing import Unreadable, reasoning_in
from shared.store import Store

CHOICE = "choice"
ALPHA = 0.05
"""Intervals are at 95 percent."""
MOST_FLAGGED = 1000
"""How many flagged pairs are given at once."""


@dataclass(frozen=True)
class StudyResults:
    """What a run with pairs or with stereotyped options found; empty lists where there are none."""

    alpha: float
    scores: list[Scores]
    score_gaps: list[ScoreGap]
    pairs: list[PairTable]
    pair_gaps: list[PairGap]
    judges: list[JudgeRecord]


@dataclass(frozen=True)
class FlaggedSide:
    """One question of a flagged pair, as it was asked and answered."""

    question: str
    chosen: str | None
    answer: str | None
    reasoning: str | None


@dataclass(frozen=True)
class FlaggedPair:
    """A pair with its flags, as people read it; texts are null once they are purged."""

    target: str
    scaffold: str
    set_id: str
    repeat: int
    category: str
    condition: str
    answers: str
    context: str | None
    a: FlaggedSide
    b: FlaggedSide
    flags: list[str]
    explanations: dict[str, str]


class Studies:
    """Reads records, computes results; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def results(self, run_id: str) -> StudyResults:
        """Return what a run shows of its pairs and options."""
        run = self._run(run_id)
        # Seeded by the run: whoever asks again gets the same intervals.
        rng = np.random.default_rng(int(run.id, 16))
        told = list(self._told(run))
        scores = scores_of(told, ALPHA, rng)
        verdicts = last_of_each(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        return StudyResults(
            alpha=ALPHA,
            scores=scores,
            score_gaps=score_gaps(told, scores, rng),
            pairs=pair_tables(verdicts, ALPHA),
            pair_gaps=pair_gaps(verdicts, ALPHA),
            judges=judge_records(verdicts),
        )

    def flagged(self, run_id: str, offset: int) -> list[FlaggedPair]:
        """Return flagged pairs with their texts, so many from this place on."""
        run = self._run(run_id)
        last = last_of_each(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        ids = [each.id for each in last if each.flagged][offset : offset + MOST_FLAGGED]
        verdicts = {each.id: each for each in self._store.records.get(PairVerdict, ids)}
        sides = self._sides(run, {each.set_id for each in verdicts.values()})
        return [_flagged(verdicts[id_], *sides[_where(verdicts[id_])]) for id_ in ids]

    def _run(self, run_id: str) -> Run:
        for run in self._store.records.get(Run, [run_id]):
            return run
        raise NotThereError(f"There is no run {run_id}. `biaswatch runs` lists them.")

    def _told(self, run: Run) -> Iterator[Told]:
        suite = self._store.suites.get(run.suite_hash)
        pins = [pin for pin in run.extractors if pin.name == CHOICE]
        if suite is None or not pins or not any(probe.facts for probe in suite.probes):
            return
        found = {
            each.id: each
            for each in self._store.records.read(Features, run_id=run.id)
            if each.extractor == CHOICE
        }
        for probe in probes_of(run, suite, run.at):
            features = found.get(features_id_of(probe, CHOICE, pins[0].version))
            if told := told_of(probe, features):
                yield told

    def _sides(self, run: Run, sets: set[str]) -> dict[tuple[str, ...], list[Response]]:
        suite = self._store.suites.get(run.suite_hash)
        wanted = [probe for probe in suite.probes if probe.set in sets] if suite else []
        if suite is None or not wanted:
            return {}
        small = suite.model_copy(update={"probes": tuple(wanted)})
        probes = sorted(probes_of(run, small, run.at), key=lambda p: p.facts.get("side", ""))
        ids = [response_id_of(probe) for probe in probes]
        there = {each.id: each for each in self._store.records.get(Response, ids)}
        found: dict[tuple[str, ...], list[Response]] = {}
        for probe, id_ in zip(probes, ids, strict=True):
            key = (probe.target.name, probe.scaffold, str(probe.repeat), probe.set_id or "")
            if id_ in there:
                found.setdefault(key, []).append(there[id_])
        return found


def _where(verdict: PairVerdict) -> tuple[str, ...]:
    return verdict.target, verdict.scaffold, str(verdict.repeat), verdict.set_id


def _flagged(verdict: PairVerdict, a: Response, b: Response) -> FlaggedPair:
    return FlaggedPair(
        target=verdict.target,
        scaffold=verdict.scaffold,
        set_id=verdict.set_id,
        repeat=verdict.repeat,
        category=verdict.facts.get("category", ""),
        condition=verdict.facts.get("condition", ""),
        answers=verdict.answers.value,
        context=a.probe.variables.get("material"),
        a=_side(a, verdict.chosen[0]),
        b=_side(b, verdict.chosen[1]),
        flags=[name for name, finding in verdict.flags.items() if finding.value],
        explanations=verdict.explanations,
    )


def _side(response: Response, chosen: str | None) -> FlaggedSide:
    variables = response.probe.variables
    try:
        reasoning = reasoning_in(response.text or "")
    except Unreadable:
        reasoning = None  # the verdict was given while the text was still there
    answer = variables.get(f"option:{chosen}")
    return FlaggedSide(variables.get("question", ""), chosen, answer, reasoning)
