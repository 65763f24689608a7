"""Windows of production traffic: which answers were taken in, the fixed list of each, its accounts.

Everything here is counted in the transaction that writes the row that is counted, so that a
redelivery, a death at any moment or a second replica changes no sum.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, func, select, update

from biaswatch.shared.contracts import (
    ACCOUNTS,
    AccountedWindow,
    AnswerAccounts,
    Features,
    FirstSending,
    MemberAccounts,
    MonitoredWindow,
    Probe,
    Response,
    Run,
    SentAnswer,
    Window,
    member_features_id,
)
from biaswatch.shared.contracts.answer_accounts import AnswerKey
from biaswatch.shared.store.engine import chunks, read_transaction, upsert, write_transaction
from biaswatch.shared.store.monitoring_tables import OTHER_SENDINGS, TAKEN_ANSWERS, TRAFFIC_WINDOWS
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import RECORDS

AT_ONCE = 5000
"""Members that are read together."""
BY_AN_OLDER_VERSION = "before 0.2"
"""The sending of answers that were taken in before sendings were told apart."""


class WindowAnswers:
    """The windows of all monitors of traffic."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, sent: Sequence[SentAnswer]) -> dict[AnswerKey, FirstSending]:
        """Account for sendings; return which came first, the same ever after, by answer.

        An answer whose window is
        fixed already is late, whatever its intake.
        """
        firsts: dict[AnswerKey, SentAnswer] = {}
        for each in sent:
            firsts.setdefault(each.key, each)
        with write_transaction(self._engine) as connection:
            fixed = _lock(connection, {each.of for each in sent})
            rows = [
                {
                    "run_id": each.of.run_id,
                    "answer_id": each.answer_id,
                    "sending": each.sending,
                    "response_id": each.response_id,
                    "late": each.late or each.of.run_id in fixed,
                }
                for _, each in sorted(firsts.items())
            ]
            new = _insert(connection, TAKEN_ANSWERS, rows)
            late = {(row["run_id"], row["answer_id"]) for row in rows if row["late"]}
            first = _first_sendings(connection, firsts.keys() - new)
            first |= {key: firsts[key].as_first for key in new}
            again = {each for each in sent if first[each.key].sending != each.sending}
            repeated = _insert_other(connection, again)
            _add(connection, Counter((key[0], "late" if key in late else "waiting") for key in new))
            _add(connection, Counter((run_id, "duplicate") for run_id, _ in repeated))
        return first

    def refuse(self, sent: Sequence[SentAnswer]) -> None:
        """Account for answers that are not taken in."""
        with write_transaction(self._engine) as connection:
            _lock(connection, {each.of for each in sent})
            new = _insert_other(connection, set(sent))
            _add(connection, Counter((run_id, "refused") for run_id, _ in new))

    def count_refused(self, refused: Mapping[MonitoredWindow, int]) -> None:
        """Account for answers that are refused before they have an id; called once for each."""
        with write_transaction(self._engine) as connection:
            _lock(connection, refused)
            _add(connection, Counter({(w.run_id, "refused"): n for w, n in refused.items()}))

    def fix(self, of: MonitoredWindow, at: datetime) -> int:
        """Fix the list of a window's members, once; return how many, the same ever after."""
        with write_transaction(self._engine) as connection:
            if of.run_id not in _lock(connection, {of}):
                _add_untaken(connection, of.run_id)
                fixing = update(TRAFFIC_WINDOWS).where(TRAFFIC_WINDOWS.c.run_id == of.run_id)
                connection.execute(fixing.values(fixed_at=at))
            mine = (TAKEN_ANSWERS.c.run_id == of.run_id, TAKEN_ANSWERS.c.late.is_(False))
            count = select(func.count()).select_from(TAKEN_ANSWERS).where(*mine)
            return int(connection.scalar(count) or 0)

    def members(self, run_id: str) -> Iterator[str] | None:
        """Return the fixed list of a window's members; None of a window that is not read yet."""
        first = self.members_after(run_id, "", AT_ONCE)
        return None if first is None else self._all_members(run_id, first)

    def _all_members(self, run_id: str, some: list[str] | None) -> Iterator[str]:
        while some:
            yield from some
            full = len(some) == AT_ONCE
            some = self.members_after(run_id, some[-1], AT_ONCE) if full else None

    def members_after(self, run_id: str, response_id: str, most: int) -> list[str] | None:
        """Return the members after one of them, in the order of their ids, so many at most."""
        fixed_at = select(TRAFFIC_WINDOWS.c.fixed_at).where(TRAFFIC_WINDOWS.c.run_id == run_id)
        taken = TAKEN_ANSWERS.c
        query = select(taken.response_id).where(taken.run_id == run_id, taken.late.is_(False))
        query = query.where(taken.response_id > response_id)
        query = query.order_by(taken.response_id).limit(most)
        with read_transaction(self._engine) as connection:
            if connection.scalar(fixed_at) is None:
                return None
            return list(connection.scalars(query))

    def settle(self, run_id: str, accounts: MemberAccounts) -> None:
        """Note what became of a window's members: nobody of them waits any more."""
        mine = TRAFFIC_WINDOWS.c.run_id == run_id
        with write_transaction(self._engine) as connection:
            values = {**accounts.model_dump(), "waiting": 0}
            connection.execute(update(TRAFFIC_WINDOWS).where(mine).values(values))

    def pass_over(self, monitor_id: str, before: datetime, at: datetime) -> int:
        """Pass over the windows before a moment that were never read; return how many.

        Their answers are late: nobody watched, or the monitor was paused.
        """
        windows = TRAFFIC_WINDOWS.c
        unread = and_(
            windows.monitor_id == monitor_id, windows.begins < before, windows.fixed_at.is_(None)
        )
        with write_transaction(self._engine) as connection:
            query = select(windows.run_id).where(unread).order_by(windows.run_id)
            runs = list(connection.scalars(query.with_for_update()))
            for some in chunks(runs):
                given_up = update(TRAFFIC_WINDOWS).where(among(windows.run_id, some))
                late = windows.late + windows.waiting
                connection.execute(given_up.values(late=late, waiting=0, fixed_at=at))
                answers = update(TAKEN_ANSWERS).where(among(TAKEN_ANSWERS.c.run_id, some))
                connection.execute(answers.values(late=True))
        return len(runs)

    def next_unread(self, monitor_id: str, begins: datetime) -> Window | None:
        """Return the first unread window with answers, from the one that begins at a moment on."""
        windows = TRAFFIC_WINDOWS.c
        query = select(windows.begins, windows.ends).where(
            windows.monitor_id == monitor_id,
            windows.begins >= begins,
            windows.fixed_at.is_(None),
            windows.waiting > 0,
        )
        with read_transaction(self._engine) as connection:
            row = connection.execute(query.order_by(windows.begins).limit(1)).first()
        return None if row is None else Window(begins=row.begins, ends=row.ends)

    def unread_span(self, monitor_id: str) -> tuple[datetime, datetime] | None:
        """Return the beginning of the first and the end of the last unread window with answers."""
        windows = TRAFFIC_WINDOWS.c
        query = select(func.min(windows.begins), func.max(windows.ends)).where(
            windows.monitor_id == monitor_id, windows.fixed_at.is_(None), windows.waiting > 0
        )
        with read_transaction(self._engine) as connection:
            first, last = connection.execute(query).one()
        return None if first is None else (first, last)

    def latest(self, monitor_id: str, most: int) -> list[AccountedWindow]:
        """Return the last `most` windows that answers were sent in for or that were read."""
        windows = TRAFFIC_WINDOWS.c
        query = select(TRAFFIC_WINDOWS).where(windows.monitor_id == monitor_id)
        query = query.order_by(windows.begins.desc()).limit(most)
        with read_transaction(self._engine) as connection:
            return [_window(row) for row in connection.execute(query).mappings()]

    def accounts(self, monitor_id: str) -> AnswerAccounts:
        """Return the accounts of a monitor over all its windows."""
        sums = [func.sum(TRAFFIC_WINDOWS.c[name]).label(name) for name in ACCOUNTS]
        query = select(*sums).where(TRAFFIC_WINDOWS.c.monitor_id == monitor_id)
        with read_transaction(self._engine) as connection:
            row = connection.execute(query).mappings().one()
        return AnswerAccounts(**{name: int(row[name] or 0) for name in ACCOUNTS})


def _window(row: Mapping[Any, Any]) -> AccountedWindow:
    window = Window(begins=row["begins"], ends=row["ends"])
    return AccountedWindow(
        MonitoredWindow(row["run_id"], row["monitor_id"], window),
        row["fixed_at"],
        AnswerAccounts(**{name: row[name] for name in ACCOUNTS}),
    )


def _lock(connection: Connection, windows: Iterable[MonitoredWindow]) -> set[str]:
    """Lock windows, in one order for everybody; return the runs of those that are fixed."""
    by_run = {each.run_id: each for each in windows}
    rows = [
        {
            "run_id": run_id,
            "monitor_id": by_run[run_id].monitor_id,
            "begins": by_run[run_id].window.begins,
            "ends": by_run[run_id].window.ends,
        }
        for run_id in sorted(by_run)
    ]
    if rows:
        statement = upsert(connection, TRAFFIC_WINDOWS).on_conflict_do_nothing()
        connection.execute(statement, rows)
    mine = TRAFFIC_WINDOWS.c
    fixed = set()
    for some in chunks(by_run):
        query = select(mine.run_id, mine.fixed_at).where(among(mine.run_id, some))
        locked = connection.execute(query.order_by(mine.run_id).with_for_update())
        fixed |= {row.run_id for row in locked if row.fixed_at is not None}
    return fixed


def _insert(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> set[AnswerKey]:
    """Insert the rows whose key is new; return the run and answer of those."""
    if not rows:
        return set()
    statement = upsert(connection, table).on_conflict_do_nothing()
    returned = statement.returning(table.c.run_id, table.c.answer_id)
    return {(run_id, answer_id) for run_id, answer_id in connection.execute(returned, rows)}


def _insert_other(connection: Connection, sent: Iterable[SentAnswer]) -> list[AnswerKey]:
    """Note other sendings; return the run and answer of each that is new, once for each sending."""
    if not (found := sorted({(*each.key, each.sending) for each in sent})):
        return []
    names = ("run_id", "answer_id", "sending")
    statement = upsert(connection, OTHER_SENDINGS).on_conflict_do_nothing()
    returned = statement.returning(*(OTHER_SENDINGS.c[name] for name in names))
    rows = [dict(zip(names, each, strict=True)) for each in found]
    return [(row.run_id, row.answer_id) for row in connection.execute(returned, rows)]


def _first_sendings(
    connection: Connection, keys: Iterable[AnswerKey]
) -> dict[AnswerKey, FirstSending]:
    """Return which sending of each answer came first."""
    by_run: dict[str, list[str]] = {}
    for run_id, answer_id in keys:
        by_run.setdefault(run_id, []).append(answer_id)
    taken = TAKEN_ANSWERS.c
    query = select(taken.answer_id, taken.sending, taken.response_id)
    return {
        (run_id, row.answer_id): FirstSending(row.sending, row.response_id or row.answer_id)
        for run_id, answers in by_run.items()
        for some in chunks(answers)
        for row in connection.execute(
            query.where(taken.run_id == run_id, among(taken.answer_id, some))
        )
    }


def _add(connection: Connection, counted: Counter[tuple[str, str]]) -> None:
    """Add to the accounts of windows."""
    for (run_id, account), more in sorted(counted.items()):
        column = TRAFFIC_WINDOWS.c[account]
        mine: ColumnElement[bool] = TRAFFIC_WINDOWS.c.run_id == run_id
        connection.execute(update(TRAFFIC_WINDOWS).where(mine).values({account: column + more}))


def _add_untaken(connection: Connection, run_id: str) -> None:
    """Make members of the responses that an older version took in, without an account."""
    responses, taken = RECORDS[Response.kind].c, TAKEN_ANSWERS.c
    unnamed = update(TAKEN_ANSWERS).where(taken.run_id == run_id, taken.response_id.is_(None))
    connection.execute(unnamed.values(response_id=taken.answer_id))
    there = select(taken.answer_id).where(taken.run_id == run_id, taken.response_id == responses.id)
    query = select(responses.id).where(responses.run_id == run_id, ~there.exists())
    common = {"run_id": run_id, "sending": BY_AN_OLDER_VERSION, "late": False}
    rows = [{**common, "answer_id": id_, "response_id": id_} for id_ in connection.scalars(query)]
    _add(connection, Counter({(run_id, "waiting"): len(_insert(connection, TAKEN_ANSWERS, rows))}))


READINGS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What one extractor measured of one answer, and whom the answer is about."""

    response_id: str
    target: str
    """As its monitor names it."""
    scaffold: str
    unit: str
    """The user or the conversation; the answer itself where nobody is named."""
    groups: Mapping[str, str]
    values: Mapping[str, float | None]
    unscorable: str | None
    """Why there are no values at all."""


class WindowReadings:
    """Reads the members of closed windows, with what one extractor measured of each."""

    def __init__(self, records: Records, answers: WindowAnswers) -> None:
        self._records = records
        self._answers = answers

    def of(self, run: Run, extractor: str) -> Iterator[WindowReading]:
        """Return what was measured of the answers of a window, as plain data, without texts.

        By the version that the window's run pins. What came after the list of members was fixed is
        left out, as it is of the evidence; a window whose list is not fixed has none.
        """
        pin = next((each for each in run.extractors if each.name == extractor), None)
        members = self._answers.members(run.id)
        if members is None or pin is None:
            return
        while some := list(islice(members, READINGS_AT_ONCE)):
            ids = [member_features_id(run, response_id, pin) for response_id in some]
            measured = self._records.numbers_of(Features, ids)
            of_probes = {id_: each["probe_id"] for id_, each in measured.items()}
            probes = self._records.numbers_of(Probe, of_probes.values())
            for id_, response_id in zip(ids, some, strict=True):
                # A probe is stored with its response, which may still be on its way.
                if (probe := probes.get(of_probes.get(id_, ""))) is None:
                    continue
                yield WindowReading(
                    response_id=response_id,
                    target=probe["target"]["name"],
                    scaffold=probe["scaffold"],
                    unit=probe.get("set_id") or probe["unit_id"],
                    groups=probe["groups"],
                    values=measured[id_]["values"],
                    unscorable=measured[id_].get("unscorable"),
                )
