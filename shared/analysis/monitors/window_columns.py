"""The answers of a window of traffic as columns in files, sorted by user, then by time.

A window may hold millions of answers: in memory are some numbers for each user, and of the answers
those of some users at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.units import Hashes
from biaswatch.shared.stats.arrays import Bools, Floats, Ints

OpenFile = Callable[[], BinaryIO]
"""Return an empty file, which the caller closes."""
Numbers = NDArray[Any]
AT_ONCE = 65_536
"""Rows that are in memory together; a single user may have more."""
ID_BYTES = "S32"


class WindowColumn:
    """Numbers of one kind, in the order of appending."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._file = file
        self._kind = np.dtype(kind)

    def append(self, values: Numbers) -> None:
        """Write more numbers at the end; nothing is appended once the column was read."""
        self._file.write(values.astype(self._kind, copy=False).tobytes())

    def read(self, begin: int = 0, end: int | None = None) -> Numbers:
        """Return the numbers of some rows, or of all."""
        self._file.seek(begin * self._kind.itemsize)
        size = -1 if end is None else (end - begin) * self._kind.itemsize
        return np.frombuffer(self._file.read(size), self._kind)

    def sorted_by(self, order: Ints, file: BinaryIO) -> "WindowColumn":
        """Return the same numbers in another order, in a file of their own; this one is closed."""
        column, values = WindowColumn(file, self._kind.str), self.read()
        for begin in range(0, len(order), AT_ONCE):
            column.append(values[order[begin : begin + AT_ONCE]])
        self._file.close()
        return column


class TextColumn:
    """Texts, read one by one."""

    def __init__(self, texts: BinaryIO, ends: BinaryIO) -> None:
        self._texts = texts
        self._ends = WindowColumn(ends, "<u8")
        self._end = 0

    def append(self, texts: Sequence[str]) -> None:
        """Write more texts at the end."""
        encoded = [text.encode() for text in texts]
        ends = self._end + np.cumsum([len(value) for value in encoded], dtype=np.uint64)
        self._texts.write(b"".join(encoded))
        self._ends.append(ends)
        self._end = int(ends[-1]) if len(ends) else self._end

    def __getitem__(self, row: int) -> str:
        ends = self._ends.read(max(0, row - 1), row + 1).tolist()
        begin, end = ends if row else (0, ends[0])
        self._texts.seek(begin)
        return self._texts.read(end - begin).decode()


@dataclass(frozen=True)
class Block:
    """Some users with all of their answers, or some answers without a user."""

    users: range
    rows: range


@dataclass(frozen=True)
class ComparedRows:
    """The answers of a block that an extractor has measured, and that are on one side or another.

    All arrays have a row for each, sorted by user, then by time.
    """

    rows: Ints
    """Their rows in the window."""
    users: Ints
    """Codes of users; -1 for an answer without one."""
    second: Bools
    """True for answers on the second side."""
    values: Floats
    """The compared number; NaN if missing."""
    reasons: NDArray[np.int16]
    """Codes of why there are no numbers; 0 where there are."""

    def where(self, which: Bools) -> "ComparedRows":
        """Return some of them."""
        return ComparedRows(
            self.rows[which],
            self.users[which],
            self.second[which],
            self.values[which],
            self.reasons[which],
        )


@dataclass(frozen=True)
class WindowColumns:
    """The answers of a window, a row each: first those with a user, then those without."""

    size: int
    """How many answers there are."""
    starts: NDArray[np.int32]
    """[users + 1]: the first row of each user; the last number is the first row without a user."""
    members: NDArray[np.int32]
    """[size]: at which place each answer was added."""
    hashes: WindowColumn
    """[users]: 64 bits of the name of each."""
    at_s: WindowColumn
    """[size]: when each was given, in seconds since 1970."""
    groups: WindowColumn
    """[size]: codes of its groups."""
    strata: WindowColumn
    """[size]: codes of its declared facts; -1 where one is not given."""
    has_text: WindowColumn
    """[size]: whether there was an answer at all."""
    states: Mapping[str, WindowColumn]
    """By extractor, [size]: codes of what it read; `NOT_MEASURED` where it did not."""
    values: Mapping[tuple[str, str], WindowColumn]
    """By extractor and feature, [size]; NaN for a missing number."""
    groups_by_code: Sequence[Mapping[str, str]]
    strata_by_code: Sequence[tuple[str, ...]]
    reasons_by_code: Sequence[tuple[bool, str | None]]
    """The reason where all values are missing."""
    names: TextColumn
    """The users' names, by the places of answers."""
    response_ids: WindowColumn
    """By the places of answers."""

    @property
    def users(self) -> int:
        """Return the number of users that are named."""
        return len(self.starts) - 1

    def blocks(self, *, nameless: bool = True) -> Iterator[Block]:
        """Yield all users, some at a time, and then the answers without a user."""
        user = 0
        while user < self.users:
            limit = int(self.starts[user]) + AT_ONCE
            end = max(user + 1, int(np.searchsorted(self.starts, limit, side="right")) - 1)
            yield Block(range(user, end), range(int(self.starts[user]), int(self.starts[end])))
            user = end
        first = int(self.starts[-1])
        for begin in range(first, self.size if nameless else first, AT_ONCE):
            rows = range(begin, min(self.size, begin + AT_ONCE))
            yield Block(range(self.users, self.users), rows)

    def users_of(self, block: Block) -> Ints:
        """Return the code of the user of each row of a block, -1 for none."""
        if not block.users:
            return np.full(len(block.rows), -1)
        starts = self.starts[block.users.start : block.users.stop + 1]
        return np.repeat(np.arange(block.users.start, block.users.stop), np.diff(starts))

    def of(self, column: WindowColumn, block: Block) -> Numbers:
        """Return a column of the rows of a block."""
        return column.read(block.rows.start, block.rows.stop)

    def measured(self, block: Block) -> Bools:
        """Tell which rows of a block any extractor has measured."""
        rows = np.zeros(len(block.rows), dtype=np.bool_)
        for states in self.states.values():
            rows |= self.of(states, block) != NOT_MEASURED
        return rows

    def name(self, user: int) -> str:
        """Return the name of a user."""
        return self.names[int(self.members[self.starts[user]])]

    def response_id(self, row: int) -> str:
        """Return the id of the response that a row is."""
        place = int(self.members[row])
        return bytes(self.response_ids.read(place, place + 1)[0]).decode()

    def user_hashes(self, users: Ints) -> Hashes:
        """Return 64 bits of the names of users whose codes ascend."""
        if not len(users):
            return np.empty(0, dtype=np.uint64)
        first, last = int(users[0]), int(users[-1])
        return np.asarray(self.hashes.read(first, last + 1)[users - first])


NOT_MEASURED = -1
