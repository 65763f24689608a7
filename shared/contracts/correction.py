"""Findings of a run as corrected by labels, and the errors of its instrument."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.stats.estimate import Estimate, Verdict


class CorrectedGroup(Part):
    """One group: its mean by the readings and by the labels, and the instrument's error in it."""

    group: Name
    """The group."""
    answers: NonNegativeInt
    """Answers with a reading."""
    labelled: NonNegativeInt
    """Drawn answers with a label."""
    drawn: NonNegativeInt
    """Drawn answers."""
    reading: Estimate
    """The mean by the instrument's readings alone."""
    corrected: Estimate
    """The mean as the labels correct it."""
    tuning: float | None = None
    """How much a reading counts beside the labels, from 0 to 1."""
    units: NonNegativeInt | None = None
    """The prompts, or users, that these answers are of."""
    widest_share: float | None = None
    """How far the interval of its mean can reach on one side, as a share of the scale, because
    labels hardly differ from what was read; null where they do, or are too few."""
    bias: Estimate
    """Reading less label: above 0 where the instrument reads too high."""
    absolute_error: Estimate
    """The distance of reading and label."""
    sensitivity: Estimate | None = None
    """The share of people's selections that the instrument selects too."""
    specificity: Estimate | None = None
    """The share of answers not selected by people that the instrument does not select either."""


@dataclass(frozen=True, kw_only=True)
class RunningGap(Estimate):
    """A gap over labelled rounds of a monitor's epoch, valid however often it is looked at."""

    rounds: NonNegativeInt
    """Rounds with labelled pairs."""
    pairs: NonNegativeInt
    """Labelled pairs of all of them."""
    since_round: NonNegativeInt = 0
    """The first round that counts: of the epoch, or after an alarm by labels that is over."""
    tolerance: float
    """The largest gap that does not matter, as the monitor declares it."""
    verdict: Verdict
    """The verdict."""
    log_e: float = 0.0
    """The logarithm of the evidence for a gap beyond the tolerance."""
    level: float
    """The chance of a false disparity of this comparison in this test, at any look."""
    bound: float | None = None
    """The logarithm of the evidence that alarms: that of 1 over the level."""
    test: PositiveInt = 1
    """Which test by labels of the comparison it is, in all epochs."""
    no_alarm: str | None = None
    """Why no alarm is raised from it, whatever it shows."""


class LabelledComparison(Part):
    """Result of labelled rounds for one comparison that a monitor watches."""

    comparison: Name
    """Its name within the monitor."""
    a: Name
    """The first group."""
    b: Name
    """The second group."""
    low: float
    """The least that a label can be."""
    high: float
    """The most."""
    counts: tuple[NonNegativeInt, ...]
    """The labelled pairs of this round, counted by their corrected difference."""
    running: RunningGap
    """The gap over all labelled rounds."""


class CorrectedGap(Part):
    """One group compared with another, by the readings and as the labels correct it."""

    a: Name
    """The first group."""
    b: Name
    """The second group, or `the rest`: all other groups together."""
    reading: Estimate
    """Mean of a minus mean of b by the readings, with its interval by itself."""
    corrected: Estimate
    """The same as the labels correct it, with an interval that covers together with all others of
    the family: the verdict is read from it."""
    by_itself: Estimate
    """The corrected gap, with the interval that it has without a family."""
    ratio: Estimate | None = None
    """The rate of a over that of b as the labels correct them, with its interval by itself; where
    the number is yes or no, or the suite declares the least value of a selection."""
    reading_ratio: float | None = None
    """The same by the readings alone; null where the rate of b is 0."""
    p_value: float | None = None
    """For a gap of at most the tolerance, in either direction."""
    p_adjusted: float | None = None
    """After Bonferroni's correction over all corrected comparisons of the run."""
    p_equivalence: float | None = None
    """For a gap of at least the tolerance, after the same correction; none at tolerance 0."""
    bias_difference: Estimate
    """How much higher the instrument reads in a than in b, beside the labels."""
    bias_p: float | None = None
    """For no difference of its bias; by itself."""
    verdict: Verdict
    """The verdict, at the declared level and tolerance."""
    reason: str | None = None
    """Why it is this verdict."""


class Correction(Record):
    """One feature over one dimension of a run, corrected by all labels to date."""

    kind = "correction"
    identity = ("run_id", "target", "scaffold", "extractor", "feature", "dimension", "labels_hash")

    run_id: RecordId
    """The run."""
    target: Name
    """The target."""
    scaffold: Token
    """How."""
    extractor: Token
    """The instrument."""
    extractor_version: Name
    """At which version."""
    feature: Name
    """Which of its numbers."""
    dimension: Name
    """Which grouping."""
    labels_hash: RecordId
    """The digest of the run's labels at that moment."""
    labels: NonNegativeInt
    """How many labels of this number there were, of all groups."""
    people: NonNegativeInt
    """How many people gave them."""
    labelled_until: AwareDatetime
    """When the last of them was given."""
    instructions: tuple[Name, ...] = ()
    """The versions of the instructions that people had."""
    alpha: float
    """The level of the family."""
    tolerance: float
    """The largest difference that does not matter."""
    family: NonNegativeInt
    """How many comparisons were corrected together."""
    agreement: Estimate
    """Krippendorff's alpha of people who labelled the same answers."""
    doubtful_people: NonNegativeInt = 0
    """How many people answered so that it could have been at random."""
    groups: tuple[CorrectedGroup, ...]
    """Each group by itself."""
    gaps: tuple[CorrectedGap, ...]
    """The comparisons."""
    over_rounds: tuple[LabelledComparison, ...] = ()
    """In a monitor's round: the labels of all rounds of its epoch, for each watched comparison."""


def latest_over_rounds(
    corrections: Iterable[Correction],
) -> dict[str, tuple[LabelledComparison, Correction]]:
    """Return what labels of rounds say of each comparison by now, and the correction it is in."""
    return {
        part.comparison: (part, correction)
        for correction in sorted(
            corrections, key=lambda correction: (correction.at, correction.labels)
        )
        for part in correction.over_rounds
    }
