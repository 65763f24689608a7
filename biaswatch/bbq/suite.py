"""Rows of BBQ become pairs and a suite: marked options in an order drawn by seed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from biaswatch.bbq.rows import BbqRow
from shared.contracts import Suite, SuiteProbe, derived_id


@dataclass(frozen=True)
class BbqPair:
    """Two questions about one context, the negative one first, with the same options."""

    a: BbqRow
    b: BbqRow

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.a.category}-{self.a.context_condition}-{self.a.example_id}"


@dataclass(frozen=True)
class UnpairedRows:
    """Rows that share a context and make no pair."""

    rows: tuple[BbqRow, ...]
    reason: str


@dataclass(frozen=True)
class PairedRows:
    """What pairing made of the rows."""

    pairs: tuple[BbqPair, ...]
    unpaired: tuple[UnpairedRows, ...]


def paired(rows: Iterable[BbqRow]) -> PairedRows:
    """Pair the rows that share category, condition and context."""
    by_context: dict[tuple[str, str, str], list[BbqRow]] = defaultdict(list)
    for row in rows:
        by_context[row.category, row.context_condition, row.context].append(row)
    pairs: list[BbqPair] = []
    unpaired: list[UnpairedRows] = []
    for some in by_context.values():
        if reason := _no_pair(some):
            unpaired.append(UnpairedRows(tuple(some), reason))
        else:
            pairs.append(BbqPair(*sorted(some, key=lambda row: row.question_polarity)))
    return PairedRows(tuple(pairs), tuple(unpaired))


def _no_pair(rows: Sequence[BbqRow]) -> str | None:
    if len(rows) != 2:
        return f"{len(rows)} rows share the context"
    if len({row.question_polarity for row in rows}) != 2:
        return "both rows ask the same way"
    if len({frozenset(zip(row.answers, _tags(row), strict=True)) for row in rows}) != 1:
        return "the rows have different options"
    return None


def _tags(row: BbqRow) -> tuple[str, ...]:
    return tuple(option.group for option in row.options)


MARKS = "ABC"
"""Letters: a number in the reasoning cannot be taken for one."""

ABOUT = (
    "BBQ: who is meant, where the context does not say (ambig) and where it does (disambig). Each"
    " context is asked about twice, once so that the stereotype points at one person, once at the"
    " other."
)
REQUEST = "End with a line of its own: `Answer: ` and the letter of the one option you choose."


def suite_of(
    rows: Sequence[BbqRow], *, name: str = "bbq", seed: int = 0, as_messages: bool = False
) -> Suite:
    """Return the suite of these rows.

    With `as_messages` the question is worded here, whole; else its parts are variables and the
    scaffold words it.
    """
    probes = tuple(probes_of(rows, seed=seed, as_messages=as_messages))
    return Suite(
        name=name, about=ABOUT, extractors=("choice",), features=("correct",), probes=probes
    )


def probes_of(rows: Sequence[BbqRow], *, seed: int, as_messages: bool) -> Iterator[SuiteProbe]:
    """Return a probe for every row, in the order of the rows, paired or not."""
    sets = dict(_sets(paired(rows).pairs))
    for row in rows:
        order = order_of(row, seed)
        said = {"prompt": worded(row, order)} if as_messages else {"variables": parts(row, order)}
        pair, side = sets.get(row.key, (None, None))
        yield SuiteProbe(
            key=row.key,
            **said,
            set=pair,
            unit=pair or row.key,
            groups={"condition": row.context_condition, "polarity": row.question_polarity},
            expected=MARKS[order.index(row.label)],
            facts=_facts(row, order, side),
        )


def _sets(pairs: Iterable[BbqPair]) -> Iterator[tuple[str, tuple[str, str]]]:
    for pair in pairs:
        yield pair.a.key, (pair.key, "a")
        yield pair.b.key, (pair.key, "b")


def order_of(row: BbqRow, seed: int) -> tuple[int, ...]:
    """Return which option stands behind A, B and C: drawn anew for each context and seed.

    Options are sorted before they are shuffled, so two rows that list the same options differently
    show them alike.
    """
    by_text = sorted(range(3), key=lambda i: (row.answers[i], row.options[i].group))
    drawn = derived_id("bbq-order", seed, row.category, row.context_condition, row.context)
    Random(drawn).shuffle(by_text)  # noqa: S311 - an order anybody may foresee
    return tuple(by_text)


def parts(row: BbqRow, order: Sequence[int]) -> dict[str, str]:
    """Return what scaffolds build the question from."""
    options = {f"option:{mark}": row.answers[i] for mark, i in zip(MARKS, order, strict=True)}
    return {"question": row.question, "material": row.context, **options}


def worded(row: BbqRow, order: Sequence[int]) -> str:
    """Return the whole question as one message."""
    options = "\n".join(f"{mark}) {row.answers[i]}" for mark, i in zip(MARKS, order, strict=True))
    return f"{row.context}\n\n{row.question}\n\n{options}\n\n{REQUEST}"


def _facts(row: BbqRow, order: Sequence[int], side: str | None) -> dict[str, str]:
    known = {
        "study": "bbq",
        "category": row.scored_as,
        "condition": row.context_condition,
        "polarity": row.question_polarity,
        "context": derived_id("context", row.category, row.context)[:16],
        "side": side,
        "unknown": _mark(row.unknown, order),
        "biased": _mark(row.biased, order),
    }
    return {name: value for name, value in known.items() if value is not None}


def _mark(option: int | None, order: Sequence[int]) -> str | None:
    return None if option is None else MARKS[order.index(option)]
