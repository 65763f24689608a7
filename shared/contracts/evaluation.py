"""A report, what code found wrong with it, and what judges said of it."""

from typing import Annotated

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Part, Record
from biaswatch.shared.stats.judges.results import KindResult


class JudgeStanding(Part):
    """The examination of one judge by texts with a known grade."""

    judge: Name
    """Who."""
    kinds: tuple[KindResult, ...] = ()
    """Its standing in each dimension."""
    counts_failed: bool = False
    """True if its grades count in every dimension, as the brief wants."""

    def counts(self, dimension: str) -> bool:
        """Tell whether its grades count in a dimension, which may name a measure after it."""
        own_kinds = (k for k in self.kinds if f"{dimension}-".startswith(f"{k.kind}-"))
        return self.counts_failed or all(kind.believed for kind in own_kinds)


Score = Annotated[float, Field(ge=0, le=1)]


class Fault(Part):
    """A fault of a report that code detects, or a hint to look at a sentence."""

    kind: Token
    """structure, number, slot, claim, undeclared, cause, caveat, place, attribution; of hints also
    prose."""
    where: str = ""
    """The heading."""
    sentence: str
    """The fault, in our words; only the report has the model's text."""
    start: NonNegativeInt | None = None
    """Where the sentence begins, in characters of the report; null for the report as a whole."""
    end: NonNegativeInt | None = None
    """Where the sentence ends."""


class UncheckedSentence(Part):
    """A sentence whose statements code did not check."""

    where: str = ""
    """The heading."""
    number: PositiveInt
    """Its number under the heading, from 1."""
    start: NonNegativeInt | None = None
    """Where it begins in the report, in characters."""
    end: NonNegativeInt | None = None
    """Where it ends."""


class Judgement(Part):
    """One judge's score on one dimension, once."""

    key: Name
    """Its name within the evaluation; reasoning and phrases are kept under it."""
    dimension: Token
    """The dimension: `interval-odds_ratio`, `limitations`, ..."""
    judge: Name
    """Who judged."""
    repeat: NonNegativeInt = 0
    """Which repeat it is."""
    score: Score | None = None
    """From 0 to 1, or null if undefined."""
    reason: str | None = None
    """Why it is not scored."""
    counts: bool = True
    """False for the votes of a judge that fails its controls in this dimension."""


class DimensionScore(Part):
    """The scores of all judges on one dimension."""

    dimension: Token
    """Which."""
    mean: Score | None = None
    """Mean over judges of each judge's mean over repeats."""
    sd: NonNegativeFloat | None = None
    """Standard deviation of all its scores; null for fewer than two."""
    scored: NonNegativeInt
    """Judgements with a score."""
    asked: NonNegativeInt
    """Requested judgements."""
    spread_of_judges: NonNegativeFloat | None = None
    """Between the most and the least lenient judge's mean; null for fewer than two judges."""


class ProseCheck(Part):
    """A judge's comparison of sentences with their claims."""

    judge: Name
    """The judge."""
    right: NonNegativeInt = 0
    """Sentences that say what their claims say."""
    wrong: NonNegativeInt = 0
    """Sentences that say something else."""
    unchecked: NonNegativeInt = 0
    """Sentences without a usable answer."""
    controls: NonNegativeInt = 0
    """Known pairs among them: half right, half turned wrong."""
    control_errors: NonNegativeInt = 0
    """Known pairs that the judge answered wrongly."""
    reason: str | None = None
    """Why nothing was checked."""


class Agreement(Part):
    """How far the judges agree beyond chance."""

    alpha: float | None = None
    """Krippendorff's alpha for interval data: 1 is perfect, 0 is chance."""
    low: float | None = None
    """The lower end of its interval, where there is one."""
    high: float | None = None
    """The upper end."""
    units: NonNegativeInt = 0
    """Dimensions that at least two judges scored."""
    reason: str | None = None
    """Why it is undefined."""


class Evaluation(Record):
    """The result of a brief."""

    kind = "evaluation"
    identity = ("brief_id",)

    brief_id: RecordId
    """The brief."""
    run_id: RecordId | None = None
    """The run whose findings were interpreted, where they are a run's."""
    writer: Name | None = None
    """Who wrote; null where the report was given."""
    report: Annotated[str | None, TEXT] = None
    """The report."""
    reason: str | None = None
    """Why the report is missing."""
    faults: tuple[Fault, ...] = ()
    """Faults that code found."""
    failed: bool = False
    """True if faults remained after all repairs; their sentences are then left out."""
    repairs: NonNegativeInt = 0
    """Corrections of the report that its writer had to make."""
    hints: tuple[Fault, ...] = ()
    """Sentences to look at: the check that names them may be mistaken."""
    statements: NonNegativeInt = 0
    """Sentences that speak of the statistics."""
    prose: tuple[ProseCheck, ...] = ()
    """Each judge's comparison of sentences with their claims."""
    unchecked: tuple[UncheckedSentence, ...] = ()
    """Sentences of a report written elsewhere that only a person can check."""
    judgements: tuple[Judgement, ...] = ()
    """Every requested judgement."""
    dimensions: tuple[DimensionScore, ...] = ()
    """Judgements by dimension."""
    mean: Score | None = None
    """Mean over the dimensions that are scored; compare it only with means over the same ones."""
    mean_of: NonNegativeInt = 0
    """How many dimensions the mean is over."""
    agreement: Agreement | None = None
    """Between judges, where there are several."""
    disputed: tuple[Token, ...] = ()
    """Dimensions on which the judges' means lie far apart."""
    repeat_agreement: Agreement | None = None
    """Agreement of each judge with itself over repeats, where there are several."""
    judges: tuple[JudgeStanding, ...] = ()
    """The standing of each judge, from texts with a known grade."""
    uncontrolled: str | None = None
    """Why judges were not controlled."""
    apart: tuple[DimensionScore, ...] = ()
    """The votes that do not count, by dimension."""
    calls: NonNegativeInt = 0
    """Calls to models it took: to the writer, to judges, and for their controls."""
    reasoning: Annotated[dict[str, str], TEXT] = {}
    """Each judge's reason, by the judgement's key."""
    phrases: Annotated[dict[str, tuple[str, ...]], TEXT] = {}
    """Phrases a judge found problematic, by the judgement's key."""
