"""The answers of two groups by prompt, their sums, and a comparison with what it rests on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from shared.stats.comparisons.means_and_rates import MeanDifference
from shared.stats.estimate import Sample, Vector, present, undefined

Answers = Mapping[Any, Sample]
"""The answers of one group by prompt (a hashable key), the same key in both groups for the same."""

LEAST_PROMPTS = 10
"""Of each group, where errors are estimated from whole prompts: below, they come out too small."""

Sums = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""One row per prompt: the sum and number of a's answers, the sum and number of b's."""


@dataclass(frozen=True)
class Comparison:
    """A difference of means with what it rests on."""

    difference: MeanDifference
    prompts_a: int
    prompts_b: int
    prompts_shared: int
    answers_a: int
    answers_b: int
    missing_a: int
    missing_b: int


@dataclass(frozen=True)
class AnsweredPrompts:
    """The finite answers of a group, by prompts that have any."""

    values: dict[Hashable, Vector]
    missing: int

    @classmethod
    def of(cls, answers: Answers) -> AnsweredPrompts:
        """Sort out what is there."""
        found = {prompt: present(sample) for prompt, sample in answers.items()}
        # sorted: sums of the same answers are then equal to the last digit
        values = {prompt: np.sort(v) for prompt, (v, _) in found.items() if len(v)}
        return cls(values, sum(missing for _, missing in found.values()))

    def means(self) -> dict[Hashable, float]:
        """Return the mean of every prompt's answers."""
        return {prompt: float(values.mean()) for prompt, values in self.values.items()}

    def answers(self) -> int:
        """Return the number of finite answers."""
        return sum(len(values) for values in self.values.values())


def counted(a: AnsweredPrompts, b: AnsweredPrompts, found: MeanDifference) -> Comparison:
    """Put beside a difference how many prompts and answers it rests on."""
    shared = len(a.values.keys() & b.values.keys())
    prompts = (len(a.values), len(b.values), shared)
    return Comparison(found, *prompts, a.answers(), b.answers(), a.missing, b.missing)


def sums_by_prompt(a: AnsweredPrompts, b: AnsweredPrompts) -> Sums:
    """Return the sums of every prompt that either group answered."""
    rows = [
        (*_sum_and_number(a.values.get(prompt)), *_sum_and_number(b.values.get(prompt)))
        for prompt in {**a.values, **b.values}
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _sum_and_number(values: Vector | None) -> tuple[float, int]:
    return (0.0, 0) if values is None else (float(values.sum()), len(values))


def too_few(sums: Sums, method: str) -> MeanDifference | None:
    """Return the difference without an interval where a group has too few prompts; else None."""
    prompts_a, prompts_b = (int((sums[:, column] > 0).sum()) for column in (1, 3))
    if not prompts_a or not prompts_b:
        return MeanDifference(undefined("a group has no values", method=method), None)
    if min(prompts_a, prompts_b) >= LEAST_PROMPTS:
        return None
    reason = f"fewer than {LEAST_PROMPTS} prompts in a group: use the means of prompts"
    return MeanDifference(undefined(reason, value=gap_of(sums), method=method), None)


def gap_of(sums: Sums) -> float:
    """Return the difference of means over answers."""
    totals = sums.sum(axis=0)
    return float(totals[0] / totals[1] - totals[2] / totals[3])


def error_of(sums: Sums) -> float:
    """Return the clustered standard error from each prompt's own pull on the difference."""
    a, n_a, b, n_b = sums.T
    mean_a, mean_b = a.sum() / n_a.sum(), b.sum() / n_b.sum()
    pull = (a - mean_a * n_a) / n_a.sum() - (b - mean_b * n_b) / n_b.sum()
    return sqrt(float((pull**2).sum()) * len(sums) / (len(sums) - 1))
