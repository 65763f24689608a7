"""Rows of BBQ become pairs and a suite: marked options in an order drawn by seed.

A suite is written as a folder, published predictions as a recording.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from biaswatch.bbq.rows import BbqRow
from biaswatch.shared.contracts import LIKELIHOOD, Suite, SuiteProbe, derived_id
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, json_lines, read_text
from biaswatch.shared.lookup import grouped
from biaswatch.written_files import atomic_file, write_atomically


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
    """Rows that share a context but do not form a pair."""

    rows: tuple[BbqRow, ...]
    reason: str


@dataclass(frozen=True)
class PairedRows:
    """Pairs, and the rows left without one."""

    pairs: tuple[BbqPair, ...]
    unpaired: tuple[UnpairedRows, ...]


def paired(rows: Iterable[BbqRow]) -> PairedRows:
    """Pair the rows that share category, condition and context."""
    by_context = grouped(((row.category, row.context_condition, row.context), row) for row in rows)
    pairs: list[BbqPair] = []
    unpaired: list[UnpairedRows] = []
    for group in by_context.values():
        if reason := _no_pair(group):
            unpaired.append(UnpairedRows(tuple(group), reason))
        else:
            pairs.append(BbqPair(*sorted(group, key=lambda row: row.question_polarity)))
    return PairedRows(tuple(pairs), tuple(unpaired))


def _no_pair(rows: Sequence[BbqRow]) -> str | None:
    if len(rows) != 2:
        return f"{len(rows)} rows share the context"
    if len({row.question_polarity for row in rows}) != 2:
        return "both rows ask the same way"
    tagged = [zip(r.answers, (o.group for o in r.options), strict=True) for r in rows]
    if len(set(map(frozenset, tagged))) != 1:
        return "the rows have different options"
    return None


MARKS = "ABC"
"""Letters: a number in the reasoning cannot be taken for one."""
BEGINNING = "beginning"
"""The field of a recorded answer with the beginning that named its option."""
MIN_BEGINNING_CHARACTERS = 4

ABOUT = (
    "BBQ: who is meant, where the context does not say (ambig) and where it does (disambig). Each"
    " context has two questions of opposite polarity: the stereotype points at one person in the"
    " first and at the other in the second."
)


def suite_of(
    rows: Sequence[BbqRow], *, name: str = "bbq", seed: int = 0, scored: bool = False
) -> Suite:
    """Return the suite of these rows.

    With `scored` the options are continuations of a text, to be scored by their likelihoods.
    """
    probes = tuple(probes_of(rows, seed=seed, scored=scored))
    return Suite(
        name=name,
        about=ABOUT,
        extractors=("choice", LIKELIHOOD) if scored else ("choice",),
        features=("correct", "p_correct") if scored else ("correct",),
        scaffolds=(LIKELIHOOD,) if scored else ("direct",),
        strata=("condition", "polarity"),
        probes=probes,
    )


def probes_of(rows: Sequence[BbqRow], *, seed: int, scored: bool) -> Iterator[SuiteProbe]:
    """Return a probe for every row, in the order of the rows, paired or not."""
    pairs = paired(rows).pairs
    sets = {row.key: (pair.key, side) for pair in pairs for side, row in vars(pair).items()}
    for row in rows:
        order = order_of(row, seed)
        pair, side = sets.get(row.key, (None, None))
        yield SuiteProbe(
            key=row.key,
            variables=continued(row, order) if scored else parts(row, order),
            set=pair,
            unit=pair or row.key,
            expected=MARKS[order.index(row.label)],
            facts=_facts(row, order, side),
        )


def order_of(row: BbqRow, seed: int) -> tuple[int, ...]:
    """Return the indices of the options shown as A, B and C.

    The order is drawn for each context and seed. Options are sorted first, so rows that list the
    same options in another order show them in the same order.
    """
    by_text = sorted(range(3), key=lambda i: (row.answers[i], row.options[i].group))
    drawn = derived_id("bbq-order", seed, row.category, row.context_condition, row.context)
    Random(drawn).shuffle(by_text)  # noqa: S311 - need not be secret
    return tuple(by_text)


def parts(row: BbqRow, order: Sequence[int]) -> dict[str, str]:
    """Return the variables for scaffolds."""
    options = {f"option:{mark}": row.answers[i] for mark, i in zip(MARKS, order, strict=True)}
    return {"question": row.question, "material": row.context, **options}


def continued(row: BbqRow, order: Sequence[int]) -> dict[str, str]:
    """Return the variables for likelihoods: the options as continuations of the question."""
    texts = {f"continuation:{m}": f" {row.answers[i]}" for m, i in zip(MARKS, order, strict=True)}
    return {"context": f"{row.context}\n\nQ: {row.question}\nA:", **texts}


def _facts(row: BbqRow, order: Sequence[int], side: str | None) -> dict[str, str]:
    facts = {
        "study": "bbq",
        "category": row.scored_as,
        "condition": row.context_condition,
        "polarity": row.question_polarity,
        "template": None if row.question_index is None else str(row.question_index),
        "context": derived_id("context", row.category, row.context)[:16],
        "side": side,
        "unknown": _mark(row.unknown, order),
        "biased": _mark(row.biased, order),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _mark(option: int | None, order: Sequence[int]) -> str | None:
    return None if option is None else MARKS[order.index(option)]


PROBES = "probes.jsonl"


def write_suite(suite: Suite, folder: Path) -> None:
    """Write a suite so that `biaswatch run FOLDER` reads the same suite again.

    Raises
    ------
    UsageError
        The folder cannot be written.
    """
    header = suite.model_dump(mode="json", exclude_defaults=True, exclude={"probes"})
    header["probes"] = PROBES
    lines = (
        json.dumps(probe.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"
        for probe in suite.probes
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The suite {folder} cannot be written ({error.strerror}).") from None
    with atomic_file(folder / PROBES) as part, part.open("w", encoding="utf-8") as out:
        out.writelines(lines)
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
    write_atomically(folder / "suite.yaml", text)


def recording_of(path: Path, column: str, *, seed: int = 0) -> Iterator[str]:
    """Yield a line of a replay file for each row: the mark of the predicted option.

    Predictions match options regardless of case; `beginning` marks those that were cut off and
    begin only one option. One without a match is recorded unchanged and counts as no choice.

    Raises
    ------
    UsageError
        The file cannot be read, or a row lacks the column.
    """
    for place, fields in json_lines(read_text(path, "predictions"), path):
        row = checked(BbqRow, fields, place)
        if column not in fields:
            raise UsageError(f"{place}: column {column!r} is missing.")
        text = str(fields[column])
        option, is_beginning = _option_of(text, row.answers)
        recorded: dict[str, str] = {"key": row.key, "text": text}
        if option is not None:
            recorded["text"] = f"Answer: {MARKS[order_of(row, seed).index(option)]}"
        if is_beginning:
            recorded[BEGINNING] = text
        yield json.dumps(recorded)


def _option_of(text: str, answers: Sequence[str]) -> tuple[int | None, bool]:
    """Return the option that a prediction names, or begins alone, and whether it is cut off."""
    options = [answer.strip().casefold() for answer in answers]
    named = text.strip().casefold()
    if options.count(named) == 1:
        return options.index(named), False
    beginnings = [place for place, option in enumerate(options) if option.startswith(named)]
    if len(beginnings) == 1 and len(named) >= MIN_BEGINNING_CHARACTERS:
        return beginnings[0], True
    return None, False
