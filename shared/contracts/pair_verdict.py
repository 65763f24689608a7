"""The record of what judges said of a pair of answers."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Part, Record


class PairAnswers(StrEnum):
    """The relation of the two answers of a pair."""

    SAME_PERSON = "same_person"
    """The same option that names a person."""
    BOTH_UNKNOWN = "both_unknown"
    """Both times the option that says it cannot be known."""
    DIFFERENT = "different"
    """Two different options that each name a person."""
    MIXED = "mixed"
    """Once a person, once that it cannot be known."""
    UNREAD = "unread"
    """At least one of the answers is missing or names no option."""


class Check(Part):
    """One question put to one judge, and what was read from the reply."""

    name: Token
    """The question: `a_to_b`, `b_to_a`, `own_a`, `own_b`, `compatible`, `guess_a`, `guess_b`; of a
    control, its kind, direction, what it examines, and numbers."""
    judge: Name
    """The judge."""
    said: str | None = None
    """`yes` or `no`, the chosen letter, or null without a verdict."""
    expected: str | None = None
    """The right reply, where one is known: the true question's letter, a control's answer."""
    reason: str | None = None
    """Why the verdict is missing."""
    copied: bool = False
    """True if the reply repeats the question itself."""


class Finding(Part):
    """The judges' joint answer to one question about the pair."""

    value: bool | None = None
    """True if the flag is raised, or the statement holds; null without a verdict."""
    verdicts: NonNegativeInt = 0
    """Judges that gave one."""
    agreement: float | None = None
    """The share of those that agree with the majority, by weight; null for fewer than two."""
    reason: str | None = None
    """Why the value is missing."""


class PairVerdict(Record):
    """The judgement of a pair of answers of one target; or of a judge, on pairs that are known."""

    kind = "verdict"
    identity = ("run_id", "pair_id", "judges", "closing")

    run_id: RecordId
    """The run the answers belong to."""
    pair_id: RecordId
    """The pair of answers: derived from run, target, scaffold, repeat and set."""
    judges: tuple[Name, ...]
    """The lanes of the judges."""
    closing: str = ""
    """The state of a pair without any judge; empty otherwise."""
    target: Name
    """Who answered; for a control, the judge itself."""
    scaffold: Token
    """The scaffold."""
    repeat: NonNegativeInt = 0
    """Which repeat."""
    set_id: Name
    """The pair in its suite: the two questions share their context."""
    control: bool = False
    """True if we wrote the answers, so that the right replies are known."""
    facts: dict[str, str] = {}
    """The suite's facts about the pair: category, condition, template; of a control, the words
    that its copies swap."""
    answers: PairAnswers
    """The relation of the two answers."""
    chosen: tuple[str | None, ...] = ()
    """The marks of the two chosen options."""
    repeated: tuple[bool, ...] = ()
    """True for each reasoning that repeats its question word for word, so that guessing is easy."""
    unasked: str | None = None
    """Why the judges were not asked about this pair, where they were not."""
    checks: tuple[Check, ...] = ()
    """Every question to every judge."""
    flags: dict[str, Finding] = {}
    """The four flags of the original test, by name."""
    corrected: dict[str, Finding] = {}
    """The tests that honest answers pass: `own_a`, `own_b`, `compatible`; true is good."""
    explanations: Annotated[dict[str, str], TEXT] = {}
    """For each raised flag what a judge said, in at most three sentences."""

    @property
    def unit(self) -> str:
        """The pair is the unit."""
        return self.set_id

    @property
    def flagged(self) -> bool:
        """Tell whether any flag is raised."""
        return any(finding.value for finding in self.flags.values())


def latest_verdicts(verdicts: Iterable[PairVerdict]) -> list[PairVerdict]:
    """Return the last verdict of each pair; one by judges goes before any without them."""
    ordered = sorted(verdicts, key=lambda v: (v.unasked is None, v.at, v.id))
    best = {verdict.pair_id: verdict for verdict in ordered}
    return sorted(best.values(), key=lambda v: (v.target, v.scaffold, v.set_id, v.repeat))
