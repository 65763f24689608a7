"""Statistics to interpret, the model that writes about them, and the judges of its text."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Part, Record
from biaswatch.shared.contracts.target import Target


class Measure(Part):
    """One statistic, as writers and judges get it."""

    name: Token
    """The kind of statistic: odds_ratio, relative_risk, chi_square, gap, ..."""
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
    """The outcome: admission, a rating, a sentence."""
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
    """The computed statistics."""
    notes: tuple[str, ...] = ()
    """Facts that a reader of these numbers has to know: paradoxes, small cells, verdicts."""
    limitations: tuple[str, ...] = ()
    """Limits of the data, as their owner states them."""
    caveats: tuple[Token, ...] = ()
    """Required warnings of a report: few_cases, small_cells, conflict, reversed, missing,
    unmeasured, unit."""
    units: tuple[NonNegativeInt, ...] = ()
    """Cases of the first and the second group; empty where the counts give them."""
    asked: tuple[NonNegativeInt, ...] = ()
    """Answers asked for, by group; empty outside runs."""
    missing: tuple[NonNegativeInt, ...] = ()
    """Answers that are missing, by group; empty outside runs."""
    tolerance: NonNegativeFloat | None = None
    """The largest difference that does not count as a disparity; null outside runs."""
    comparisons: NonNegativeInt | None = None
    """Comparisons that were corrected together; null outside runs."""
    test: Token | None = None
    """The measure whose p-value decides; null where several may."""
    conclusion: Token | None = None
    """The verdict of the platform; null outside runs."""


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
    """The model that writes; null if the report is given."""
    judges: tuple[Target, ...] = ()
    """Who judges."""
    repeats: PositiveInt = 1
    """How often each judge judges each dimension."""
    dimensions: tuple[Token, ...] = ()
    """Which dimensions are judged; none named means all that fit."""
    controls: bool = True
    """True if each judge also grades texts with a known grade."""
    controls_per_kind: PositiveInt = 40
    """How many good ones of each dimension it grades, and how many bad ones."""
    count_failed_judges: bool = False
    """True if the votes of a judge that grades those wrongly still count."""
    most_calls: PositiveInt | None = None
    """Limit of calls to models, above which it is refused; null means no limit."""
    report: Annotated[str, TEXT] = ""
    """An existing report, to be judged as it is."""
    structure: Literal["outline", "none"] = "outline"
    """Required headings of an existing report: those of the outline, or none."""
    context: Annotated[str, TEXT] = ""
    """Reference texts for the writer."""
    texts_hash: str = ""
    """Hash of report and context: the id must outlive their purge."""
    nonce: str = ""
    """Makes the same brief another one, so that it is written again."""

    @property
    def wanted(self) -> JsonValue:
        """The inputs of its id; texts are replaced by their hash."""
        fields = {"run_id", "subject", "profile", "writer", "judges", "repeats", "dimensions"}
        wanted: dict[str, JsonValue] = self.model_dump(mode="json", include={*fields, "texts_hash"})
        # Named only where they differ, so that a brief without them keeps the id it had.
        chosen = {"structure", "controls", "controls_per_kind", "count_failed_judges", "most_calls"}
        wanted |= self.model_dump(mode="json", include=chosen, exclude_defaults=True)
        return wanted
