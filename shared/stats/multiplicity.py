"""Correction of a declared family of comparisons."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Give Holm's adjusted p-values in the order given; None stays None and is not counted.

    Controls the family-wise error rate under any dependence.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    present = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, index) in enumerate(present):
        running = max(running, min(1.0, p * (len(present) - rank)))
        adjusted[index] = running
    return adjusted
