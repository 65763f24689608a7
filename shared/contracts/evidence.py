"""Evidence of a monitor's rounds: increments, which never change, and their sum."""

from pydantic import AwareDatetime, NonNegativeInt

from biaswatch.shared.contracts.clustered_evidence import ClusteredEvidence, HorizonEvidence
from biaswatch.shared.contracts.comparison import Comparison
from biaswatch.shared.contracts.completion import ClosedBy
from biaswatch.shared.contracts.identity import DEFAULT_TENANT, RecordId, Token
from biaswatch.shared.contracts.record import Part, Purpose, Record
from biaswatch.shared.contracts.sequential_tests import Change, Counts, GapTest, Recovery, Stretch
from biaswatch.shared.stats.estimate import Estimate, Verdict


class MergedEvidence(Part):
    """Whether twins are treated differently anywhere in a monitor's family, since the epoch began.

    Its null hypothesis is Fisher's: no label changes any answer. It never alarms by itself.
    """

    log_e: float
    """The merged log evidence now."""
    bound: float
    """The log evidence that shows a difference."""
    answer: str
    """`differs` or `not shown`."""
    since_round: NonNegativeInt | None = None
    """The round that showed it."""
    stands_out: tuple[str, ...] = ()
    """The comparisons that stand out, by closed testing."""
    own: tuple[float, ...]
    """Log wealth of bets on the sets' vectors with each comparison's own direction."""
    common: tuple[float, ...]
    """The same with one direction for all comparisons."""


class Round(Record):
    """A round that takes no more records: which epoch it belongs to, and what came."""

    kind = "round"
    identity = ("monitor_id", "round")

    monitor_id: RecordId
    """The monitor."""
    monitor: Token
    """Its name."""
    round: NonNegativeInt
    """Which round, counted from 0."""
    run_id: RecordId
    """The run that asked."""
    epoch: NonNegativeInt = 0
    """Rounds of one epoch were answered by one version of the model, measured by one version."""
    began_with: NonNegativeInt = 0
    """The first round of the epoch."""
    instruments: tuple[str, ...] = ()
    """The extractors, each with its version."""
    models: tuple[str, ...] = ()
    """The names and fingerprints that models gave."""
    changed: tuple[str, ...] = ()
    """Why this round begins an epoch, where it does and is not the first."""
    closed_by: ClosedBy
    """Why waiting ended: arrival, deadline or cancellation."""
    expected: NonNegativeInt
    """How many measurements were expected."""
    arrived: NonNegativeInt
    """How many were there when it closed; what comes later is not added."""
    declared_after_data: bool = False
    """True if the comparisons were declared after the answers were known: they may then have been
    chosen for their gaps, and no promise about false alarms holds."""
    merged: MergedEvidence | None = None
    """The evidence of all comparisons together; null without twins or with one comparison."""


class _OfComparison(Part):
    """A record of one comparison in one round."""

    tenant: Token = DEFAULT_TENANT
    """Whose it is."""
    purpose: Purpose = Purpose.MONITOR
    """The purpose of the round: monitor, or production."""
    at: AwareDatetime
    """When the round was closed."""
    monitor_id: RecordId
    """The monitor."""
    run_id: RecordId
    """The run of the round."""
    epoch: NonNegativeInt
    """The epoch."""
    round: NonNegativeInt
    """The round."""
    declared_after_data: bool = False
    """True if it was declared after the answers were known."""
    comparison: Comparison
    """The comparison."""

    @property
    def comparison_key(self) -> str:
        """The comparison's name."""
        return self.comparison.key


class Increment(_OfComparison):
    """The addition of one closed round to the evidence of one comparison; never made twice."""

    counts: Counts
    """The added counts."""
    missing: NonNegativeInt = 0
    """Sets, or answers without twins, that have no number."""
    outside: NonNegativeInt = 0
    """Values beyond the declared range, which counted as missing."""


class UserCounts(Part):
    """Accounts of the users of traffic who came for the first time."""

    first: NonNegativeInt
    """Users of the first group who were matched with neighbours: they are evidence."""
    second: NonNegativeInt
    """Users of the second group."""
    first_alone: NonNegativeInt
    """Users of the first group without a neighbour in time and stratum: they are described."""
    second_alone: NonNegativeInt
    """Users of the second group."""
    without_stratum: NonNegativeInt
    """Users whose first answer lacks a declared fact: they are described."""

    @property
    def alone(self) -> int:
        """Users without a neighbour."""
        return self.first_alone + self.second_alone

    @property
    def in_words(self) -> str:
        """Return who is evidence and who is not, as a person reads it."""
        parts = [f"{self.first + self.second:,} users are compared with neighbours"]
        if self.alone:
            parts.append(f"{self.alone:,} found none")
        if self.without_stratum:
            parts.append(f"{self.without_stratum:,} lack a fact that is compared within")
        rest = "; these are described and add no evidence" if len(parts) > 1 else ""
        return ", ".join(parts) + rest


class SelectionRates(Part):
    """How many units of two groups were selected, of those that have an answer."""

    first_selected: NonNegativeInt
    """Units of the first group."""
    first_units: NonNegativeInt
    """All of the first group."""
    second_selected: NonNegativeInt
    """Units of the second group."""
    second_units: NonNegativeInt
    """All of the second group."""


class ComparisonEvidence(Part):
    """The evidence of one comparison after a round, for records and answers alike."""

    rounds: NonNegativeInt
    """How many rounds were added up."""
    units: NonNegativeInt
    """How many units the shown rounds have."""
    missing: NonNegativeInt
    """How many of the epoch have no number."""
    gap: Estimate
    """The gap, first group minus second: in the feature's units, or as a log odds ratio."""
    log_e: float
    """The log evidence of the test now, against every gap within the tolerance."""
    log_supremum: float
    """The largest it has been in this test."""
    bound: float
    """The bound for an alarm."""
    verdict: Verdict
    """The verdict."""
    reason: str
    """Why."""
    more_units: int | None = None
    """How many more units a decision is expected to need."""
    expected_verdict: Verdict | None = None
    """The expected decision, if later rounds are like those to date."""
    no_forecast: str | None = None
    """Why the forecast is missing."""
    impact_ratio: Estimate | None = None
    """The ratio of selection rates, for the four-fifths rule; it never alarms."""
    users: UserCounts | None = None
    """Where users are matched: how many found neighbours."""
    unadjusted: Estimate | None = None
    """Where users are matched: the gap between all users, of any moment and any stratum. It is no
    evidence; what it differs by is what the moments and strata explain."""
    before: Estimate | None = None
    """The gap at the end of the epoch before."""
    same_treatment: str | None = None
    """Are twins treated differently? `differs` or `not shown`, about these names and texts."""
    log_e_same_treatment: float | None = None
    """The log evidence against equal treatment, of all rounds of the epoch."""
    same_treatment_reason: str | None = None
    """Why the question is not answered."""
    group_effect: str | None = None
    """Does the group matter beyond these names and texts? `differs`, `not shown`, or `too few` of
    a random factor."""
    group_effect_reason: str | None = None
    """Why the question is not answered."""
    clusters: ClusteredEvidence | None = None
    """The evidence beyond names and texts; null without random factors."""
    these: Estimate | None = None
    """The gap for these names and texts, where the gap is about more than these."""
    horizon: HorizonEvidence | None = None
    """The look at a declared horizon; null without one, and beyond it."""


class Evidence(_OfComparison, ComparisonEvidence):
    """The evidence of one comparison, over all rounds of an epoch up to this one."""

    counts: Counts
    """The sum of their increments."""
    test: GapTest | None = None
    """The test that is under way; null in evidence of version 0.1."""
    shown: Stretch | None = None
    """The rounds of units and gap: those of the test, or also those that cleared the last alarm."""
    recovery: Recovery | None = None
    """The test for the end of the gap; null without an open alarm of it."""
    selection_rates: SelectionRates | None = None
    """The units behind that ratio."""
    change: Change | None = None
    """The search for changes of the gap; null during the reference rounds."""
    level_change: Change | None = None
    """The search for changes of the level of both groups."""

    @property
    def share_left(self) -> float | None:
        """The share of alpha that is left for later tests and searches; None in version 0.1."""
        tests = (self.test, self.change, self.level_change)
        return min((test.left for test in tests if test is not None), default=None)
