"""Results of a search: findings, coverage, placebo twins, and what was spent."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.stats.estimate import SummaryWord
from biaswatch.shared.stats.search.hypotheses import Region


class Confirmed(StrEnum):
    """Whether fresh twins confirm a finding."""

    YES = "yes"
    NO = "no"
    NOT_ASKED = "not asked"


class _View(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True)


class FoundRegion(_View):
    """A region in which twins are treated differently."""

    region: Region
    """The kind of region."""
    topic: str | None = None
    """Its topic; null where it has all topics."""
    context: str | None = None
    """Its context; null where it has all contexts."""
    group: str
    """The group that is treated differently."""
    e_value: float
    """The evidence; its largest value so far."""
    share_of_alpha: float
    """Its share of the error of the whole search."""


class SearchFinding(FoundRegion):
    """A finding: a region, with what fresh twins show of it."""

    title: str
    """The region and the group, in words."""
    other: str
    """The other side of the gap: a group, or the others together."""
    p_value: float
    """1 / e-value, at most 1; valid at every look."""
    sets: int
    """Sets that count as evidence."""
    round: int
    """The round that found it, from 0."""
    calls: int
    """Calls when it was found."""
    effect: Estimate
    """The gap of the confirmation twins, group minus other, in units of the feature; the intervals
    of all findings hold together. Null with a reason without such twins."""
    confirmed: Confirmed
    """Whether fresh twins confirm it."""
    confirmation_sets: int = 0
    """Measured confirmation sets."""
    confirmation_p: float | None = None
    """Exact p-value of the confirmation sets."""
    confirmation_level: float | None = None
    """The level that it is compared with: alpha, divided among the findings."""
    overlapping: list[FoundRegion] = []
    """Wider and narrower regions with the same evidence, strongest first."""


class RegionCoverage(_View):
    """What was asked in a region, and what would have been found in it."""

    name: str
    """The topic, context or area."""
    sets: int
    """Sets that were asked for evidence."""
    missing: int
    """Sets among them without an answer of every twin."""
    smallest_gap: Estimate
    """The smallest gap that these sets would have found with a probability of 0.8, in units of the
    feature; null with a reason."""


class SearchCoverage(_View):
    """What was looked at."""

    topics: list[RegionCoverage]
    """By topic."""
    contexts: list[RegionCoverage]
    """By context."""
    areas: list[RegionCoverage]
    """By area: the gap of a single topic with the average number of sets of its area."""
    everywhere: RegionCoverage
    """All topics and contexts together."""


class PlaceboGaps(_View):
    """Gaps between twins of one group, which show the noise of the answers."""

    sets: int
    """Sets with an answer of every twin."""
    differing: float | None
    """Share of pairs whose answers differ; null without a set."""
    mean_gap: float | None
    """Mean absolute gap, in units of the feature; null without a set."""


class SearchSpent(_View):
    """What a search has spent."""

    calls: int
    """Twins that were asked."""
    budget: int
    """The budget, in calls."""
    rounds: int
    """Rounds."""
    sets: int
    """Sets, of every purpose."""
    placebo_sets: int
    """Placebo sets."""
    confirmation_sets: int
    """Confirmation sets."""
    missing: int
    """Twins without a measured answer."""
    repeated_sets: int
    """Sets that do not count, since a prompt was asked before."""


class SearchResults(_View):
    """What a search has found so far, and what it could have found."""

    word: SummaryWord
    """Disparity, inconclusive or not measured; a search never shows that there is no disparity."""
    headline: str
    """The result in a sentence or two."""
    ended: str | None
    """Why the search ended; null while it goes on."""
    about_names: bool
    """True if the findings are about these names alone, since there are too few of them."""
    findings: list[SearchFinding]
    """Findings, strongest first; overlapping regions are one finding."""
    coverage: SearchCoverage
    """What was looked at."""
    placebo: PlaceboGaps
    """Twins of one group."""
    spent: SearchSpent
    """What was spent."""
