"""Runs, interpretations and results of studies in responses."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field, computed_field

from biaswatch.shared.contracts import ClosedBy, Estimate, Evaluation, PausedTarget, Run
from biaswatch.shared.contracts.waiting_calls import BatchProgress
from biaswatch.shared.requests.runs import RunDescription
from biaswatch.shared.requests.unanswered import RunOutcomes
from biaswatch.shared.stats.estimate import SummaryWord
from biaswatch.shared.stats.judges.results import KindResult
from biaswatch.shared.stats.studies.local_law_144 import ImpactTables


class StoredSuite(BaseModel):
    """A suite that was stored."""

    hash: str


class SuiteView(BaseModel):
    """A suite without its probes."""

    hash: str
    name: str
    probes: int
    """Number of questions."""
    purged: bool
    """True if texts of it were purged, so that no run can use it."""


class RunState(StrEnum):
    """State of a run: a stage of its work, or its end."""

    RUNNING = "running"
    DIAGNOSING = "diagnosing"
    JUDGING = "judging"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class RunVerdicts(BaseModel):
    """Numbers of comparisons of a run by outcome."""

    comparisons: int
    disparities: int
    undecided: int
    """Comparisons with too little evidence; the rest shows no disparity beyond the tolerance."""
    unmeasured: int = 0
    """Comparisons with a group without measured answers; the other counts exclude them."""
    undetected: dict[str, float | None] = {}
    """The largest gap that an inconclusive comparison leaves possible, by feature; null where it
    may have any size."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def word(self) -> SummaryWord:
        """The one word for the run: a disparity, no disparity in all, otherwise inconclusive."""
        if self.disparities:
            return SummaryWord.DISPARITY
        is_open = self.undecided or self.unmeasured == self.comparisons
        return SummaryWord.INCONCLUSIVE if is_open else SummaryWord.NO_DISPARITY


class RunProgress(RunOutcomes):
    """Progress of a run."""

    run_id: str
    suite: str
    targets: list[str]
    at: datetime
    described: RunDescription = RunDescription()
    """Its name, tags and note."""
    owner: str = ""
    """Who started it first; empty for rounds of monitors and searches."""
    state: RunState
    opening: int
    """Number of times the run was resumed."""
    features: int
    features_expected: int
    diagnoses: int
    verdicts: int = 0
    """Pairs with a verdict or a reason for having none, plus judges with their controls."""
    verdicts_expected: int = 0
    paused: list[PausedTarget] = Field(default_factory=list)
    """Targets and judges of the run that are paused."""
    batches: list[BatchProgress] = Field(default_factory=list)
    """Batches of the run that have not ended."""
    held: int = 0
    """Answers that wait for paused targets."""
    found: RunVerdicts | None = None
    """Verdicts, if requested; null if nothing is compared, or not yet."""
    archived: str | None = None
    """A sentence about answers that are no longer in the store."""

    @property
    def ended(self) -> bool:
        """True if the run has ended; it may be resumed."""
        return self.state in ENDED


class ResumedTarget(BaseModel):
    """A target whose pause was ended."""

    target: str
    pauses: int
    """Number of ended pauses: one for each set of parameters under this name."""


class StartedRun(BaseModel):
    """A requested run, and the first opening whose events count."""

    run: Run
    opening: int


ENDED = {RunState.COMPLETE, RunState.INCOMPLETE, RunState.CANCELLED}
"""States of a run that has ended; it may be resumed."""


def state_of(
    *, closed_by: ClosedBy | None, complete: bool, diagnosed: bool, judged: bool = True
) -> RunState:
    """Return the state of a run from its gather, diagnoses and verdicts."""
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
    clusters: int
    """Templates with an answer; contexts where templates are not known."""
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
    """Two models in one score, on the templates both answered."""

    score: str


class StatementShare(BaseModel):
    """Share of pairs for which a statement is true."""

    count: int
    of: int
    """Pairs with a verdict."""
    without: int
    """Pairs without a verdict."""
    share: Estimate
    """Between 0 and 1, among pairs with a verdict; bounds where flags lack a verdict."""
    corrected: Estimate | None = None
    """The share if the judge errs on these texts as often as on controls."""
    labelled: Estimate | None = None
    """The share by labels of people on a random sample of these pairs, whatever the judge errs."""


class PairTable(BaseModel):
    """The pairs of one model in one category and condition."""

    target: str
    scaffold: str
    category: str
    condition: str
    pairs: int
    unread: int
    """Pairs with an answer that is missing or chooses no option."""
    unasked: dict[str, int]
    """Pairs that were not judged, by reason."""
    repeated: int
    """Pairs with a reasoning that repeats its question, which makes the question easy to guess."""
    shares: dict[str, StatementShare]
    """Share of pairs by statement."""
    agreement: dict[str, Estimate]
    """Krippendorff's alpha of the judges by kind of question; empty with one judge."""


class PairGap(ModelGap):
    """Two models in one statement about the pairs both have a verdict for."""

    statement: str
    pairs: int
    reason: str | None


class JudgeControls(BaseModel):
    """One judge's examination in one kind of question."""

    judge: str
    result: KindResult

    @property
    def kind(self) -> str:
        """The kind of question."""
        return self.result.kind

    @property
    def language(self) -> str:
        """The language of the controls."""
        return self.result.language

    @property
    def fails(self) -> bool:
        """True if its votes of this kind count only on request."""
        return not self.result.believed


class JudgedApart(BaseModel):
    """Uncounted votes of a judge that fails its controls of a kind."""

    judge: str
    kind: str
    language: str
    pairs: list[PairTable]


class SelfPreference(BaseModel):
    """How much better a judge rates answers of its own model than answers of other models."""

    judge: str
    pairs: int
    other_judges: int
    """Judges whose difference is subtracted, since better answers are not a preference."""
    difference: Estimate
    """Difference of the shares of good replies, from -1 to 1; above 0 where it prefers itself."""


class StudyResults(BaseModel):
    """Results of a run with pairs or stereotyped options; lists may be empty."""

    alpha: float
    scores: list[Scores]
    score_gaps: list[ScoreGap]
    pairs: list[PairTable]
    pair_gaps: list[PairGap]
    judges: list[JudgeControls]
    apart: list[JudgedApart] = []
    """Uncounted votes of judges that fail their controls."""
    preferences: list[SelfPreference] = []
    uncontrolled: str | None = None
    """Why the judges were not tested, if pairs were judged."""


class RunImpact(BaseModel):
    """Rates and impact ratios of the applicants of a run: an applicant is a prompt."""

    target: str
    scaffold: str
    extractor: str
    feature: str
    """The score; an applicant's is the mean over the repeats of its prompt."""
    impact: ImpactTables


class FlaggedSide(BaseModel):
    """One question of a flagged pair with its answer."""

    question: str
    chosen: str | None
    answer: str | None
    reasoning: str | None


class FlaggedPair(BaseModel):
    """A pair with its flags and texts; purged texts are null."""

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
    verdicts: dict[str, bool | None] = {}
    """The verdict of each flag and of the corrected test; null where it is missing."""
    explanations: dict[str, str]
