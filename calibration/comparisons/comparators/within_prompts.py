"""The comparator of banks: t with the spread of answers to one prompt, prompts being fixed."""

from collections import defaultdict

import numpy as np
from scipy import special

from calibration.comparisons.comparators.tails import Comparators
from calibration.comparisons.study import Study


def within_prompts(study: Study, feature: int, a: str, b: str) -> Comparators:
    """Return t of the mean over prompts; the variance within prompts is pooled by group."""
    answers: dict[tuple[str | None, str | None], list[float]] = defaultdict(list)
    units = study.units or [str(row) for row in range(len(study.groups))]
    for group, unit, value in zip(study.groups, units, study.values[:, feature], strict=True):
        answers[group, unit].append(float(value))
    parts = [[np.array(v) for (group, _), v in answers.items() if group == side] for side in (a, b)]
    means = [float(np.mean([v.mean() for v in part])) for part in parts]
    free = [sum(len(v) - 1 for v in part) for part in parts]
    pooled = [
        sum(float(((v - v.mean()) ** 2).sum()) for v in part) / max(f, 1)
        for part, f in zip(parts, free, strict=True)
    ]
    terms = [
        s * sum(1 / len(v) for v in part) / len(part) ** 2
        for part, s in zip(parts, pooled, strict=True)
    ]
    variance = sum(terms)
    if variance <= 0:
        return {"t within prompts": lambda _gap: (1.0, 1.0)}
    dof = variance**2 / sum(term**2 / f for term, f in zip(terms, free, strict=True))

    def tails(gap: float) -> tuple[float, float]:
        below = float(special.stdtr(dof, (means[0] - means[1] - gap) / np.sqrt(variance)))
        return 1 - below, below

    return {"t within prompts": tails}
