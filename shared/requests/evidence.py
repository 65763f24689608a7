"""Evidence of a monitor's comparisons and its traffic windows."""

from collections.abc import Collection
from enum import StrEnum

from pydantic import BaseModel

from biaswatch.shared.contracts import (
    AccountedWindow,
    AnswerAccounts,
    Change,
    Comparison,
    Described,
    Description,
    Estimate,
    Evidence,
    Recovery,
    UserCounts,
    Verdict,
    Window,
    comparison_title,
)
from biaswatch.shared.formatting import number


def selection_words(evidence: Evidence) -> str | None:
    """Return what the four-fifths rule looks at: units, rates, and their ratio."""
    ratio, counted, pair = evidence.impact_ratio, evidence.selection_rates, evidence.comparison.pair
    if ratio is None or counted is None:
        return None
    first = _selected(pair.a, counted.first_selected, counted.first_units)
    second = _selected(pair.b or "the others", counted.second_selected, counted.second_units)
    return f"{first}; {second}; {_ratio_words(ratio)}"


def adjustment_words(evidence: Evidence) -> str | None:
    """Return whom the gap of a comparison of traffic is about, and the gap between all users."""
    if evidence.users is None or evidence.unadjusted is None:
        return None
    gap = evidence.unadjusted
    ends = f" ({number(gap.low)} to {number(gap.high)})" if gap.low is not None else ""
    told = f"{number(gap.value)}{ends}" if gap.value is not None else f"not defined: {gap.reason}"
    return (
        f"{evidence.users.in_words}. Unadjusted, between all users of all moments and strata, the"
        f" gap is {told}; that is no evidence"
    )


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


SAID = {"comparison", "title", "number", "test"}
"""What a view says in its own way."""


class StandingAlarm(BaseModel):
    """What clears an alarm of a disparity, and how far that has come."""

    round: int
    """The round that raised it."""
    limit: float
    """The gap must be shown to lie within it."""
    since_round: int
    """The first of the rounds in which it is looked for."""
    gap: Estimate
    """The gap in them."""


class EvidenceView(BaseModel):
    """The evidence of one comparison, without its counts."""

    comparison: str
    title: str = ""
    """What is compared, for people."""
    number: str
    """The extractor and its feature; those of one name share a range."""
    rounds: int
    since_round: int | None
    """The first of the rounds that units and gap are about; null in evidence of version 0.1."""
    units: int
    missing: int
    tolerance: float
    gap: Estimate
    log_e: float
    log_supremum: float
    bound: float
    verdict: Verdict
    reason: str
    more_units: int | None
    expected_verdict: Verdict | None
    no_forecast: str | None
    impact_ratio: Estimate | None
    selections: str | None
    """The units selected of either group, and the ratio of both rates, in words."""
    users: UserCounts | None
    """Of traffic: how many users were compared with neighbours, and how many found none."""
    unadjusted: Estimate | None
    """Of traffic: the gap between all users, of any moment and stratum; no evidence."""
    adjustment: str | None
    """Both in words."""
    test: int | None
    """Which test of the comparison this is: each epoch and each cleared alarm begins another."""
    share_left: float | None
    """The share of alpha that is left for later tests, or searches for changes."""
    standing: StandingAlarm | None
    """What clears the alarm of a disparity that stands."""
    change_log_evidence: float | None
    level_log_evidence: float | None
    smallest_change: Estimate
    """The smallest change of the gap that would be found by now, in the feature's units, or as a
    share of what is selected; or why there is none."""
    smallest_level_change: Estimate
    """The same for the mean of both groups."""
    before: Estimate | None
    declared_after_data: bool
    """Whether it was declared when the answers were known already: no promise then holds."""
    change_searched: bool
    """Whether changes are searched: not in traffic, where later windows are of other users."""
    stands_out: bool
    """Whether it is flagged now among the monitor's comparisons (e-BH)."""


def evidence_view(
    evidence: Evidence, *, stands_out: bool, watched: Collection[tuple[str, str]] = ()
) -> EvidenceView:
    """Return the view of one comparison's evidence; `watched` are the monitor's numbers."""
    names = (EvidenceView.model_fields.keys() & Evidence.model_fields.keys()) - SAID
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
        standing=_standing(evidence.recovery),
        smallest_change=_smallest(evidence.change, evidence.comparison, 1.0),
        # A level is searched by the sum of both groups.
        smallest_level_change=_smallest(evidence.level_change, evidence.comparison, 0.5),
        change_searched=evidence.change is not None,
        stands_out=stands_out,
        selections=selection_words(evidence),
        adjustment=adjustment_words(evidence),
        **{name: getattr(evidence, name) for name in names},
    )


def _standing(recovery: Recovery | None) -> StandingAlarm | None:
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
    """How far a window of traffic is."""

    OPEN = "open"
    """Answers are still taken in for it."""
    MEASURED = "being measured"
    """The list of its members is fixed; not all of them are measured."""
    READ = "read"
    NOT_WATCHED = "not watched"
    """It lies before the first window that is watched, or the monitor was paused."""


class WindowView(BaseModel):
    """A window of traffic: what became of the answers that were sent in, and what it was like."""

    window: Window
    run_id: str
    """The run that holds its answers."""
    state: WindowState
    round: int | None = None
    """Its round, once it is read."""
    sent: int | None
    """How many answers were sent in: the sum of the accounts; null where they are."""
    accounts: AnswerAccounts | None
    """What became of them; null for a window that was read before this was kept."""
    answers: int | None = None
    """Its members, once it is read: the answers that were taken in time."""
    without_unit: int = 0
    """Members that name no user or conversation."""
    known_units: dict[str, int] = {}
    """By dimension: users that had entered the evidence of this epoch before."""
    mixed_units: dict[str, int] = {}
    """By dimension: users in two of the groups at once."""
    described: tuple[Described, ...] = ()
    """The numbers."""


def window_view(
    accounted: AccountedWindow | None, read: Description | None, *, watched: bool
) -> WindowView:
    """Return the view of a window from its accounts, and its description once it is read.

    `watched` tells whether it is not before the first window that the monitor watches.
    """
    if read is None:
        if accounted is None:
            raise ValueError("A window without accounts and description is not there.")
        accounts = accounted.accounts
        if accounted.fixed_at is None:
            goes_on, state = watched or accounts.waiting, WindowState.OPEN
        else:
            goes_on, state = accounts.waiting or not accounts.sent, WindowState.MEASURED
        if not goes_on:
            state = WindowState.NOT_WATCHED
        return WindowView(
            window=accounted.of.window,
            run_id=accounted.of.run_id,
            state=state,
            accounts=accounts,
            sent=accounts.sent,
        )
    known = accounted.accounts if accounted and read.accounts is not None else None
    # The description is written first: who looks in between sees its members wait no more.
    members = read.accounts.model_dump() if read.accounts else {}
    settled = known.model_copy(update={**members, "waiting": 0}) if known else None
    return WindowView(
        state=WindowState.READ,
        accounts=settled,
        sent=settled.sent if settled else None,
        **{name: getattr(read, name) for name in DESCRIBED},
    )


DESCRIBED = WindowView.model_fields.keys() - {"state", "sent", "accounts"}
