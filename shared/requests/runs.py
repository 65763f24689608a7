"""Runs and interpretations as they are requested, and the records that start them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, PositiveInt

from biaswatch.shared.contracts import (
    LIKELIHOOD,
    Brief,
    Budget,
    ExtractorPin,
    ExtractorStatus,
    Judging,
    Purpose,
    RecordId,
    Run,
    Subject,
    SuiteHeader,
    SuiteOutline,
    Token,
    as_usage_error,
    derived_id,
    parse_target,
)
from biaswatch.shared.contracts.derived_features import base_of
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.studies.local_law_144 import SMALL_SHARE

SELF, NO_JUDGE = "self", "none"
MOST_TARGETS = 500
"""Targets of a run, and likewise scaffolds and judges."""
CONTROLS_PER_KIND, MIN_CONTROLS_PER_KIND, MAX_CONTROLS_PER_KIND = 40, 4, 60
"""Controls of a kind and direction, and bounds: the replies of a judge are one message."""
MOST_JUDGEMENTS = 100
"""Maximum of the judges of an interpretation, of their repeats and of their dimensions."""
LONGEST_NONCE = 512
BOARD_PROFILE = "board"
"""Profile of the interpretation that code writes, without a model."""


LATEST = "latest"
"""Names the latest run, or search, wherever an id is accepted."""
NAME_PATTERN = r"^[A-Za-z][\w +:-]{0,79}$"
"""Names of runs: no dot and no slash, which files have."""
MOST_TAGS = 20
Tag = Annotated[str, Field(pattern=r"^[\w:-]{1,40}$")]


class RunDescription(BaseModel):
    """The name, tags and note of a run."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(default="", pattern=f"{NAME_PATTERN}|^$")
    """Another name of the run, accepted wherever its id is."""
    tags: list[Tag] = Field(default=[], max_length=MOST_TAGS)
    """Words to find it by."""
    note: str = Field(default="", max_length=500)

    def has(self, text: str) -> bool:
        """Return whether a text is in the name, a tag or the note."""
        return text.lower() in " ".join([self.name, *self.tags, self.note]).lower()

    @property
    def details(self) -> dict[str, str]:
        """The description as details of the audit trail, where it is kept."""
        details = {"name": self.name, "tags": " ".join(self.tags), "note": self.note}
        return {key: value for key, value in details.items() if value}

    @classmethod
    def of(cls, details: Mapping[str, str]) -> "RunDescription":
        """Return the description in an entry of the audit trail."""
        tags = details.get("tags", "").split()
        return cls(name=details.get("name", ""), tags=tags, note=details.get("note", ""))


class RunRequest(BaseModel):
    """The body of a request for a run."""

    model_config = ConfigDict(extra="forbid")

    suite_hash: RecordId
    targets: list[str] = Field(min_length=1, max_length=MOST_TARGETS)
    scaffolds: list[Token] = Field(default=[], max_length=MOST_TARGETS)
    """How probes become answers; empty: as the suite declares."""
    repeats: PositiveInt = 1
    parameters: dict[str, JsonValue] = {}
    system_prompt: str | None = None
    user: str | None = None
    """Target that plays the simulated user of conversations; null: each target plays its own."""
    nonce: str = Field(default="", max_length=LONGEST_NONCE)
    budget: Budget = Budget()
    judges: list[str] = Field(default=[], max_length=MOST_TARGETS)
    """Targets that judge pairs of answers; empty: each target judges its own; `none`: no judges."""
    judge_seed: int = 0
    """Seed of the judges' distractors and their order."""
    judge_controls: bool = True
    """True to test judges with questions whose answers are known."""
    controls_per_kind: int = Field(
        default=CONTROLS_PER_KIND, ge=MIN_CONTROLS_PER_KIND, le=MAX_CONTROLS_PER_KIND
    )
    """Controls of each kind and direction; a judge has to answer 3 of 4 correctly."""
    jury: Literal["majority", "weighted"] = "majority"
    """How several judges decide: by majority, or weighted by their accuracy on controls."""


class ResumeRequest(BaseModel):
    """The body of a request to ask a paused target again."""

    model_config = ConfigDict(extra="forbid")

    target: str
    """The target as written in the request for the run."""


def check_features(suite: SuiteHeader, running: Sequence[ExtractorStatus]) -> None:
    """Raise UsageError for a suite with a feature that none of its extractors measures."""
    used = [extractor for extractor in running if extractor.name in suite.extractors]
    measured = {feature for extractor in used for feature in extractor.features}
    for field in ("features", "assessed", "selected_at_least", "error_rates", "scale"):
        for name in getattr(suite, field):
            if base_of(name) not in measured:
                raise UsageError(
                    f"The suite's `{field}` names {name}, which its extractors do not measure; they"
                    f" measure {', '.join(sorted(measured)) or 'nothing'}."
                )


def check_repeats(scaffolds: Sequence[str], repeats: int) -> None:
    """Raise UsageError for repeats of answers that are not drawn."""
    if LIKELIHOOD in scaffolds and repeats > 1:
        raise UsageError(
            f"The scaffold {LIKELIHOOD} has no repeats: its numbers are not drawn, and a repeat has"
            " the same ones. Leave them out, and ask other scaffolds in a run of their own."
        )


def run_of(
    request: RunRequest,
    suite: SuiteOutline,
    running: Sequence[ExtractorStatus],
    at: datetime,
    *,
    tenant: str = DEFAULT_TENANT,
) -> Run:
    """Return the requested run.

    Raises
    ------
    UsageError
        A target cannot be understood, or an extractor the suite needs is not running.
    """
    targets = tuple(
        parse_target(t, parameters=request.parameters, system_prompt=request.system_prompt)
        for t in request.targets
    )
    pins = tuple(_pin(name, running) for name in suite.header.extractors)
    check_features(suite.header, running)
    scaffolds = tuple(request.scaffolds) or suite.header.scaffolds
    check_repeats(scaffolds, request.repeats)
    with as_usage_error("The run"):
        return Run(
            tenant=tenant,
            at=at,
            suite=suite.header.name,
            suite_hash=suite.hash,
            targets=targets,
            extractors=pins,
            judging=_judging(request, suite),
            user=parse_target(request.user) if request.user else None,
            ids_in_order=True,
            scaffolds=scaffolds,
            **request.model_dump(include={"repeats", "nonce", "budget"}),
        )


def _judging(request: RunRequest, suite: SuiteOutline) -> Judging | None:
    named = [judge for judge in request.judges if judge != SELF]
    if not suite.pairs:
        if named and named != [NO_JUDGE]:
            raise UsageError(
                f"The suite {suite.header.name} has no pairs of questions, so there is nothing to"
                " judge."
            )
        return None
    if NO_JUDGE in named or (named and len(named) < len(request.judges)):
        if request.judges == [NO_JUDGE]:
            return None
        raise UsageError(f"The judges {NO_JUDGE} and {SELF} each stand alone; name one of them.")
    if request.jury == "weighted" and not request.judge_controls:
        raise UsageError("A weighted jury needs controls: they measure how accurate a judge is.")
    return Judging(
        jury=request.jury,
        judges=tuple(map(parse_target, named)),
        seed=request.judge_seed,
        controls=request.judge_controls,
        controls_per_kind=request.controls_per_kind,
    )


def _pin(name: str, running: Sequence[ExtractorStatus]) -> ExtractorPin:
    for instrument in running:
        if instrument.name == name:
            return ExtractorPin(name=name, version=instrument.version)
    names = ", ".join(sorted({instrument.name for instrument in running}))
    known = f"running are {names}" if names else "no other is running either"
    raise UsageError(
        f"The extractor {name} is not running; {known}. Start it, or take it out of the suite."
    )


def _allowed_by_the_rule(share: float) -> float:
    if share > SMALL_SHARE:
        raise ValueError(
            f"{share:g} is too large: an auditor may leave out only categories with less than"
            f" {100 * SMALL_SHARE:g} % of the data (6 RCNY 5-301), so the largest value is"
            f" {SMALL_SHARE:g}"
        )
    return share


SmallShare = Annotated[float, Field(ge=0), AfterValidator(_allowed_by_the_rule)]
"""The share of the applicants below which a category is left out of impact ratios."""


class ImpactRequest(BaseModel):
    """The parameters of a request for rates and impact ratios."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    group: list[str] = []
    """Dimensions whose categories are compared; all, unless named."""
    score: str | None = None
    """The feature that is the applicants' score; those the suite selects by, unless named."""
    selected_at_least: float | None = None
    """Lowest score of a selected applicant; overrides the suite."""
    small_share: SmallShare = SMALL_SHARE
    """Smaller categories are left out of the ratios; 0 leaves none out."""
    unknown: list[str] = []
    """More labels that say that a category is not known."""


class BriefRequest(BaseModel):
    """The body of a request for an interpretation: written by a target or given, then judged."""

    model_config = ConfigDict(extra="forbid")

    run_id: RecordId | None = None
    subject: Subject
    profile: Token = "general"
    writer: str | None = None
    judges: list[str] = Field(default=[], max_length=MOST_JUDGEMENTS)
    repeats: int = Field(default=1, ge=1, le=MOST_JUDGEMENTS)
    dimensions: list[Token] = Field(default=[], max_length=MOST_JUDGEMENTS)
    controls: bool = True
    """True to test judges with texts whose grade is known."""
    controls_per_kind: int = Field(
        default=CONTROLS_PER_KIND, ge=MIN_CONTROLS_PER_KIND, le=MAX_CONTROLS_PER_KIND
    )
    """Known texts of each dimension and grade; a judge has to grade 3 of 4 correctly."""
    count_failed_judges: bool = False
    """True to count the votes of judges that fail these tests."""
    most_calls: PositiveInt | None = None
    """Maximum of calls to models, including controls; a larger one is not begun."""
    report: str = Field(default="", max_length=100_000)
    structure: Literal["outline", "none"] = "outline"
    """Required headings of an existing report: those of the outline, or none."""
    context: str = Field(default="", max_length=100_000)
    nonce: str = Field(default="", max_length=LONGEST_NONCE)


def brief_of(request: BriefRequest, at: datetime, *, tenant: str = DEFAULT_TENANT) -> Brief:
    """Return the requested brief; its id contains the hash of its texts.

    Raises
    ------
    UsageError
        A target is wrong, or there is neither a report nor a writer.
    """
    written = request.writer is None and request.profile != BOARD_PROFILE
    if not request.report.strip() and written:
        raise UsageError("Name a target that writes the report, or give a report to be judged.")
    if len(set(request.judges)) < len(request.judges):
        raise UsageError("A judge is named twice; ask it repeatedly with repeats instead.")
    with as_usage_error("The interpretation"):
        return Brief(
            tenant=tenant,
            purpose=Purpose.JUDGE,
            at=at,
            writer=parse_target(request.writer) if request.writer else None,
            judges=tuple(parse_target(judge) for judge in request.judges),
            texts_hash=derived_id("texts", request.report, request.context),
            **request.model_dump(exclude={"writer", "judges"}),
        )
