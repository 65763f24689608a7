"""How the evidence of a comparison has grown, round by round."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel

from shared.contracts import Estimate, Evidence, Verdict

MOST_RECORDS = 6000
"""Of evidence in all the histories that are given at once."""


class Moment(BaseModel):
    """What was known when a round had closed."""

    round: int
    epoch: int
    at: datetime
    units: int
    gap: Estimate
    log_e: float
    log_supremum: float
    bound: float
    verdict: Verdict


class History(BaseModel):
    """One comparison over the rounds of a monitor; evidence begins anew with every epoch."""

    comparison: str
    tolerance: float
    moments: list[Moment]


def rounds_at_once(comparisons: int) -> int:
    """Return of how many rounds the evidence may be shown at once."""
    return max(2, MOST_RECORDS // comparisons)


def histories_of(evidence: Iterable[Evidence]) -> list[History]:
    """Sort evidence into histories: those that say the most come first."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for each in sorted(evidence, key=lambda record: record.round):
        found[each.comparison_key].append(each)
    histories = [_history(key, of_comparison) for key, of_comparison in found.items()]
    return sorted(histories, key=lambda each: (-_last_share(each), each.comparison))


def _history(key: str, evidence: list[Evidence]) -> History:
    names = Moment.model_fields.keys()
    return History(
        comparison=key,
        tolerance=evidence[-1].comparison.watched.tolerance,
        moments=[Moment(**{name: getattr(each, name) for name in names}) for each in evidence],
    )


def _last_share(history: History) -> float:
    """Return how much of the evidence that an alarm needs there has been."""
    last = history.moments[-1]
    return last.log_supremum / last.bound
