"""Evidence of a monitor's comparisons and its traffic windows."""

from collections.abc import Collection
from enum import StrEnum

from pydantic import BaseModel

from biaswatch.shared.contracts import (
    AccountedWindow,
    AnswerAccounts,
    Change,
    Comparison,
    ComparisonEvidence,
    Described,
    Description,
    Estimate,
    Evidence,
    Method,
    Recovery,
    Window,
    comparison_title,
)
from biaswatch.shared.formatting import number


def selection_words(evidence: Evidence) -> str | None:
    """Return the inputs of the four-fifths rule: units, rates, and their ratio."""
    ratio, rates, pair = evidence.impact_ratio, evidence.selection_rates, evidence.comparison.pair
    if ratio is None or rates is None:
        return None
    first = _selected(pair.a, rates.first_selected, rates.first_units)
    second = _selected(pair.b or "the others", rates.second_selected, rates.second_units)
    return f"{first}; {second}; {_ratio_words(ratio)}"


def adjustment_words(evidence: Evidence) -> str | None:
    """Return the users of a traffic comparison, and the unadjusted gap between all users."""
    if evidence.users is None or evidence.unadjusted is None:
        return None
    gap = evidence.unadjusted
    ends = f" ({number(gap.low)} to {number(gap.high)})" if gap.low is not None else ""
    value = f"{number(gap.value)}{ends}" if gap.value is not None else f"not defined: {gap.reason}"
    return (
        f"{evidence.users.in_words}. Unadjusted, between all users of all moments and strata, the"
        f" gap is {value}; it is not evidence"
    )


def scope_words(evidence: Evidence) -> str:
    """Return the scope of a verdict: these names and texts, or the group beyond them."""
    clusters, pair = evidence.clusters, evidence.comparison.pair
    if evidence.comparison.watched.method is Method.MATCHED:
        beyond = "" if clusters is None else ", beyond these companies or accounts"
        return f"the users of both groups{beyond}"
    if clusters is None or (evidence.group_effect or "").startswith("too few"):
        return "these names and texts"
    factors = " and ".join(f"{level.factor}s" for level in clusters.levels)
    return f"{pair.dimension}, beyond these {factors}"


def _selected(group: str, selected: int, units: int) -> str:
    if not units:
        return f"{group}: no unit has an answer"
    return f"{group}: {selected} of {units} units selected ({number(100 * selected / units)} %)"


def _ratio_words(ratio: Estimate) -> str:
    if ratio.value is None:
        return f"no ratio: {ratio.reason}"
    ends = f"at least {number(ratio.low)}"
    if ratio.high is not None:
        ends = f"{number(ratio.low)} to {number(ratio.high)}"
    return f"ratio {number(ratio.value)} ({ends})"


class StandingAlarm(BaseModel):
    """The condition that clears a raised alarm of a disparity, and its progress."""

    round: int
    """The round that raised it."""
    limit: float
    """The bound within which the gap must be shown to be."""
    since_round: int
    """The first round that is considered."""
    gap: Estimate
    """The gap since that round."""


class EvidenceView(ComparisonEvidence):
    """The evidence of one comparison, without its counts."""

    comparison: str
    title: str = ""
    """Title of the comparison."""
    number: str
    """The extractor and its feature."""
    since_round: int | None
    """The first round of units and gap; null in evidence of version 0.1."""
    tolerance: float
    about: str
    """The scope of the verdict, in words."""
    selections: str | None
    """Selected units of both groups, and the ratio of their rates, in words."""
    adjustment: str | None
    """Users and unadjusted gap in words."""
    test: int | None
    """Number of the test; each epoch and each cleared alarm begins another."""
    share_left: float | None
    """Share of alpha that is left for later tests and searches for changes."""
    standing: StandingAlarm | None
    """The condition that clears the raised alarm of a disparity."""
    change_log_evidence: float | None
    level_log_evidence: float | None
    smallest_change: Estimate
    """The smallest detectable change of the gap, in the feature's units or as a share of
    selections; or the reason why it is unknown."""
    smallest_level_change: Estimate
    """The same for the mean of both groups."""
    declared_after_data: bool
    """True if it was declared after the data, so that its error rate is not guaranteed."""
    change_searched: bool
    """True if changes are searched; not in traffic, where windows have different users."""
    stands_out: bool
    """True if it is flagged among the monitor's comparisons (e-BH)."""


def evidence_view(
    evidence: Evidence, *, stands_out: bool, watched: Collection[tuple[str, str]] = ()
) -> EvidenceView:
    """Return the view of one comparison's evidence; `watched` are the monitor's numbers."""
    return EvidenceView(
        comparison=evidence.comparison_key,
        title=comparison_title(evidence.comparison, watched),
        number=f"{evidence.comparison.watched.extractor}.{evidence.comparison.watched.feature}",
        tolerance=evidence.comparison.watched.tolerance,
        change_log_evidence=evidence.change.log_evidence if evidence.change else None,
        level_log_evidence=evidence.level_change.log_evidence if evidence.level_change else None,
        since_round=evidence.shown.since_round if evidence.shown else None,
        test=evidence.test.number if evidence.test else None,
        share_left=evidence.share_left,
        standing=_raised_alarm(evidence.recovery),
        smallest_change=_smallest(evidence.change, evidence.comparison, 1.0),
        # A level is searched by the sum of both groups.
        smallest_level_change=_smallest(evidence.level_change, evidence.comparison, 0.5),
        change_searched=evidence.change is not None,
        stands_out=stands_out,
        selections=selection_words(evidence),
        adjustment=adjustment_words(evidence),
        about=scope_words(evidence),
        declared_after_data=evidence.declared_after_data,
        **{name: getattr(evidence, name) for name in ComparisonEvidence.model_fields},
    )


def _raised_alarm(recovery: Recovery | None) -> StandingAlarm | None:
    if recovery is None or recovery.over:
        return None
    return StandingAlarm(
        round=recovery.alarm_round,
        limit=recovery.limit,
        since_round=recovery.rounds.since_round,
        gap=recovery.gap,
    )


def _smallest(change: Change | None, comparison: Comparison, part: float) -> Estimate:
    if change is None:
        return Estimate(reason="no changes are searched here")
    if change.smallest is None:
        return Estimate(reason=change.no_smallest or "no round has been searched yet")
    watched = comparison.watched
    span = 1.0 if watched.method.of_selections else watched.high - watched.low
    return Estimate(value=change.smallest * part * span)


class WindowState(StrEnum):
    """State of a window of traffic."""

    OPEN = "open"
    """Answers are still accepted."""
    MEASURED = "being measured"
    """Its list of members is complete; not all are measured."""
    READ = "read"
    NOT_WATCHED = "not watched"
    """It is before the first watched window, or the monitor was paused."""


class WindowView(BaseModel):
    """A window of traffic: the accounts of its answers and its description."""

    window: Window
    run_id: str
    """The run that holds its answers."""
    state: WindowState
    round: int | None = None
    """Its round, after it was read."""
    sent: int | None
    """Number of answers sent: the sum of the accounts; null if they are."""
    accounts: AnswerAccounts | None
    """Accounts of the answers; null for a window without them."""
    answers: int | None = None
    """Number of members after it was read: answers that were in time."""
    without_unit: int = 0
    """Members without a user or a conversation."""
    known_units: dict[str, int] = {}
    """Users already in the evidence of this epoch, by dimension."""
    mixed_units: dict[str, int] = {}
    """Users in two groups at once, by dimension."""
    shared_facts: dict[str, int] = {}
    """Undeclared facts that several users share, with their numbers of values."""
    described: tuple[Described, ...] = ()
    """Descriptive statistics."""

    @property
    def dependence_words(self) -> str | None:
        """Return a hint at facts that may make users dependent; None without any."""
        if not self.shared_facts:
            return None
        facts = ", ".join(f"{name} ({n:,} values)" for name, n in self.shared_facts.items())
        return (
            f"Several users share each value of {facts}. If a value is a company or account whose"
            f" users get similar answers, declare `cluster: {min(self.shared_facts)}`:"
            " otherwise alarms may be false far more often than alpha."
        )


def window_view(
    accounted: AccountedWindow | None, read: Description | None, *, watched: bool
) -> WindowView:
    """Return the view of a window from its accounts, and its description once it is read.

    `watched` is false for windows before the first one that the monitor watches.
    """
    if read is None:
        if accounted is None:
            raise ValueError("A window has neither accounts nor a description.")
        accounts = accounted.accounts
        if accounted.fixed_at is None:
            state = WindowState.OPEN
            is_active = watched or accounts.waiting
        else:
            state = WindowState.MEASURED
            is_active = accounts.waiting or not accounts.sent
        if not is_active:
            state = WindowState.NOT_WATCHED
        return WindowView(
            window=accounted.of.window,
            run_id=accounted.of.run_id,
            state=state,
            accounts=accounts,
            sent=accounts.sent,
        )
    known = accounted.accounts if accounted and read.accounts is not None else None
    # The description is written before the accounts are settled.
    members = read.accounts.model_dump() if read.accounts else {}
    settled = known.model_copy(update={**members, "waiting": 0}) if known else None
    return WindowView(
        state=WindowState.READ,
        accounts=settled,
        sent=settled.sent if settled else None,
        **{name: getattr(read, name) for name in DESCRIBED},
    )


DESCRIBED = WindowView.model_fields.keys() - {"state", "sent", "accounts"}
