"""Progress, results, failures and labels of runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from sqlalchemy import Engine, and_, bindparam, func, select

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
)
from biaswatch.shared.contracts.pair_verdict import ORACLE, JudgedItem, judged_pairs, judged_reports
from biaswatch.shared.store.engine import ScopeNow, chunks, everything, read_transaction
from biaswatch.shared.store.gather_rows import state_of_row
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.run_tables import RECORD_COUNTS
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import GATHERS, RECORDS, TEXTS

COUNTS = RECORD_COUNTS.c
WITH_COUNTS = (
    select(
        *(GATHERS.c[name] for name in ("key", "expected", "arrived", "opening", "closed_by")),
        *(GATHERS.c[name] for name in ("closed_at", "recorded_at")),
        *(COUNTS[name] for name in ("kind", "purpose", "lane", "records")),
    )
    .select_from(GATHERS.outerjoin(RECORD_COUNTS, COUNTS.run_id == GATHERS.c.key))
    .where(
        and_(GATHERS.c.stage == RUN_GATHER, GATHERS.c.key.in_(bindparam("keys", expanding=True)))
    )
)
"""Made once: a follower asks it three times a second."""
COUNTS_ALONE = select(
    *(COUNTS[name] for name in ("run_id", "kind", "purpose", "lane", "records"))
).where(COUNTS.run_id.in_(bindparam("keys", expanding=True)))
"""For runs that nobody has planned yet, such as a window whose answers came before it."""


@dataclass(frozen=True)
class CountedRun:
    """What is known of a run that is waited for: how far it is, and how many records it has."""

    gather: GatherState | None = None
    records: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """By kind, purpose and lane."""

    def count(
        self, kind: type[Record], purpose: Purpose | None = None, lane: str | None = None
    ) -> int:
        """Return how many records of a kind there are: all, or of a purpose, or of a lane."""
        return sum(
            records
            for (counted, made_for, of), records in self.records.items()
            if counted == kind.kind and purpose in {None, made_for} and lane in {None, of}
        )


class CountedRuns:
    """Looks up the counts of runs; who may see a run may see its counts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, run_ids: Iterable[str]) -> dict[str, CountedRun]:
        """Return the counts of those of these runs that are planned or have records."""
        wanted = list(run_ids)
        states: dict[str, GatherState] = {}
        records: dict[str, dict[tuple[str, str, str], int]] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(wanted):
                for row in connection.execute(WITH_COUNTS, {"keys": some}).mappings():
                    if (key := row["key"]) not in states:
                        states[key], records[key] = state_of_row(row), {}
                    if row["records"] is not None:
                        by = (row["kind"], row["purpose"], row["lane"])
                        records[key][by] = row["records"]
            for some in chunks(set(wanted) - states.keys()):
                for row in connection.execute(COUNTS_ALONE, {"keys": some}).mappings():
                    by = (row["kind"], row["purpose"], row["lane"])
                    records.setdefault(row["run_id"], {})[by] = row["records"]
        return {key: CountedRun(states.get(key), counted) for key, counted in records.items()}


class RunConclusions:
    """Tells whether the results of a run are complete."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def diagnosed(self, run_id: str, opening: int) -> bool:
        """Return whether the store has all diagnoses of a run's last completion."""
        completions = self._records.read(Completion, run_id=run_id)
        for last in (each.id for each in completions if each.opening == opening):
            with closing(self._records.numbers(Diagnosis, run_id=run_id)) as found:
                together = next((d["together"] for d in found if d["completion_id"] == last), None)
            kinds = (Diagnosis, Assessment)
            stored = [self._records.count(kind, completion_id=last) for kind in kinds]
            if together is not None and sum(stored) >= together:
                return True
        return False

    def without_response(self, run_id: str) -> int:
        """Count the features of a run whose response the store lacks."""
        return self._records.count_without(Features, Response, run_id=run_id)

    def verdicts(self, run_id: str, expected: int) -> int:
        """Count judged pairs; a pair that was judged again has two verdicts and counts once."""
        if not expected:
            return 0
        found = self._records.count(PairVerdict, run_id=run_id)
        if found <= expected:  # the usual case, and quick while a run is watched
            return found
        verdicts = self._records.read(PairVerdict, run_id=run_id, texts=False)
        return len({each.pair_id for each in verdicts})


MAX_SENTENCES = 50
"""Different sentences of a run that are read, the most frequent first."""


class Unanswered:
    """Reads why prompts have no answer; a reader without texts reads nothing."""

    def __init__(self, engine: Engine, records: Records, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._records = records
        self._scope = scope

    def of(self, run_id: str, purpose: Purpose) -> Iterator[tuple[Response, int]]:
        """Return a response for each target and sentence, and how many prompts have them."""
        if not self._scope().texts:
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
        with read_transaction(self._engine) as connection:
            counts = {row.first: row.prompts for row in connection.execute(query)}
        responses_by_id = {
            response.id: response for response in self._records.get(Response, counts)
        }
        for id_, count in counts.items():
            if (response := responses_by_id.get(id_)) is not None:  # none of another tenant
                yield response, count


class JudgedItems:
    """Reads what judges said in a run."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def of_run(self, run_id: str, instrument: str) -> list[JudgedItem]:
        """Return the pairs that the oracle, or the reports that the evaluator, had judged."""
        if instrument == ORACLE:
            return judged_pairs(self._records.read(PairVerdict, run_id=run_id, texts=False))
        return judged_reports(self._records.read(Evaluation, run_id=run_id, texts=False))


class LabelledRuns:
    """Finds labelled runs, all tenants': services look here for work that is left."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each run that has any; read from an index alone."""
        run_id = RECORDS[Label.kind].c.run_id
        query = select(run_id, func.count()).where(run_id.is_not(None)).group_by(run_id)
        with read_transaction(self._engine) as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(query)}

    def of_monitors(self) -> dict[str, list[str]]:
        """Return, by the id of each monitor that has any, the runs of its rounds with labels.

        Read from indexes alone, in a time that grows with what people have labelled.
        """
        rounds, labels = RECORDS[Round.kind].c, RECORDS[Label.kind].c
        labelled = select(labels.run_id).where(labels.run_id.is_not(None)).distinct().subquery()
        query = select(rounds.monitor_id, rounds.run_id)
        query = query.join(labelled, labelled.c.run_id == rounds.run_id)
        found: dict[str, list[str]] = defaultdict(list)
        with read_transaction(self._engine) as connection:
            for monitor_id, run_id in connection.execute(query.order_by(rounds.run_id)):
                found[str(monitor_id)].append(str(run_id))
        return dict(found)

    def of_monitor(self, monitor_id: str) -> list[str]:
        """Return the runs of one monitor's rounds with labels."""
        return self.of_monitors().get(monitor_id, [])

    def last_corrections(self, run_ids: Iterable[str]) -> list[str]:
        """Return the ids of the corrections of each run that were computed last."""
        table = RECORDS[Correction.kind]
        last = select(table.c.run_id, func.max(table.c.at).label("at")).group_by(table.c.run_id)
        found: list[str] = []
        with read_transaction(self._engine) as connection:
            for some in chunks(run_ids):
                newest = last.where(among(table.c.run_id, some)).subquery()
                same = and_(table.c.run_id == newest.c.run_id, table.c.at == newest.c.at)
                query = select(table.c.id).join(newest, same)
                found += connection.scalars(query.order_by(table.c.id))
        return found
