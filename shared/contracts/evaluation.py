"""A request to interpret statistics, its report, and what code and judges said of that."""

from typing import Annotated

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from shared.contracts.identity import Name, RecordId, Token
from shared.contracts.record import TEXT, Part, Record
from shared.contracts.target import Target

Score = Annotated[float, Field(ge=0, le=1)]


class Measure(Part):
    """One statistic, as writers and judges get it."""

    name: Token
    """What it is: odds_ratio, relative_risk, chi_square, gap, ..."""
    label: Name
    """Its name for people."""
    value: float | None = None
    """The estimate, or a test's statistic."""
    low: float | None = None
    """The lower end of its interval."""
    high: float | None = None
    """The upper end of its interval."""
    no_difference: float | None = None
    """The value that would mean no difference."""
    p_value: float | None = None
    """Its p-value, where it is a test."""
    reason: str | None = None
    """Why a number is undefined."""


class Subject(Part):
    """The statistics of two groups: all that a report may speak of."""

    outcome: Name
    """What was looked at: admission, a rating, a sentence."""
    value: Name
    """The value of the outcome that was counted, or what was measured."""
    groups: tuple[Name, Name]
    """The two groups; ratios and gaps are of the first over or minus the second."""
    counts: tuple[NonNegativeInt, ...] = ()
    """First group with and without the outcome, then the second; empty where nothing is counted."""
    cases: NonNegativeInt
    """Cases of both groups."""
    cases_least: NonNegativeInt = 15
    """The fewest cases of a group for which a finding is shown."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level; intervals cover 1 minus it."""
    measures: tuple[Measure, ...]
    """What was computed."""
    notes: tuple[str, ...] = ()
    """What a reader of these numbers has to know: paradoxes, small cells, verdicts."""
    limitations: tuple[str, ...] = ()
    """What the data cannot tell, as whoever brought them says."""


class Brief(Record):
    """A requested interpretation, with its judges."""

    kind = "brief"
    identity = ("wanted", "nonce")

    run_id: RecordId | None = None
    """The run whose findings these are, where they are a run's."""
    subject: Subject
    """The statistics."""
    profile: Token = "general"
    """In whose words: general, criminal_justice, or a profile of one's own."""
    writer: Target | None = None
    """Who writes; nobody where the report is given."""
    judges: tuple[Target, ...] = ()
    """Who judges."""
    repeats: PositiveInt = 1
    """How often each judge judges each dimension."""
    dimensions: tuple[Token, ...] = ()
    """Which dimensions are judged; none named means all that fit."""
    report: Annotated[str, TEXT] = ""
    """A report that is there already, to be judged as it is."""
    context: Annotated[str, TEXT] = ""
    """Reference texts for whoever writes."""
    texts_hash: str = ""
    """Of report and context: the id must outlive their purge."""
    nonce: str = ""
    """Makes the same brief another one, so that it is asked anew."""

    @property
    def wanted(self) -> JsonValue:
        """What makes it this brief; texts stand in by their hash."""
        fields = {"run_id", "subject", "profile", "writer", "judges", "repeats", "dimensions"}
        wanted: JsonValue = self.model_dump(mode="json", include={*fields, "texts_hash"})
        return wanted


class Fault(Part):
    """Something in a report that code alone can tell to be wrong."""

    kind: Token
    """heading, order, sentences, number, interval, attribution, unreadable, cut_off."""
    where: str = ""
    """Under which heading."""
    sentence: str
    """What is wrong, in our words; what the model wrote stands in the report alone."""


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
    """From 0 to 1, or null where there is none."""
    reason: str | None = None
    """Why it is not scored."""


class DimensionScore(Part):
    """What all judges said on one dimension."""

    dimension: Token
    """Which."""
    mean: Score | None = None
    """Mean over judges of each judge's mean over repeats."""
    sd: NonNegativeFloat | None = None
    """Standard deviation of all its scores; null for fewer than two."""
    scored: NonNegativeInt
    """Judgements with a score."""
    asked: NonNegativeInt
    """Judgements that were asked for."""
    spread_of_judges: NonNegativeFloat | None = None
    """Between the most and the least lenient judge's mean; null for fewer than two judges."""


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
    """Why there is none."""


class Evaluation(Record):
    """What came of a brief."""

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
    """Why there is no report."""
    faults: tuple[Fault, ...] = ()
    """What code found wrong with it."""
    judgements: tuple[Judgement, ...] = ()
    """Every judgement that was asked for."""
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
    """Of each judge with itself over repeats, where there are several."""
    reasoning: Annotated[dict[str, str], TEXT] = {}
    """What each judge gave as its reason, by the judgement's key."""
    phrases: Annotated[dict[str, tuple[str, ...]], TEXT] = {}
    """Phrases a judge found problematic, by the judgement's key."""
