"""Number of calls in a batch within a budget, because a submitted batch is paid in full."""

from collections.abc import Mapping, Sequence
from typing import Any

from biaswatch.services.generator.domain.model_calls import Price, cost_of
from biaswatch.shared.contracts import Budget

BYTES_PER_TOKEN = 4
ANSWER_TOKENS = 1000
"""Assumed length of an answer where the target has no limit of tokens."""
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
MARGIN = 1.2
"""Calls are assumed to cost this multiple of the mean of the earlier calls."""


def affordable_calls(
    bodies: Sequence[Mapping[str, Any]],
    sizes: Sequence[int],
    budget: Budget,
    spent: tuple[int, float],
    paid_calls: int,
    price: Price | None,
) -> int:
    """Return how many of the calls fit into the rest of a budget, at least one.

    Parameters
    ----------
    bodies, sizes
        The requests in order, and the bytes of each.
    budget
        The budget of the run.
    spent
        Its tokens and its cost until now.
    paid_calls
        Number of calls that cost this. Their mean is the estimate for the next ones; without any,
        the estimate is a token for four bytes, and the whole limit of tokens for the answer. None
        has an unknown cost: a run whose budget cannot be checked sends no batch.
    price
        Price of the model; None if unknown, which a budget of cost does not allow.
    """
    left = [
        (limit - used, used / paid_calls * MARGIN if paid_calls else None)
        for limit, used in zip((budget.tokens, budget.cost), spent, strict=True)
        if limit is not None
    ]
    if not left:
        return len(bodies)
    units = [n for n, limit in enumerate((budget.tokens, budget.cost)) if limit is not None]
    for number, (body, size) in enumerate(zip(bodies, sizes, strict=True)):
        estimate = _estimate(body, size, price)
        left = [
            (rest - (estimate[unit] if mean is None else mean), mean)
            for unit, (rest, mean) in zip(units, left, strict=True)
        ]
        if any(rest < 0 for rest, _ in left):
            return max(1, number)
    return len(bodies)


def _estimate(body: Mapping[str, Any], size: int, price: Price | None) -> tuple[float, float]:
    """Return the estimated tokens and cost of a call."""
    read = size // BYTES_PER_TOKEN
    limits = [body[name] for name in LIMITS if isinstance(body.get(name), int)]
    written = max(limits, default=ANSWER_TOKENS)
    return float(read + written), cost_of((read, written), price) or 0.0
