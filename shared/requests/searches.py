"""Results of a search: findings, coverage, placebo twins and spending."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.stats.estimate import SummaryWord
from biaswatch.shared.stats.search.hypotheses import Region


class Confirmed(StrEnum):
    """Outcome of confirming a finding with fresh twins."""

    YES = "yes"
    NO = "no"
    NOT_ASKED = "not asked"


class _View(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True)


class FoundRegion(_View):
    """A region with evidence that a group is treated differently."""

    title: str
    """The region and the direction of the gap, in words."""
    region: Region
    """The kind of region."""
    topic: str | None = None
    """Its topic; null where it has all topics."""
    context: str | None = None
    """Its context; null where it has all contexts."""
    group: str
    """The group that is treated differently."""
    e_value: float
    """The evidence: the maximum of the e-process over all rounds."""
    share_of_alpha: float
    """Its share of the error of the whole search."""


class SearchFinding(FoundRegion):
    """A region where a group is treated differently, with its confirmation by fresh twins."""

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
    """The outcome of its confirmation."""
    confirmation_sets: int = 0
    """Measured confirmation sets."""
    confirmation_p: float | None = None
    """Exact p-value of the confirmation sets."""
    confirmation_level: float | None = None
    """The level that it is compared with: alpha, divided among the findings."""
    overlapping: list[FoundRegion] = []
    """Wider and narrower regions with the same evidence, strongest first."""


class ProposedScenario(_View):
    """A scenario that a model proposed; answers from before do not count for it."""

    name: str
    """Its name as a topic."""
    prompt: str
    """The question, with a placeholder for the person."""
    round: int
    """The round of its proposal, from 0."""
    sets: int
    """Sets sent as evidence."""


class RegionCoverage(_View):
    """Sets sent in a region, and the smallest gap they could detect."""

    name: str
    """The topic, context or area."""
    sets: int
    """Sets sent as evidence."""
    missing: int
    """Sets with a missing answer."""
    smallest_gap: Estimate
    """The smallest gap that these sets detect with a probability of 0.8, in units of the feature;
    null with a reason."""


class SearchCoverage(_View):
    """Coverage of the space by a search."""

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
    """Calls, rounds and sets of a search."""

    calls: int
    """Calls sent, one for each twin."""
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
    requests: int = 0
    """Calls that asked a model for scenarios."""
    repeated_sets: int
    """Sets that are not evidence because one of their prompts was sent before."""


class SearchResults(_View):
    """Findings of a search, its coverage and its spending."""

    word: SummaryWord
    """Disparity, inconclusive or not measured; a search cannot show the absence of a disparity."""
    headline: str
    """The result in a sentence or two."""
    ended: str | None
    """Why the search ended; null while it goes on."""
    alpha: float
    """The error of the whole search."""
    about_names: bool
    """True if the findings are about these names alone, since there are too few of them."""
    findings: list[SearchFinding]
    """Findings, strongest first; overlapping regions are one finding."""
    leading: list[FoundRegion] = []
    """While it goes on: regions not found yet with the most evidence, nearest to a finding first;
    a finding needs an e-value of 1 / (alpha times its share)."""
    coverage: SearchCoverage
    """Sets by topic, context and area, with the smallest detectable gaps."""
    proposed: list[ProposedScenario] = []
    """Scenarios that a model proposed and that were accepted."""
    refused: int = 0
    """Proposals without possible twins, or with a known question."""
    placebo: PlaceboGaps
    """Twins of one group."""
    spent: SearchSpent
    """Calls, rounds and sets used."""
