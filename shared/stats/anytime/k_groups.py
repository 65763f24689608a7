"""More than two groups: each against the mean of the rest, and the average of their e-values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.stats.anytime.batches import Batch
from shared.stats.anytime.pairs import BINS, PairHistogram
from shared.stats.anytime.rounding import uniforms
from shared.stats.anytime.stakes import STAKES, Floats, log_average


@dataclass(frozen=True)
class OneVersusRest:
    """One histogram per group, of its value less the mean of the others' in the same set."""

    groups: tuple[str, ...]
    pairs: tuple[PairHistogram, ...]

    @classmethod
    def empty(cls, groups: Sequence[str], *, bins: int = BINS) -> "OneVersusRest":
        """Return the state before any set."""
        if len(set(groups)) != len(groups) or len(groups) < 2:
            raise ValueError("a comparison with the rest needs two groups or more, each once")
        return cls(tuple(groups), (PairHistogram.empty(bins),) * len(groups))

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        values: Floats,
        unit_ids: Sequence[str],
        *,
        salt: str = "",
        absent: int = 0,
    ) -> "OneVersusRest":
        """Count the sets of one closed round: values in [0, 1], a row per set, a column per group.

        Every set has to be complete; sets that are not are passed as a number, `absent`. The salt
        names what is compared, so that features are rounded apart from one another.
        """
        cls.empty(groups)
        if values.shape != (len(unit_ids), len(groups)) or not np.isfinite(values).all():
            raise ValueError("a set has one finite value per group: count others as absent")
        rest = (values.sum(axis=1, keepdims=True) - values) / (len(groups) - 1)
        gaps = np.clip(values - rest, -1, 1)  # what rounding errors put a hair beyond the ends
        counted = (
            PairHistogram.of(gaps[:, place], uniforms(unit_ids, f"{salt}/{group}"), absent=absent)
            for place, group in enumerate(groups)
        )
        return cls(tuple(groups), tuple(counted))

    def __add__(self, other: "OneVersusRest") -> "OneVersusRest":
        if self.groups != other.groups:
            raise ValueError(f"groups {self.groups} and {other.groups} do not add up")
        summed = (a + b for a, b in zip(self.pairs, other.pairs, strict=True))
        return OneVersusRest(self.groups, tuple(summed))

    def log_e(self, *, stakes: tuple[float, ...] = STAKES) -> float:
        """Return the log e-value against all groups having the same mean.

        The average of e-values is one whatever their dependence; which groups differ is for the
        e-values of each, as a family.
        """
        return log_average([one.log_e(stakes=stakes) for one in self.pairs])

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against every group lying within the tolerance of the rest."""
        return log_average([one.log_e_beyond(tolerance) for one in self.pairs])


def batches_against_rest(selected: Sequence[int], n: Sequence[int]) -> list[Batch]:
    """Return one batch per group: it, and all others together, within one prompt or stratum."""
    all_selected, everyone = sum(selected), sum(n)
    return [
        Batch(own, size, all_selected - own, everyone - size)
        for own, size in zip(selected, n, strict=True)
    ]
