"""Results of studies of a run: BBQ, pairs, judges, applicants."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from pydantic import NonNegativeInt

from biaswatch.services.gateway.runs.measurements import measured_batches
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.studies.scores import StudyRow, score_gaps, scores_of, study_row_of
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import (
    Label,
    LabelSample,
    PairVerdict,
    Response,
    Run,
    response_id_of,
)
from biaswatch.shared.contracts.judged_items import TEMPLATE
from biaswatch.shared.contracts.pair_verdict import latest_verdicts
from biaswatch.shared.parsing import Unreadable, reasoning_in
from biaswatch.shared.presentation.names import QUESTION_KINDS
from biaswatch.shared.requests.run_views import (
    FlaggedPair,
    FlaggedSide,
    JudgedApart,
    RunProgress,
    Scores,
    StudyResults,
)
from biaswatch.shared.store import PlannedProbes, Store

CHOICE = "choice"
"""The extractor that reads chosen options."""
ALPHA = 0.05
"""Intervals have a level of 95 percent."""
CONTROLS_OFF = "controls were switched off"
MAX_SCORED_QUESTIONS, CACHED_SCORES = 5000, 100
"""Questions of a run for which a page shows scores, and runs whose scores are cached."""
MAX_FLAGGED = 1000
"""Flagged pairs in one response."""


class StudyQueries:
    """Blocking queries that compute results from stored records; call them in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs
        self._scores = LatestResults[tuple[str, int, int], list[Scores]](CACHED_SCORES)

    def results(self, run_id: str, *, count_failed: bool = False) -> StudyResults:
        """Return scores, pairs, judges and the comparisons of models.

        Votes of judges that fail their controls are listed separately, or counted on request.
        """
        # Imported late: its statistics libraries are half of the gateway's memory.
        from biaswatch.shared.analysis.studies import judges as standings
        from biaswatch.shared.analysis.studies import pairs
        from biaswatch.shared.analysis.studies.self_preference import self_preferences

        run = self._runs.run(run_id)
        # Seeded by the run, so that the same request gets the same intervals.
        rng = np.random.default_rng(int(run.id, 16))
        rows = list(self._rows(run))
        scores = scores_of(rows, ALPHA)
        latest = latest_verdicts(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        judges = standings.judge_controls(latest, examined=_examined(run))
        weighted = _is_weighted(run)
        verdicts = (
            latest
            if count_failed
            else standings.counted_verdicts(latest, judges, weighted=weighted)
        )
        samples = list(self._store.records.read(LabelSample, run_id=run_id))
        labels = list(self._store.records.read(Label, run_id=run_id)) if samples else []
        return StudyResults(
            alpha=ALPHA,
            scores=scores,
            score_gaps=score_gaps(rows, scores, rng),
            pairs=pairs.pair_tables(verdicts, ALPHA, judges, samples, labels),
            pair_gaps=pairs.pair_gaps(verdicts),
            judges=judges,
            apart=[
                JudgedApart(
                    judge=judge.judge,
                    kind=judge.kind,
                    language=judge.language,
                    pairs=pairs.pair_tables(standings.only_votes_of(latest, judge), ALPHA),
                )
                for judge in judges
                if judge.fails and not count_failed
            ],
            preferences=self_preferences(latest, ALPHA),
            uncontrolled=None if not run.judging or _examined(run) else CONTROLS_OFF,
        )

    def scores(self, progress: RunProgress) -> list[Scores]:
        """Return the bias scores of a run; empty if it asks too many questions for a page.

        They are cached until the run is resumed or more of its answers are measured.
        """
        run = self._runs.run(progress.run_id)

        def compute() -> list[Scores]:
            rows = list(islice(self._rows(run), MAX_SCORED_QUESTIONS + 1))
            return scores_of(rows if len(rows) <= MAX_SCORED_QUESTIONS else [], ALPHA)

        return self._scores.get(_scores_key(progress), compute)

    def has_cached_scores(self, progress: RunProgress) -> bool:
        """Return whether `scores` of a run costs nothing."""
        return _scores_key(progress) in self._scores

    def is_scored(self, run_id: str) -> bool:
        """Return whether a run has bias scores, however many questions it asks."""
        return next(self._rows(self._runs.run(run_id)), None) is not None

    def flagged(
        self,
        run_id: str,
        offset: NonNegativeInt = 0,
        *,
        count_failed: bool = False,
        unflagged: bool = False,
    ) -> list[FlaggedPair]:
        """Return flagged pairs with their texts, at most a thousand, from an offset.

        `unflagged` adds the pairs without a flag.
        """
        return self._flagged(
            run_id, offset, MAX_FLAGGED, count_failed=count_failed, unflagged=unflagged
        )[1]

    def first_flagged(self, run_id: str, most: int) -> tuple[int, list[FlaggedPair]]:
        """Return the number of flagged pairs, and the first of them with their texts."""
        return self._flagged(run_id, 0, most, count_failed=False)

    def agreement(self, run: Run) -> list[str]:
        """Return the agreement of several judges by kind of question, in words."""
        if run.judging is None or len(run.judging.judges) < 2:
            return []
        # Imported late: its statistics libraries are half of the gateway's memory.
        from biaswatch.shared.analysis.studies import judges as standings
        from biaswatch.shared.presentation.tables import estimate_text

        latest = latest_verdicts(self._store.records.read(PairVerdict, run_id=run.id, texts=False))
        judges = standings.judge_controls(latest, examined=_examined(run))
        pairs = [v for v in standings.counted_verdicts(latest, judges) if not v.control]
        alphas = standings.agreements(pairs, [v.facts.get(TEMPLATE) for v in pairs], ALPHA)
        return [f"{QUESTION_KINDS[kind]}: {estimate_text(alpha)}" for kind, alpha in alphas.items()]

    def pairs_of(
        self, run_id: str, verdicts: Sequence[PairVerdict]
    ) -> list[tuple[PairVerdict, FlaggedPair]]:
        """Return pairs with their texts, if both answers are in the store."""
        sides = self._sides(self._runs.run(run_id), {verdict.set_id for verdict in verdicts})
        return [
            (verdict, _flagged_pair(verdict, *responses))
            for verdict in verdicts
            if len(responses := sides[_pair_key(verdict)]) == 2
        ]

    def _flagged(
        self, run_id: str, offset: int, most: int, *, count_failed: bool, unflagged: bool = False
    ) -> tuple[int, list[FlaggedPair]]:
        # Imported late: its statistics libraries are half of the gateway's memory.
        from biaswatch.shared.analysis.studies import judges as standings

        run = self._runs.run(run_id)
        latest = latest_verdicts(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        judges = [] if count_failed else standings.judge_controls(latest, examined=_examined(run))

        def counted(verdicts: Sequence[PairVerdict]) -> list[PairVerdict]:
            weighted = bool(judges) and _is_weighted(run)
            return standings.counted_verdicts(verdicts, judges, weighted=weighted)

        flagged = [
            verdict
            for verdict in counted(latest)
            if verdict.flagged or (unflagged and not verdict.control)
        ]
        ids = [verdict.id for verdict in flagged[offset : offset + most]]
        stored = list(self._store.records.get(PairVerdict, ids))
        verdicts = {verdict.id: verdict for verdict in counted(stored)}
        sides = self._sides(run, {verdict.set_id for verdict in verdicts.values()})
        flagged_pairs = [
            _flagged_pair(verdicts[id_], *_both(sides[_pair_key(verdicts[id_])])) for id_ in ids
        ]
        return len(flagged), flagged_pairs

    def _rows(self, run: Run) -> Iterator[StudyRow]:
        suite = self._store.suites.outline(run.suite_hash)
        pins = [pin for pin in run.extractors if pin.name == CHOICE]
        if suite is None or not pins or self._store.archived_runs.find(run.id):
            return
        probes = PlannedProbes(self._store.suites, suite, run).read(run.at)
        for batch in measured_batches(self._store, probes, pins):
            rows = (study_row_of(probe, measured[CHOICE]) for probe, measured in batch)
            yield from filter(None, rows)

    def _sides(self, run: Run, sets: Collection[str]) -> Mapping[tuple[str, ...], list[Response]]:
        """Return the stored answers of some sets, by pair and side."""
        sides: dict[tuple[str, ...], list[Response]] = defaultdict(list)
        suite = self._store.suites.outline(run.suite_hash)
        if suite is None or not sets:
            return sides
        planned = PlannedProbes(self._store.suites, suite, run).of_sets(sets)
        probes = [probe for probe in planned.read(run.at) if probe.set_id in sets]
        probes.sort(key=lambda probe: probe.facts.get("side", ""))
        ids = [response_id_of(probe) for probe in probes]
        stored = {response.id: response for response in self._store.records.get(Response, ids)}
        for probe, id_ in zip(probes, ids, strict=True):
            if id_ in stored:
                key = (probe.target.name, probe.scaffold, str(probe.repeat), probe.set_id or "")
                sides[key].append(stored[id_])
        return sides


def _is_weighted(run: Run) -> bool:
    return run.judging is not None and run.judging.jury == "weighted"


def _examined(run: Run) -> bool:
    return run.judging is not None and run.judging.controls


def _scores_key(progress: RunProgress) -> tuple[str, int, int]:
    return progress.run_id, progress.opening, progress.features


def _pair_key(verdict: PairVerdict) -> tuple[str, ...]:
    return verdict.target, verdict.scaffold, str(verdict.repeat), verdict.set_id


def _both(sides: Sequence[Response]) -> tuple[Response | None, Response | None]:
    """Return both answers of a pair; none where either is not stored."""
    return (sides[0], sides[1]) if len(sides) == 2 else (None, None)


def _flagged_pair(verdict: PairVerdict, a: Response | None, b: Response | None) -> FlaggedPair:
    return FlaggedPair(
        target=verdict.target,
        scaffold=verdict.scaffold,
        set_id=verdict.set_id,
        repeat=verdict.repeat,
        category=verdict.facts.get("category", ""),
        condition=verdict.facts.get("condition", ""),
        answers=verdict.answers.value,
        context=a.probe.variables.get("material") if a else None,
        a=_side(a, verdict.chosen[0]),
        b=_side(b, verdict.chosen[1]),
        flags=[name for name, finding in verdict.flags.items() if finding.value],
        verdicts={
            name: finding.value
            for findings in (verdict.flags, verdict.corrected)
            for name, finding in findings.items()
        },
        explanations=verdict.explanations,
    )


def _side(response: Response | None, chosen: str | None) -> FlaggedSide:
    if response is None:
        return FlaggedSide(question="", chosen=chosen, answer=None, reasoning=None)
    variables = response.probe.variables
    try:
        reasoning = reasoning_in(response.text or "", response.reasoning)
    except Unreadable:
        reasoning = None  # the text was purged after the verdict
    return FlaggedSide(
        question=variables.get("question", ""),
        chosen=chosen,
        answer=variables.get(f"option:{chosen}"),
        reasoning=reasoning,
    )
