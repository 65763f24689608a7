"""Results of studies of a run: BBQ, pairs, judges, applicants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from pydantic import NonNegativeInt

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.studies.scores import (
    Applicants,
    StudyRow,
    score_gaps,
    scores_of,
    study_row_of,
)
from biaswatch.shared.contracts import (
    Features,
    PairVerdict,
    Probe,
    Response,
    Run,
    SuiteHeader,
    features_id_of,
    response_id_of,
)
from biaswatch.shared.contracts.pair_verdict import latest_verdicts
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing import Unreadable, reasoning_in
from biaswatch.shared.requests.run_views import (
    FlaggedPair,
    FlaggedSide,
    RunImpact,
    RunProgress,
    Scores,
    StudyResults,
)
from biaswatch.shared.requests.runs import ImpactRequest
from biaswatch.shared.stats.studies.local_law_144 import UNKNOWN_LABELS, unused_unknown_labels
from biaswatch.shared.store import PlannedProbes, Store

CHOICE = "choice"
ALPHA = 0.05
"""Intervals are at 95 percent."""
AT_ONCE = 500
"""Answers that are in memory at the same time."""
CONTROLS_OFF = "controls were switched off"
MOST_SCORED, MOST_KNOWN = 5000, 100
"""Questions of a run whose scores a page shows, and runs of which they are remembered."""
MAX_FLAGGED = 1000
"""How many flagged pairs are returned at once."""


class StudyQueries:
    """Reads records and computes results; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = RunQueries(store)
        self._scored: dict[tuple[str, int, int], list[Scores]] = {}

    def results(self, run_id: str, *, count_failed: bool = False) -> StudyResults:
        """Return scores, pairs, judges and the comparisons of models.

        Votes of judges that fail their controls stand apart, unless they are to be counted.
        """
        # Not before somebody asks: its libraries of statistics are half of the gateway's memory.
        from biaswatch.shared.analysis.studies import pairs
        from biaswatch.shared.analysis.studies import pairs as believed

        run = self._runs.run(run_id)
        # Seeded by the run: the same request gets the same intervals.
        rng = np.random.default_rng(int(run.id, 16))
        rows = list(self._rows(run))
        scores = scores_of(rows, ALPHA, rng)
        every = latest_verdicts(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        judges = believed.judge_controls(every)
        verdicts = every if count_failed else believed.counted_verdicts(every, judges)
        return StudyResults(
            alpha=ALPHA,
            scores=scores,
            score_gaps=score_gaps(rows, scores, rng),
            pairs=pairs.pair_tables(verdicts, ALPHA),
            pair_gaps=pairs.pair_gaps(verdicts, ALPHA),
            judges=judges,
            apart=[] if count_failed else believed.failed_judges(every, judges, ALPHA),
            uncontrolled=CONTROLS_OFF if run.judging and not run.judging.controls else None,
        )

    def scores(self, progress: RunProgress) -> list[Scores]:
        """Return the bias scores of a run; none where it asks too many questions for a page.

        They are kept until the run is resumed or more of its answers are read.
        """
        run, key = self._runs.run(progress.run_id), _scored_key(progress)
        if key not in self._scored:
            if len(self._scored) >= MOST_KNOWN:
                self._scored.clear()
            rows = list(islice(self._rows(run), MOST_SCORED + 1))
            few = rows if len(rows) <= MOST_SCORED else []
            rng = np.random.default_rng(int(run.id, 16))
            self._scored[key] = scores_of(few, ALPHA, rng)
        return self._scored[key]

    def knows_scores(self, progress: RunProgress) -> bool:
        """Tell whether the scores of a run are kept, so that asking for them costs nothing."""
        return _scored_key(progress) in self._scored

    def has_scores(self, run_id: str) -> bool:
        """Tell whether a run has bias scores, however many questions it asks."""
        return next(self._rows(self._runs.run(run_id)), None) is not None

    def flagged(
        self, run_id: str, offset: NonNegativeInt = 0, *, count_failed: bool = False
    ) -> list[FlaggedPair]:
        """Return flagged pairs with their texts, at most a thousand, from an offset."""
        return self._flagged(run_id, offset, MAX_FLAGGED, count_failed=count_failed)[1]

    def first_flagged(self, run_id: str, most: int) -> tuple[int, list[FlaggedPair]]:
        """Return how many pairs are flagged, and the first of them with their texts."""
        return self._flagged(run_id, 0, most, count_failed=False)

    def pairs_of(
        self, run_id: str, verdicts: Sequence[PairVerdict]
    ) -> list[tuple[PairVerdict, FlaggedPair]]:
        """Return pairs with their texts, where both answers are in the store."""
        sides = self._sides(self._runs.run(run_id), {each.set_id for each in verdicts})
        both = ((each, sides.get(_pair_key(each), [])) for each in verdicts)
        return [(each, _flagged(each, *found)) for each, found in both if len(found) == 2]

    def _flagged(
        self, run_id: str, offset: int, most: int, *, count_failed: bool
    ) -> tuple[int, list[FlaggedPair]]:
        # Not before somebody asks: its libraries of statistics are half of the gateway's memory.
        from biaswatch.shared.analysis.studies import pairs as believed

        run = self._runs.run(run_id)
        last = latest_verdicts(self._store.records.read(PairVerdict, run_id=run_id, texts=False))
        judges = [] if count_failed else believed.judge_controls(last)
        flagged = [each for each in believed.counted_verdicts(last, judges) if each.flagged]
        ids = [each.id for each in flagged][offset : offset + most]
        stored = self._store.records.get(PairVerdict, ids)
        verdicts = {each.id: each for each in believed.counted_verdicts(list(stored), judges)}
        sides = self._sides(run, {each.set_id for each in verdicts.values()})
        found = [_flagged(verdicts[id_], *sides[_pair_key(verdicts[id_])]) for id_ in ids]
        return len(flagged), found

    def _rows(self, run: Run) -> Iterator[StudyRow]:
        suite = self._store.suites.outline(run.suite_hash)
        pins = [pin for pin in run.extractors if pin.name == CHOICE]
        if suite is None or not pins or self._store.archived_runs.find(run.id):
            return
        probes = PlannedProbes(self._store.suites, suite, run).read(run.at)
        while some := list(islice(probes, AT_ONCE)):
            ids = [features_id_of(probe, CHOICE, pins[0].version) for probe in some]
            found = {each.id: each for each in self._store.records.get(Features, ids)}
            rows = (study_row_of(p, found.get(id_)) for p, id_ in zip(some, ids, strict=True))
            yield from (row for row in rows if row)

    def _sides(self, run: Run, sets: set[str]) -> dict[tuple[str, ...], list[Response]]:
        suite = self._store.suites.outline(run.suite_hash)
        if suite is None or not sets:
            return {}
        every = PlannedProbes(self._store.suites, suite, run).read(run.at)
        mine = (probe for probe in every if probe.set_id in sets)
        probes = sorted(mine, key=lambda probe: probe.facts.get("side", ""))
        ids = [response_id_of(probe) for probe in probes]
        stored = {each.id: each for each in self._store.records.get(Response, ids)}
        found: dict[tuple[str, ...], list[Response]] = {}
        for probe, id_ in zip(probes, ids, strict=True):
            key = (probe.target.name, probe.scaffold, str(probe.repeat), probe.set_id or "")
            if id_ in stored:
                found.setdefault(key, []).append(stored[id_])
        return found


def _scored_key(progress: RunProgress) -> tuple[str, int, int]:
    return progress.run_id, progress.opening, progress.features


def _pair_key(verdict: PairVerdict) -> tuple[str, ...]:
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
        reasoning = reasoning_in(response.text or "", response.reasoning)
    except Unreadable:
        reasoning = None  # the verdict was given while the text was still there
    answer = variables.get(f"option:{chosen}")
    question = variables.get("question", "")
    return FlaggedSide(question=question, chosen=chosen, answer=answer, reasoning=reasoning)


PROBES_AT_ONCE = 500
"""Answers that are in memory at the same time."""
MAX_LISTED_CATEGORIES = 40
"""In a sentence about a category that no applicant has."""


class ImpactQueries:
    """Reads records and computes results; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = RunQueries(store)

    def impact(self, run_id: str, asked: ImpactRequest) -> list[RunImpact]:
        """Return the tables of each target, scaffold, extractor and feature.

        Raises
        ------
        NotFoundError
            There is no such run.
        UsageError
            The run has no groups, or not these groups, categories or this feature.
        """
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise UsageError("Production traffic has no suite, so there are no applicants in it.")
        suite, planned = outline.header, PlannedProbes(self._store.suites, outline, run)
        dimensions = _dimensions(planned, suite, asked.group)
        features = self._features(run, suite, asked.score)
        found = self._applicants(run, planned, dimensions, features)
        least = suite.selected_at_least
        if asked.selected_at_least is not None:
            least = dict.fromkeys(features_of(features), asked.selected_at_least)
        _check_unknown(asked.unknown, found.values())
        words = frozenset(word.strip().casefold() for word in asked.unknown)
        return [
            each
            for names, applicants in sorted(found.items())
            for each in applicants.impact(
                *names,
                selected_at_least=least,
                small_share=asked.small_share,
                unknown_labels=UNKNOWN_LABELS | words,
            )
        ]

    def _features(
        self, run: Run, suite: SuiteHeader, wanted: str | None
    ) -> Mapping[str, Sequence[str]]:
        """Return by extractor which features get tables: what is asked for, or what is a selection.

        Where the suite says of no feature what a selection is, all that it diagnoses.
        """
        pinned = {(pin.name, pin.version) for pin in run.extractors}
        measured = {
            each.name: each.features
            for each in self._store.extractors.ever()
            if (each.name, each.version) in pinned
        }
        every = features_of(measured)
        if wanted is not None and wanted not in every:
            raise UsageError(f"The run has no feature {wanted}; it has {', '.join(every)}.")
        chosen = (wanted,) if wanted else tuple(suite.selected_at_least) or suite.features or every
        some = {name: [f for f in features if f in chosen] for name, features in measured.items()}
        return {name: features for name, features in some.items() if features}

    def _applicants(
        self,
        run: Run,
        planned: PlannedProbes,
        dimensions: Sequence[str],
        features: Mapping[str, Sequence[str]],
    ) -> dict[tuple[str, str, str], Applicants]:
        """Read every answer once, a few at a time; one that never came adds its applicant only."""
        found: dict[tuple[str, str, str], Applicants] = {}
        for probe, extractor, measured in self._measured(run, planned, features):
            key = (probe.target.name, probe.scaffold, extractor)
            if key not in found:
                found[key] = Applicants(features[extractor], dimensions)
            found[key].add(probe, measured.values if measured else {})
        return found

    def _measured(
        self, run: Run, planned: PlannedProbes, extractors: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[Probe, str, Features | None]]:
        pins = [pin for pin in run.extractors if pin.name in extractors]
        every = planned.read(run.at)
        while probes := list(islice(every, PROBES_AT_ONCE)):
            for pin in pins:
                ids = [features_id_of(probe, pin.name, pin.version) for probe in probes]
                stored = {each.id: each for each in self._store.records.get(Features, ids)}
                for probe, id_ in zip(probes, ids, strict=True):
                    yield probe, pin.name, stored.get(id_)


def _check_unknown(named: Sequence[str], found: Iterable[Applicants]) -> None:
    """Refuse a label for unknown categories that no applicant has."""
    present = sorted(set[str]().union(*(applicants.categories for applicants in found)))
    if present and (unused := unused_unknown_labels(named, present)):
        listed = ", ".join(present[:MAX_LISTED_CATEGORIES])
        raise UsageError(f"No applicant has the category {unused[0]!r}. There are: {listed}.")


def features_of(measured: Mapping[str, Sequence[str]]) -> list[str]:
    """Return every feature of some extractors once, sorted."""
    return sorted({feature for features in measured.values() for feature in features})


def _dimensions(planned: PlannedProbes, suite: SuiteHeader, wanted: Sequence[str]) -> list[str]:
    """Return the dimensions that are asked for, or all there are."""
    there = sorted({n for _, probe in planned.items() for n in suite.groups_of(probe)})
    if not there:
        raise UsageError("No probe of this run names a group, so there are no categories.")
    for name in wanted:
        if name not in there:
            raise UsageError(f"The run has no groups by {name}; it has {', '.join(there)}.")
    return list(dict.fromkeys(wanted)) or there
