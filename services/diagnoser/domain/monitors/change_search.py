"""Whether gap and level are still what they were: a search for changes, round by round."""

from collections.abc import Sequence

from services.diagnoser.domain.monitors.alpha import change_bound, search_alpha
from services.diagnoser.domain.monitors.change_detection import kept_pairs
from services.diagnoser.domain.monitors.round_answers import ClosedCounts, less
from shared.contracts import Bets, Change, Evidence, MonitorPlan, Reference, Stretch
from shared.stats.anytime.change_search import (
    KEPT,
    ReferenceRounds,
    TypicalRound,
    after_round,
    is_due,
    likeliest_start,
    log_evidence,
    smallest_change,
)
from shared.stats.anytime.late_starts import LateStarts
from shared.stats.anytime.spending import share_left, share_of_test


def next_change(
    last: Evidence | None, counts: ClosedCounts, plan: MonitorPlan, *, level: bool = False
) -> Change | None:
    """Return a search after one more round; None where rounds keep no pairs.

    Parameters
    ----------
    last
        The evidence before this round; None before the first.
    level
        Search the level of both groups, not their gap.
    """
    pairs, before = kept_pairs(counts.added, level=level), _searched(last, level=level)
    if pairs is None:
        return before
    search, began = _under_way(last, before, counts)
    seen = kept_pairs(less(counts.total, began.before), level=level) or pairs
    rounds = counts.round.round - began.since_round + 1
    references = tuple(map(_kept, search.references))
    steps = search.steps + bool(references)
    if references:
        references = after_round(references, pairs, steps, counts.round.round)
    alpha = search_alpha(plan, search.number)
    if is_due(references, rounds, plan.reference_rounds):
        tolerance = change_tolerance(plan, level=level)
        made = ReferenceRounds.of(seen, rounds, alpha=alpha, tolerance=tolerance)
        references = (*references, made)[-KEPT:] if made else references
    bound = change_bound(plan, search.number)
    smallest = smallest_change(
        references, TypicalRound.of(seen, rounds), rounds=rounds, steps=steps, bound=bound
    )
    return search.model_copy(
        update={
            "references": tuple(map(_sent, references)),
            "since_round": likeliest_start(references),
            "reference": references[-1].value if references else None,
            "allowed": references[-1].allowed if references else None,
            "steps": steps,
            "log_evidence": log_evidence(references),
            "bound": bound,
            "smallest": smallest,
            "no_smallest": _why_none(references, smallest, plan, steps),
        }
    )


def _kept(reference: Reference) -> ReferenceRounds:
    bets = LateStarts(**dict(reference.bets))
    return ReferenceRounds(reference.value, reference.allowed, reference.rounds, bets)


def _sent(reference: ReferenceRounds) -> Reference:
    return Reference(
        value=reference.value,
        allowed=reference.allowed,
        rounds=reference.rounds,
        bets=Bets(**vars(reference.bets)),
    )


def is_found(change: Change | None) -> bool:
    """Tell whether the evidence of a change is enough for an alarm."""
    if change is None or change.log_evidence is None or change.bound is None:
        return False
    return change.log_evidence >= change.bound


def change_tolerance(plan: MonitorPlan, *, level: bool) -> float:
    """Return the largest change that does not matter, in what a pair is counted by.

    A level is counted by the sum of both groups, which changes by twice their mean.
    """
    return plan.change_tolerance * (2 if level else 1)


def _searched(last: Evidence | None, *, level: bool) -> Change | None:
    return None if last is None else last.level_change if level else last.change


def _under_way(
    last: Evidence | None, before: Change | None, counts: ClosedCounts
) -> tuple[Change, Stretch]:
    """Return the search that a round belongs to, and its rounds.

    A new epoch begins another search, and so does a change that was found.
    """
    same = last is not None and last.epoch == counts.round.epoch
    if same and before is not None and before.rounds is not None and not is_found(before):
        return before, before.rounds
    if before is not None and before.rounds is not None:
        number = before.number + 1
    else:  # evidence of version 0.1 has had a search in every epoch
        number = 1 if last is None or last.test is not None else last.epoch + 2
    began = Stretch(since_round=counts.round.round, before=counts.before if same else {})
    share, left = share_of_test(number), share_left(number)
    return Change(number=number, share=share, left=left, rounds=began), began


def _why_none(
    references: Sequence[ReferenceRounds], smallest: float | None, plan: MonitorPlan, steps: int
) -> str | None:
    if smallest is not None:
        return None
    if not references:
        return f"there is no reference yet: it needs {plan.reference_rounds} rounds with answers"
    if not steps:
        return "there is no round after the reference yet"
    return "no change could be found yet: there are too few units"
