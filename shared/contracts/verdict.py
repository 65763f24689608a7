"""What judges said of a pair of answers: whether each reasoning fits, and which flags follow."""

from enum import StrEnum
from typing import Annotated

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Part, Record


class PairAnswers(StrEnum):
    """What the two answers of a pair are to one another."""

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
    """What was asked: `a_to_b`, `b_to_a`, `own_a`, `own_b`, `compatible`, `guess_a`, `guess_b`."""
    judge: Name
    """Who was asked."""
    said: str | None = None
    """`yes` or `no`, the letter that was chosen, or null where there is no verdict."""
    expected: str | None = None
    """The right reply, where one is known: the true question's letter, a control's answer."""
    reason: str | None = None
    """Why there is no verdict."""
    copied: bool = False
    """Whether the reply holds the question itself."""


class Finding(Part):
    """What the judges together say to one question of the pair."""

    value: bool | None = None
    """Whether the flag is raised, or the statement holds; null where there is no verdict."""
    verdicts: NonNegativeInt = 0
    """Judges that gave one."""
    agreement: float | None = None
    """The share of those that agree with the majority; null for fewer than two."""
    reason: str | None = None
    """Why there is no value."""


class PairVerdict(Record):
    """The judgement of a pair of answers of one target; or of a judge, on pairs that are known."""

    kind = "verdict"
    identity = ("run_id", "pair_id", "judges", "closing")

    run_id: RecordId
    """The run the answers belong to."""
    pair_id: RecordId
    """The pair of answers: derived from run, target, scaffold, repeat and set."""
    judges: tuple[Name, ...]
    """The lanes of the judges that were asked."""
    closing: str = ""
    """Empty where judges were asked; else what of the pair was there, as it may be taken up."""
    target: Name
    """Who answered; for a control, the judge itself."""
    scaffold: Token
    """How it was asked."""
    repeat: NonNegativeInt = 0
    """Which repeat."""
    set_id: Name
    """The pair in its suite: the two questions share their context."""
    control: bool = False
    """Whether the answers were written by us, so that the right replies are known."""
    facts: dict[str, str] = {}
    """What the suite knows of the pair: category, condition."""
    answers: PairAnswers
    """What the two answers are to one another."""
    chosen: tuple[str | None, ...] = ()
    """The marks of the two chosen options."""
    repeated: tuple[bool, ...] = ()
    """Whether each reasoning repeats its question word for word, which makes it easy to guess."""
    unasked: str | None = None
    """Why the judges were not asked about this pair, where they were not."""
    checks: tuple[Check, ...] = ()
    """Every question to every judge."""
    flags: dict[str, Finding] = {}
    """The four flags of the original test, by name."""
    corrected: dict[str, Finding] = {}
    """The test in which honest answers pass: `own_a`, `own_b`, `compatible`; true is good."""
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
