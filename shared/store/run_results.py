"""Progress, results, failures and labels of runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from sqlalchemy import and_, bindparam, func, or_, select

from biaswatch.shared.contracts import (
    RUN_GATHER,
    Assessment,
    Completion,
    Correction,
    Diagnosis,
    Evaluation,
    Features,
    GatherState,
    Label,
    PairVerdict,
    Purpose,
    Record,
    Response,
    Round,
    Run,
)
from biaswatch.shared.contracts.pair_verdict import ORACLE, JudgedItem, judged_pairs, judged_reports
from biaswatch.shared.lookup import grouped
from biaswatch.shared.store.database import Database, key_chunks
from biaswatch.shared.store.gather_rows import state_of
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.run_tables import GATHERS
from biaswatch.shared.store.tables import RECORD_COUNTS, RECORDS, TEXTS

MAX_SENTENCES = 50
"""Distinct failure messages of a run that are read, most frequent first."""
COUNTS = RECORD_COUNTS.c
GATHER_COLUMNS = ("key", "expected", "arrived", "opening", "closed_by", "closed_at", "recorded_at")
COUNT_COLUMNS = [COUNTS[name] for name in ("kind", "purpose", "lane", "records")]
SELECT_PROGRESS = (
    select(*(GATHERS.c[name] for name in GATHER_COLUMNS), *COUNT_COLUMNS)
    .select_from(GATHERS.outerjoin(RECORD_COUNTS, COUNTS.run_id == GATHERS.c.key))
    .where(GATHERS.c.stage == RUN_GATHER, GATHERS.c.key.in_(bindparam("keys", expanding=True)))
)
"""Compiled once; clients poll it three times a second."""
SELECT_COUNTS = select(COUNTS.run_id.label("key"), *COUNT_COLUMNS).where(
    COUNTS.run_id.in_(bindparam("keys", expanding=True))
)
"""For runs without a gather, such as a window whose answers came before it was planned."""


@dataclass(frozen=True)
class CountedRun:
    """Progress of a run, and its number of records."""

    gather: GatherState | None = None
    records: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of records by kind, purpose and lane."""

    def count(
        self, kind: type[Record], purpose: Purpose | None = None, lane: str | None = None
    ) -> int:
        """Return the number of records of a kind: all, or of a purpose, or of a lane."""
        return sum(
            count
            for (record_kind, record_purpose, record_lane), count in self.records.items()
            if record_kind == kind.kind
            and purpose in {None, record_purpose}
            and lane in {None, record_lane}
        )


@dataclass(eq=False)
class CountedRuns:
    """Looks up the counts of runs; a reader of a run may see its counts."""

    db: Database

    def of(self, run_ids: Iterable[str]) -> dict[str, CountedRun]:
        """Return the counts of the runs that are planned or have records."""
        wanted = set(run_ids)
        states: dict[str, GatherState] = {}
        records: dict[str, dict[tuple[str, str, str], int]] = defaultdict(dict)
        with self.db.reading() as connection:
            for batch in key_chunks(wanted):
                for row in connection.execute(SELECT_PROGRESS, {"keys": batch}).all():
                    if row.key not in states:
                        states[row.key] = state_of(row)
                    if row.records is not None:
                        records[row.key][row.kind, row.purpose, row.lane] = row.records
            for batch in key_chunks(wanted - states.keys()):
                for row in connection.execute(SELECT_COUNTS, {"keys": batch}).all():
                    records[row.key][row.kind, row.purpose, row.lane] = row.records
        keys = states.keys() | records.keys()
        return {key: CountedRun(states.get(key), records.get(key, {})) for key in keys}


@dataclass(eq=False)
class RunsUnderWay:
    """Counts the runs that were started and have not ended."""

    db: Database

    def count(self, tenant: str) -> int:
        """Count a tenant's runs, without rounds of monitors and windows of traffic."""
        runs, gathers = RECORDS[Run.kind], GATHERS.c
        gather_of_run = and_(gathers.stage == RUN_GATHER, gathers.key == runs.c.id)
        query = (
            select(func.count())
            .select_from(runs.outerjoin(GATHERS, gather_of_run))
            .where(runs.c.tenant == tenant, runs.c.purpose == Purpose.STUDY.value)
            .where(or_(gathers.key.is_(None), gathers.closed_at.is_(None)))
        )
        return int(self.db.scalar(query) or 0)


@dataclass(eq=False)
class RunConclusions:
    """Checks whether the results of a run are complete."""

    records: Records

    def diagnosed(self, run_id: str, opening: int) -> bool:
        """Return whether the store has all diagnoses of a run's last completion."""
        completions = self.records.read(Completion, run_id=run_id)
        for completion in completions:
            if completion.opening != opening:
                continue
            with closing(self.records.bodies(Diagnosis, run_id=run_id)) as diagnoses:
                expected = next(
                    (d["together"] for d in diagnoses if d["completion_id"] == completion.id), None
                )
            kinds = (Diagnosis, Assessment)
            stored = sum(self.records.count(kind, completion_id=completion.id) for kind in kinds)
            if expected is not None and stored >= expected:
                return True
        return False

    def without_response(self, run_id: str) -> int:
        """Count the features of a run whose response the store lacks."""
        return self.records.count_without(Features, Response, run_id=run_id)

    def verdicts(self, run_id: str, expected: int) -> int:
        """Count judged pairs; a pair with several verdicts counts once."""
        if not expected:
            return 0
        count = self.records.count(PairVerdict, run_id=run_id)
        if count <= expected:  # the usual case, and fast while a run is watched
            return count
        verdicts = self.records.read(PairVerdict, run_id=run_id, texts=False)
        return len({verdict.pair_id for verdict in verdicts})


@dataclass(eq=False)
class UnansweredProbes:
    """Prompts without an answer by failure message; a reader without texts sees none."""

    db: Database
    records: Records

    def of(self, run_id: str, purpose: Purpose) -> Iterator[tuple[Response, int]]:
        """Return a response for each target and message, with its number of prompts."""
        if not self.db.scope().texts:
            return
        responses = RECORDS[Response.kind].c
        prompts = func.count().label("prompts")
        first = func.min(TEXTS.c.record_id).label("first")
        query = (
            select(first, prompts)
            .join_from(TEXTS, RECORDS[Response.kind], responses.id == TEXTS.c.record_id)
            .where(TEXTS.c.run_id == run_id, TEXTS.c.field == "detail")
            .where(responses.purpose == purpose.value)
            .group_by(responses.lane, TEXTS.c.body)
            .order_by(prompts.desc(), first)
            .limit(MAX_SENTENCES)
        )
        counts = {row.first: row.prompts for row in self.db.rows(query)}
        by_id = {response.id: response for response in self.records.get(Response, counts)}
        for id_, count in counts.items():
            if (response := by_id.get(id_)) is not None:  # skips other tenants
                yield response, count


@dataclass(eq=False)
class JudgedItems:
    """The judged pairs and reports of a run."""

    records: Records

    def of_run(self, run_id: str, instrument: str) -> list[JudgedItem]:
        """Return the pairs of the oracle, or the reports of the evaluator."""
        if instrument == ORACLE:
            return judged_pairs(self.records.read(PairVerdict, run_id=run_id, texts=False))
        return judged_reports(self.records.read(Evaluation, run_id=run_id, texts=False))


@dataclass(eq=False)
class LabelledRuns:
    """Finds labelled runs of all tenants, for services that look for pending work."""

    db: Database

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each labelled run; reads an index only."""
        run_id = RECORDS[Label.kind].c.run_id
        query = select(run_id, func.count().label("labels")).group_by(run_id)
        rows = self.db.rows(query.where(run_id.is_not(None)))
        return {str(row.run_id): int(row.labels) for row in rows}

    def of_monitors(self, monitor_id: str | None = None) -> dict[str, list[str]]:
        """Return the labelled runs of each monitor's rounds, by monitor id.

        Reads indexes only, in a time that grows with the number of labels.
        """
        rounds, labels = RECORDS[Round.kind].c, RECORDS[Label.kind].c
        labelled = select(labels.run_id).where(labels.run_id.is_not(None)).distinct().subquery()
        query = select(rounds.monitor_id, rounds.run_id)
        query = query.join(labelled, labelled.c.run_id == rounds.run_id)
        query = query if monitor_id is None else query.where(rounds.monitor_id == monitor_id)
        return grouped(
            (str(row.monitor_id), str(row.run_id))
            for row in self.db.rows(query.order_by(rounds.run_id))
        )

    def of_monitor(self, monitor_id: str) -> list[str]:
        """Return the labelled runs of one monitor's rounds."""
        return self.of_monitors(monitor_id).get(monitor_id, [])

    def last_corrections(self, run_ids: Iterable[str]) -> list[str]:
        """Return the ids of each run's latest corrections."""
        corrections = RECORDS[Correction.kind].c
        later = RECORDS[Correction.kind].alias()
        newest = select(func.max(later.c.at)).where(later.c.run_id == corrections.run_id)
        query = select(corrections.id).where(corrections.at == newest.scalar_subquery())
        return self.db.scalars_in(query.order_by(corrections.id), corrections.run_id, run_ids)
