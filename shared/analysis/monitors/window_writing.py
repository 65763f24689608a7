"""Turns the answers of a window, in whatever order they come, into columns sorted by user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import nan

import numpy as np

from biaswatch.shared.analysis.monitors.round_answers import Values, value_of
from biaswatch.shared.analysis.monitors.window_columns import (
    AT_ONCE,
    ID_BYTES,
    NOT_MEASURED,
    OpenFile,
    TextColumn,
    WindowColumn,
    WindowColumns,
)
from biaswatch.shared.contracts import MISSING, MonitorPlan
from biaswatch.shared.stats.anytime.units import Hashes, hashes
from biaswatch.shared.stats.arrays import Bools, Ints

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_REASONS = 30_000
"""Limit of different reasons for missing numbers in one window."""


@dataclass(frozen=True, slots=True)
class MemberReading:
    """The readings of one extractor in an answer."""

    values: Values
    unscorable: str | None = None
    """Why there are no values."""


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """One production answer that was taken in time for a window."""

    key: str
    """The answer's own name."""
    user: str | None
    """The user or conversation, where one is named."""
    groups: Mapping[str, str]
    readings: Mapping[str, MemberReading]
    """By extractor, of those that measured it in time."""
    has_text: bool = True
    """False if there was no answer."""
    answered_at: datetime = EPOCH
    """When it was given."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Other known facts: topic, language, product."""
    response_id: str = ""


class WindowWriter:
    """Writes answers down as they come, and sorts them once all are there.

    A user is identified by 64 bits of the name's hash, which also decide how the user's
    numbers are rounded.
    """

    def __init__(
        self, plan: MonitorPlan, open_file: OpenFile, extractors: Iterable[str] = ()
    ) -> None:
        self._open = open_file
        self._dimensions = sorted({pair.dimension for pair in plan.comparisons})
        self._declared = plan.traffic.matched_within if plan.traffic else ()
        self._size = 0
        self._groups: dict[tuple[str | None, ...], int] = {}
        self._strata: dict[tuple[str, ...], int] = {}
        self._reasons: dict[tuple[bool, str | None], int] = {(False, None): 0}
        self._names, self._keys = self._texts(), self._texts()
        self._ids = self._column(ID_BYTES)
        self._hashes, self._is_named = self._column("<u8"), self._column("?")
        self._at_s, self._has_text = self._column("<f8"), self._column("?")
        self._group_codes, self._stratum_codes = self._column("<i4"), self._column("<i4")
        watched = {
            (comparison.watched.extractor, comparison.watched.feature)
            for comparison in plan.all_comparisons
        }
        measuring = {*extractors, *(extractor for extractor, _ in watched)}
        self._states = {extractor: self._column("<i2") for extractor in sorted(measuring)}
        self._values = {
            feature: self._column("<f8") for feature in sorted(watched) if feature[1] != MISSING
        }

    def _column(self, kind: str) -> WindowColumn:
        return WindowColumn(self._open(), kind)

    def _texts(self) -> TextColumn:
        return TextColumn(self._open(), self._open())

    def add(self, answers: Sequence[WindowAnswer]) -> None:
        """Write down some answers."""
        self._size += len(answers)
        self._names.append([answer.user or "" for answer in answers])
        self._keys.append([answer.key for answer in answers])
        self._ids.append(np.array([answer.response_id for answer in answers], ID_BYTES))
        self._hashes.append(hashes([answer.user or "" for answer in answers]))
        self._is_named.append(np.array([answer.user is not None for answer in answers], bool))
        self._at_s.append(np.array([answer.answered_at.timestamp() for answer in answers], float))
        self._has_text.append(np.array([answer.has_text for answer in answers], bool))
        self._group_codes.append(np.array([self._group(answer) for answer in answers], "<i4"))
        self._stratum_codes.append(np.array([self._stratum(answer) for answer in answers], "<i4"))
        for extractor, states in self._states.items():
            read = [answer.readings.get(extractor) for answer in answers]
            states.append(np.array([self._state(reading) for reading in read], "<i2"))
            for (name, feature), values in self._values.items():
                if name == extractor:
                    values.append(np.array([_number(reading, feature) for reading in read], float))

    def _group(self, answer: WindowAnswer) -> int:
        key = tuple(answer.groups.get(name) for name in self._dimensions)
        return self._groups.setdefault(key, len(self._groups))

    def _stratum(self, answer: WindowAnswer) -> int:
        facts = [answer.facts.get(name) for name in self._declared]
        known = tuple(fact for fact in facts if fact is not None)
        if len(known) < len(facts):
            return -1
        return self._strata.setdefault(known, len(self._strata))

    def _state(self, reading: MemberReading | None) -> int:
        if reading is None:
            return NOT_MEASURED
        key = (not reading.values, reading.unscorable)
        if key not in self._reasons and len(self._reasons) >= MOST_REASONS:
            key = (key[0], "one of many other reasons")
        return self._reasons.setdefault(key, len(self._reasons))

    def columns(self) -> WindowColumns:
        """Return all answers, sorted; nothing can be added any more."""
        order, starts = self._sorted()
        moved = self._moved
        return WindowColumns(
            size=self._size,
            starts=starts,
            members=order.astype(np.int32),
            hashes=self._hashes_of_users(order, starts),
            at_s=moved(self._at_s, order),
            groups=moved(self._group_codes, order),
            strata=moved(self._stratum_codes, order),
            has_text=moved(self._has_text, order),
            states={name: moved(states, order) for name, states in self._states.items()},
            values={name: moved(values, order) for name, values in self._values.items()},
            groups_by_code=[self._groups_of(key) for key in self._groups],
            strata_by_code=list(self._strata),
            reasons_by_code=list(self._reasons),
            names=self._names,
            response_ids=self._ids,
        )

    def _moved(self, column: WindowColumn, order: Ints) -> WindowColumn:
        return column.sorted_by(order, self._open())

    def _groups_of(self, key: Iterable[str | None]) -> Mapping[str, str]:
        levels = zip(self._dimensions, key, strict=True)
        return {name: group for name, group in levels if group is not None}

    def _sorted(self) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        """Return the places of answers by user, time and key, and the first row of each user."""
        of_user, at_s, nameless = self._hashes.read(), self._at_s.read(), ~self._is_named.read()
        order: Ints = np.lexsort((at_s, of_user, nameless))
        named = self._size - int(nameless.sum())
        of_user, at_s = of_user[order[:named]], at_s[order[:named]]
        changes = np.flatnonzero(of_user[1:] != of_user[:-1]) + 1
        same = np.append(False, (of_user[1:] == of_user[:-1]) & (at_s[1:] == at_s[:-1]))
        self._by_key(order, same)
        starts = np.concatenate([[0] if named else [], changes, [named]]).astype(np.int32)
        return order, starts

    def _by_key(self, order: Ints, same: Bools) -> None:
        """Put answers of the same user and moment in the order of their keys."""
        begins = np.flatnonzero(same & ~np.append(False, same[:-1])) - 1
        ends = np.flatnonzero(same & ~np.append(same[1:], False)) + 1
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            order[begin:end] = sorted(order[begin:end].tolist(), key=self._keys.__getitem__)

    def _hashes_of_users(
        self, order: Ints, starts: np.ndarray[tuple[int], np.dtype[np.int32]]
    ) -> WindowColumn:
        hashes_of, of_answers = self._column("<u8"), self._hashes.read()
        for begin in range(0, len(starts) - 1, AT_ONCE):
            chunk: Hashes = of_answers[order[starts[begin : min(begin + AT_ONCE, len(starts) - 1)]]]
            hashes_of.append(chunk)
        return hashes_of


def _number(reading: MemberReading | None, feature: str) -> float:
    value = value_of(None if reading is None else reading.values, feature)
    return nan if value is None else value
