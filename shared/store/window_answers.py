"""Windows of production traffic: accepted answers, the fixed members of each, and their counts.

Everything is counted in the transaction that writes the counted row, so that a redelivery, a crash
or a second replica changes no sum.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, func, or_, select, tuple_, update

from biaswatch.shared.contracts import (
    ACCOUNTS,
    AccountedWindow,
    AnswerAccounts,
    AnswerKey,
    FirstSending,
    MemberAccounts,
    MonitoredWindow,
    SentAnswer,
    Window,
)
from biaswatch.shared.store.database import MAX_KEYS, Database, ResultRow, insert_new, key_chunks
from biaswatch.shared.store.monitoring_tables import OTHER_SENDINGS, TAKEN_ANSWERS, TRAFFIC_WINDOWS
from biaswatch.shared.store.statements import insert_missing, is_in

PAGE_MEMBERS = 5000
WINDOWS, TAKEN = TRAFFIC_WINDOWS.c, TAKEN_ANSWERS.c


@dataclass(eq=False)
class WindowAnswers:
    """The windows of all traffic monitors."""

    db: Database

    def take(self, sent: Sequence[SentAnswer]) -> dict[AnswerKey, FirstSending]:
        """Account for sendings; return the first sending of each answer, always the same.

        Answers for a closed window are counted as late.
        """
        firsts: dict[AnswerKey, SentAnswer] = {}
        for answer in sent:
            firsts.setdefault(answer.key, answer)
        with self.db.writing() as connection:
            fixed = _lock(connection, {answer.of for answer in sent})
            rows = [
                {
                    "run_id": answer.of.run_id,
                    "answer_id": answer.answer_id,
                    "sending": answer.sending,
                    "response_id": answer.response_id,
                    "late": answer.late or answer.of.run_id in fixed,
                }
                for _, answer in sorted(firsts.items())
            ]
            new = _keys(insert_new(connection, TAKEN_ANSWERS, rows))
            late = {(row["run_id"], row["answer_id"]) for row in rows if row["late"]}
            first = _first_sendings(connection, firsts.keys() - set(new))
            first |= {key: firsts[key].as_first for key in new}
            repeated = _insert_other(
                connection, (a for a in sent if first[a.key].sending != a.sending)
            )
            counts = Counter((key[0], "late" if key in late else "waiting") for key in new)
            _add_counts(connection, counts + _counts_of(repeated, "duplicate"))
        return first

    def refuse(self, sent: Sequence[SentAnswer]) -> None:
        """Account for refused answers."""
        with self.db.writing() as connection:
            _lock(connection, {answer.of for answer in sent})
            _add_counts(connection, _counts_of(_insert_other(connection, sent), "refused"))

    def count_refused(self, refused: Mapping[MonitoredWindow, int]) -> None:
        """Account for answers refused before they have an id; called once for each."""
        with self.db.writing() as connection:
            _lock(connection, refused)
            counts = {(window.run_id, "refused"): n for window, n in refused.items()}
            _add_counts(connection, Counter(counts))

    def fix(self, of: MonitoredWindow, at: datetime) -> int:
        """Fix a window's members, once; return their number, always the same."""
        with self.db.writing() as connection:
            if of.run_id not in _lock(connection, {of}):
                statement = update(TRAFFIC_WINDOWS).where(WINDOWS.run_id == of.run_id)
                connection.execute(statement.values(fixed_at=at))
            members = (TAKEN.run_id == of.run_id, TAKEN.late.is_(False))
            count = select(func.count()).select_from(TAKEN_ANSWERS).where(*members)
            return int(connection.scalar(count) or 0)

    def members(self, run_id: str) -> Iterator[str] | None:
        """Return the fixed members of a window; None if it is not read yet."""
        first = self.members_after(run_id, "", PAGE_MEMBERS)
        return None if first is None else self._all_members(run_id, first)

    def _all_members(self, run_id: str, page: list[str] | None) -> Iterator[str]:
        while page:
            yield from page
            is_full = len(page) == PAGE_MEMBERS
            page = self.members_after(run_id, page[-1], PAGE_MEMBERS) if is_full else None

    def members_after(self, run_id: str, response_id: str, most: int) -> list[str] | None:
        """Return a page of members after one, in the order of their ids; None if not fixed."""
        fixed_at = select(WINDOWS.fixed_at).where(WINDOWS.run_id == run_id)
        query = select(TAKEN.response_id).where(TAKEN.run_id == run_id, TAKEN.late.is_(False))
        query = query.where(TAKEN.response_id > response_id)
        with self.db.reading() as connection:
            if connection.scalar(fixed_at) is None:
                return None
            return list(connection.scalars(query.order_by(TAKEN.response_id).limit(most)))

    def settle(self, run_id: str, accounts: MemberAccounts) -> None:
        """Record the outcomes of a window's members, so that none waits any longer."""
        statement = update(TRAFFIC_WINDOWS).where(WINDOWS.run_id == run_id)
        self.db.execute(statement.values({**accounts.model_dump(), "waiting": 0}))

    def pass_over(self, monitor_id: str, before: datetime, at: datetime) -> int:
        """Pass over unread windows before a time; return how many.

        Their answers count as late: the monitor was paused, or no monitor existed.
        """
        unread = and_(
            WINDOWS.monitor_id == monitor_id, WINDOWS.begins < before, WINDOWS.fixed_at.is_(None)
        )
        with self.db.writing() as connection:
            query = select(WINDOWS.run_id).where(unread).order_by(WINDOWS.run_id)
            runs = list(connection.scalars(query.with_for_update()))
            for batch in key_chunks(runs):
                windows = update(TRAFFIC_WINDOWS).where(is_in(WINDOWS.run_id, batch))
                late = WINDOWS.late + WINDOWS.waiting
                connection.execute(windows.values(late=late, waiting=0, fixed_at=at))
                answers = update(TAKEN_ANSWERS).where(is_in(TAKEN.run_id, batch))
                connection.execute(answers.values(late=True))
        return len(runs)

    def next_unread(self, monitor_id: str, begins: datetime) -> Window | None:
        """Return the first unread window with answers that begins at a time or later."""
        query = select(WINDOWS.begins, WINDOWS.ends).where(
            WINDOWS.monitor_id == monitor_id,
            WINDOWS.begins >= begins,
            WINDOWS.fixed_at.is_(None),
            WINDOWS.waiting > 0,
        )
        rows = self.db.rows(query.order_by(WINDOWS.begins).limit(1))
        return Window(begins=rows[0].begins, ends=rows[0].ends) if rows else None

    def latest(self, monitor_id: str, most: int) -> list[AccountedWindow]:
        """Return the latest windows that have answers or were read, newest first."""
        query = select(TRAFFIC_WINDOWS).where(WINDOWS.monitor_id == monitor_id)
        rows = self.db.rows(query.order_by(WINDOWS.begins.desc()).limit(most))
        return [_window(row) for row in rows]

    def last_read(self, monitor_id: str) -> AccountedWindow | None:
        """Return the last window with members that was read and counted."""
        has_members = or_(*(WINDOWS[name] > 0 for name in MemberAccounts.model_fields))
        query = select(TRAFFIC_WINDOWS).where(
            WINDOWS.monitor_id == monitor_id,
            WINDOWS.fixed_at.is_not(None),
            WINDOWS.waiting == 0,
            has_members,
        )
        rows = self.db.rows(query.order_by(WINDOWS.begins.desc()).limit(1))
        return _window(rows[0]) if rows else None

    def accounts(self, monitor_id: str) -> AnswerAccounts:
        """Return the sums over all windows of a monitor."""
        sums = [func.sum(WINDOWS[name]).label(name) for name in ACCOUNTS]
        [row] = self.db.rows(select(*sums).where(WINDOWS.monitor_id == monitor_id))
        return AnswerAccounts(**{name: int(total or 0) for name, total in row._asdict().items()})


def _window(row: ResultRow) -> AccountedWindow:
    return AccountedWindow(
        MonitoredWindow(row.run_id, row.monitor_id, Window(begins=row.begins, ends=row.ends)),
        row.fixed_at,
        AnswerAccounts(**{name: getattr(row, name) for name in ACCOUNTS}),
    )


def _lock(connection: Connection, windows: Iterable[MonitoredWindow]) -> set[str]:
    """Lock windows in a fixed order; return the runs of the fixed ones."""
    by_run = {window.run_id: window for window in windows}
    rows = [
        {
            "run_id": run_id,
            "monitor_id": by_run[run_id].monitor_id,
            "begins": by_run[run_id].window.begins,
            "ends": by_run[run_id].window.ends,
        }
        for run_id in sorted(by_run)
    ]
    insert_missing(connection, TRAFFIC_WINDOWS, rows)
    fixed = set()
    for batch in key_chunks(by_run):
        query = select(WINDOWS.run_id, WINDOWS.fixed_at).where(is_in(WINDOWS.run_id, batch))
        locked = connection.execute(query.order_by(WINDOWS.run_id).with_for_update())
        fixed |= {row.run_id for row in locked if row.fixed_at is not None}
    return fixed


def _insert_other(connection: Connection, sent: Iterable[SentAnswer]) -> list[AnswerKey]:
    """Record other sendings; return the run and answer of each new one."""
    keys = sorted({(*answer.key, answer.sending) for answer in sent})
    rows = [{"run_id": run, "answer_id": answer, "sending": s} for run, answer, s in keys]
    return _keys(insert_new(connection, OTHER_SENDINGS, rows))


def _keys(rows: Iterable[ResultRow]) -> list[AnswerKey]:
    return [(row.run_id, row.answer_id) for row in rows]


def _counts_of(keys: Iterable[AnswerKey], account: str) -> Counter[tuple[str, str]]:
    """Count answers in one account of their windows."""
    return Counter((run_id, account) for run_id, _ in keys)


def _first_sendings(
    connection: Connection, keys: Iterable[AnswerKey]
) -> dict[AnswerKey, FirstSending]:
    """Return the first sending of each answer."""
    ordered = sorted(keys)
    columns = (TAKEN.run_id, TAKEN.answer_id, TAKEN.sending, TAKEN.response_id)
    return {
        (row.run_id, row.answer_id): FirstSending(row.sending, row.response_id)
        for start in range(0, len(ordered), MAX_KEYS)
        for row in connection.execute(
            select(*columns).where(
                tuple_(TAKEN.run_id, TAKEN.answer_id).in_(ordered[start : start + MAX_KEYS])
            )
        )
    }


def _add_counts(connection: Connection, counts: Counter[tuple[str, str]]) -> None:
    """Add to the accounts of windows."""
    for (run_id, account), more in sorted(counts.items()):
        statement = update(TRAFFIC_WINDOWS).where(WINDOWS.run_id == run_id)
        connection.execute(statement.values({account: WINDOWS[account] + more}))
