"""The findings of a large run: 31,500 prompts of 20 models, 21 groups, 44 features.

A twentieth of it, one model, is diagnosed as the service does it, from measured responses to
findings, on one core: each group with all others (924 comparisons), then all pairs (9,240). The
bars are 60 and 300 seconds of CPU for all 20 models. Naive is Welch's t, a rank test and Hedges' g
by scipy for each of the same comparisons, with nothing that holds for flat or small groups.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from scipy import stats

from services.diagnoser.domain.findings import AnalysisPlan, MeasuredResponse, diagnose
from shared.contracts import Against

MODELS, GROUPS, PROMPTS, EXTRACTORS, FEATURES = 20, 21, 75, 4, 11
BARS_S = {Against.REST: 60.0, Against.PAIRS: 300.0}
Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def main() -> int:
    """Print CPU for the whole study, against the bar and against the naive code."""
    values = np.random.default_rng(1).beta(2, 5, (EXTRACTORS, GROUPS, PROMPTS, FEATURES))
    responses = list(_responses(values))
    kept = True
    for against, bar_s in BARS_S.items():
        plan = AnalysisPlan(against=against)
        ours = MODELS * _cpu_s(
            lambda plan=plan: diagnose(responses, plan, np.random.default_rng(2))
        )
        naive = MODELS * _cpu_s(lambda against=against: _naive(values, against))
        kept = kept and ours <= bar_s
        print(
            f"{against.value}: {ours:.0f} s of CPU for {MODELS} models (bar {bar_s:.0f}),"
            f" {ours / naive:.1f} of the naive tests' {naive:.0f} s"
        )
    return 0 if kept else 1


def _responses(values: Values) -> Iterator[MeasuredResponse]:
    for extractor, group, prompt in np.ndindex(values.shape[:3]):
        of = values[extractor, group, prompt].tolist()
        yield MeasuredResponse(
            target="model",
            scaffold="direct",
            unit=f"group-{group}-prompt-{prompt}",
            set=None,
            groups={"group": f"group-{group:02}"},
            extractor=f"extractor-{extractor}",
            values={f"feature-{index:02}": value for index, value in enumerate(of)},
            why_missing=None,
        )


def _naive(values: Values, against: Against) -> None:
    for extractor, feature in np.ndindex(EXTRACTORS, FEATURES):
        groups = values[extractor, :, :, feature]
        if against is Against.PAIRS:
            sides = list(combinations(groups, 2))
        else:
            sides = [(groups[g], np.delete(groups, g, axis=0).ravel()) for g in range(GROUPS)]
        for a, b in sides:
            stats.ttest_ind(a, b, equal_var=False).confidence_interval()
            stats.mannwhitneyu(a, b)
            pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) ** 0.5
            (a.mean() - b.mean()) / pooled * (len(a) + len(b) - 2) ** 0.5


def _cpu_s(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
