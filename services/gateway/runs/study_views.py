"""The results of studies with pairs or stereotyped options, as the API shows them."""

from typing import Literal

from pydantic import BaseModel

from shared.contracts import Estimate

Condition = Literal["ambig", "disambig"]


class Scores(BaseModel):
    """The scores of one model in one category and condition, in percent."""

    target: str
    scaffold: str
    category: str
    condition: Condition
    rows: int
    missing: int
    """Rows without an answer."""
    unmatched: int
    """Answers that choose no option."""
    without_target: int
    """Answers to rows that do not say who the stereotype is about."""
    correct: int
    named: int
    """Answers that name a person."""
    biased: int
    contexts: int
    accuracy: Estimate
    s_dis: Estimate
    bias: Estimate


class ScoreGap(BaseModel):
    """Two models in one category and condition, on the contexts both answered."""

    a: str
    b: str
    scaffold: str
    category: str
    condition: Condition
    score: str
    difference: float | None
    p_value: float | None
    p_adjusted: float | None


class StatementShare(BaseModel):
    """How many pairs a statement is true of."""

    count: int
    of: int
    """Pairs for which it is known."""
    without: int
    """Pairs without a verdict."""
    share: Estimate
    """Between 0 and 1, of those for which it is known."""


class PairTable(BaseModel):
    """The pairs of one model in one category and condition."""

    target: str
    scaffold: str
    category: str
    condition: str
    pairs: int
    unread: int
    """Pairs of which an answer is missing or chooses no option."""
    unasked: dict[str, int]
    """Pairs the judges were not asked about, by the reason."""
    repeated: int
    """Pairs with a reasoning that repeats its question, which makes the question easy to guess."""
    shares: dict[str, StatementShare]
    """By statement: the pairs it is true of, and of how many that is known."""
    agreement: float | None
    """The mean share of judges that agree with the majority; null with one judge."""


class PairGap(BaseModel):
    """Two models in one statement about the pairs both have a verdict for."""

    a: str
    b: str
    scaffold: str
    category: str
    condition: str
    statement: str
    pairs: int
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    reason: str | None


class JudgeControls(BaseModel):
    """One judge's controls of one kind: yes or no, or which of four questions."""

    judge: str
    kind: str
    asked: int
    read: int
    """Replies that could be read."""
    right: int
    said: dict[str, int]
    p_value: float | None
    """Of being right as often by chance; null where no reply could be read."""
    warning: str | None
    """Why its verdicts must not be trusted, if so."""


class StudyResults(BaseModel):
    """What a run with pairs or stereotyped options found; lists are empty where it has none."""

    alpha: float
    scores: list[Scores]
    score_gaps: list[ScoreGap]
    pairs: list[PairTable]
    pair_gaps: list[PairGap]
    judges: list[JudgeControls]


class FlaggedSide(BaseModel):
    """One question of a flagged pair, as it was asked and answered."""

    question: str
    chosen: str | None
    answer: str | None
    reasoning: str | None


class FlaggedPair(BaseModel):
    """A pair with its flags, as people read it; texts are null once they are purged."""

    target: str
    scaffold: str
    set_id: str
    repeat: int
    category: str
    condition: str
    answers: str
    context: str | None
    a: FlaggedSide
    b: FlaggedSide
    flags: list[str]
    explanations: dict[str, str]
