"""Rows that share a context become pairs; what makes none is reported, never dropped."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biaswatch.bbq.rows import Row


@dataclass(frozen=True)
class Pair:
    """Two questions about one context, the negative one first, with the same options."""

    a: Row
    b: Row

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.a.category}-{self.a.context_condition}-{self.a.example_id}"


@dataclass(frozen=True)
class Unpaired:
    """Rows that share a context and make no pair."""

    rows: tuple[Row, ...]
    reason: str


@dataclass(frozen=True)
class Paired:
    """What pairing made of the rows."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]


def paired(rows: Iterable[Row]) -> Paired:
    """Pair the rows that share category, condition and context."""
    by_context: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_context[row.category, row.context_condition, row.context].append(row)
    pairs: list[Pair] = []
    unpaired: list[Unpaired] = []
    for some in by_context.values():
        if reason := _no_pair(some):
            unpaired.append(Unpaired(tuple(some), reason))
        else:
            pairs.append(Pair(*sorted(some, key=lambda row: row.question_polarity)))
    return Paired(tuple(pairs), tuple(unpaired))


def _no_pair(rows: Sequence[Row]) -> str | None:
    if len(rows) != 2:
        return f"{len(rows)} rows share the context"
    if len({row.question_polarity for row in rows}) != 2:
        return "both rows ask the same way"
    if len({frozenset(zip(row.answers, _tags(row), strict=True)) for row in rows}) != 1:
        return "the rows have different options"
    return None


def _tags(row: Row) -> tuple[str, ...]:
    return tuple(option.group for option in row.options)
