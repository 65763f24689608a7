"""Runs, interpretations and the results of studies as the API shows them."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field

from biaswatch.shared.contracts import ClosedBy, Estimate, Evaluation, Run
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.requests.unanswered import RunOutcomes
from biaswatch.shared.stats.studies.local_law_144 import ImpactTables


class StoredSuite(BaseModel):
    """A suite that was stored."""

    hash: str


class SuiteView(BaseModel):
    """What is known of a suite without its probes."""

    hash: str
    name: str
    probes: int
    """How many questions it has."""
    purged: bool
    """Whether texts of it were purged: then no run can use it."""


class RunState(StrEnum):
    """What a run is waiting for, or how it ended."""

    RUNNING = "running"
    DIAGNOSING = "diagnosing"
    JUDGING = "judging"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class RunVerdicts(BaseModel):
    """What the comparisons of a run conclude, counted."""

    comparisons: int
    disparities: int
    undecided: int
    """Those with too little evidence; the rest shows no disparity beyond the tolerance."""
    unmeasured: int = 0
    """Those of which one side has no measured answer; none of them is among the others."""


class RunProgress(RunOutcomes):
    """How far a run is."""

    run_id: str
    suite: str
    targets: list[str]
    at: datetime
    stand: RunState
    opening: int
    """How often the run has been resumed."""
    features: int
    features_expected: int
    diagnoses: int
    verdicts: int = 0
    """Pairs that have a verdict, or a reason for having none; and judges with their controls."""
    verdicts_expected: int = 0
    paused: list[PausedTarget] = Field(default_factory=list)
    """Targets of the run, and its judges, that are not asked for now."""
    held: int = 0
    """Answers that wait for them."""
    found: RunVerdicts | None = None
    """What it found, where that is asked for; null where nothing is compared, or not yet."""
    archived: str | None = None
    """What became of the answers, if the store does not have them any more."""

    @property
    def ended(self) -> bool:
        """Return whether nothing more will come, unless somebody resumes the run."""
        return self.stand in ENDED


class ResumedTarget(BaseModel):
    """A target that is asked again."""

    target: str
    pauses: int
    """Ended pauses: one for each set of parameters under this name."""


class StartedRun(BaseModel):
    """A requested run, and the opening from which its events count."""

    run: Run
    opening: int


ENDED = {RunState.COMPLETE, RunState.INCOMPLETE, RunState.CANCELLED}
"""Nothing more will come, unless somebody resumes the run."""


def state_of(
    *, closed_by: ClosedBy | None, complete: bool, diagnosed: bool, judged: bool = True
) -> RunState:
    """Return a run's state from what closed it, whether all arrived, and what came of it."""
    if closed_by is None:
        return RunState.RUNNING
    if not diagnosed:
        return RunState.DIAGNOSING
    if closed_by is ClosedBy.CANCELLATION and not complete:
        return RunState.CANCELLED
    if not judged:
        return RunState.JUDGING
    return RunState.COMPLETE if complete else RunState.INCOMPLETE


class Interpretation(BaseModel):
    """A requested interpretation, and its evaluation."""

    brief_id: str
    evaluation: Evaluation | None = None
    """Null while it is under way."""


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


class ModelGap(BaseModel):
    """Two models in one category and condition."""

    a: str
    b: str
    scaffold: str
    category: str
    condition: str
    difference: float | None
    p_value: float | None
    p_adjusted: float | None


class ScoreGap(ModelGap):
    """Two models in one score, on the contexts both answered."""

    score: str


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


class PairGap(ModelGap):
    """Two models in one statement about the pairs both have a verdict for."""

    statement: str
    pairs: int
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
    """Why its verdicts must not be trusted, if so; or that it was not put to the test."""
    fails: bool = False
    """Whether it fails: its votes of this kind count only where that is asked for."""
    length_bias: Estimate | None = None
    """How much more often padded reasoning gets a yes; of yes or no alone."""
    position_bias: Estimate | None = None
    """How much more often it names the first of four than that is right; of guesses alone."""


class JudgedApart(BaseModel):
    """What the votes of a judge say that fails its controls of a kind; they do not count."""

    judge: str
    kind: str
    pairs: list[PairTable]


class StudyResults(BaseModel):
    """What a run with pairs or stereotyped options found; lists are empty where it has none."""

    alpha: float
    scores: list[Scores]
    score_gaps: list[ScoreGap]
    pairs: list[PairTable]
    pair_gaps: list[PairGap]
    judges: list[JudgeControls]
    apart: list[JudgedApart] = []
    """The votes of judges that fail their controls, where they are not counted."""
    uncontrolled: str | None = None
    """Why the judges were not put to the test, where pairs were judged."""


class RunImpact(BaseModel):
    """Rates and impact ratios of the applicants of a run: an applicant is a prompt."""

    target: str
    scaffold: str
    extractor: str
    feature: str
    """The score; an applicant's is the mean over the repeats of its prompt."""
    impact: ImpactTables


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
