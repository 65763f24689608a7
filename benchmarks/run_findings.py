"""The findings of a large run: 31,500 prompts of 20 models, 21 groups, 44 features.

The diagnoser's own handler reads the run from a store, diagnoses it and encodes the records for the
bus: each group with all others (18,480 comparisons) in at most 60
seconds of CPU, then all pairs (184,800) in 300. Naive is Welch's t, a rank test and Hedges' g by
scipy for the same comparisons of one model, times 20, with nothing that holds for flat or small
groups. `--models 2` diagnoses two models, and the bars are a tenth.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import combinations, islice
from pathlib import Path

import numpy as np
from scipy import stats

from biaswatch.services.diagnoser.handlers import DiagnoseRun
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    Against,
    ClosedBy,
    Completion,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Run,
    Suite,
    SuiteProbe,
    parse_target,
    probes_of,
    response_id_of,
)
from biaswatch.shared.store import Store, migrate

MODELS, GROUPS, PROMPTS = 20, 21, 75
EXTRACTORS = {f"extractor-{e}": tuple(f"feature-{e}-{f:02}" for f in range(11)) for e in range(4)}
BARS_S = {Against.REST: 60.0, Against.PAIRS: 300.0}
AT = datetime(2026, 1, 1, tzinfo=UTC)
AT_ONCE = 5000
"""Records that are written together."""
Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def main() -> int:
    """Print CPU for the whole study, against the bar and against the naive code."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--models", type=int, default=MODELS)
    models = options.parse_args().models
    kept = True
    for against, bar_s in BARS_S.items():
        cpu_s, records, comparisons = _diagnosed(against, models)
        bar_s *= models / MODELS
        naive = models * _cpu_s(partial(_naive, against))
        kept = kept and cpu_s <= bar_s
        print(
            f"{against.value}: {comparisons:,} comparisons in {cpu_s:.0f} s of CPU (bar"
            f" {bar_s:.0f}), from the store to {records:,} records; {cpu_s / naive:.1f} of the"
            f" naive tests' {naive:.0f} s"
        )
    return 0 if kept else 1


def _diagnosed(against: Against, models: int) -> tuple[float, int, int]:
    """Return the seconds of CPU, and how many records and comparisons were made."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'study.db'}"
        migrate(url)
        with Store.open(url) as store:
            run, arrived = _written(store, against, models)
            ended = Completion(
                at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL,
                expected=arrived, arrived=arrived,
            )  # fmt: skip
            handle = DiagnoseRun(store, now=lambda: AT, plan=AnalysisPlan())
            start = time.process_time()
            records = handle(ended, run)
            size = sum(len(record.encode()) for record in records)
            seconds = time.process_time() - start
    if not size:
        raise RuntimeError("the study has led to no records")
    return seconds, len(records), sum(len(getattr(record, "gaps", ())) for record in records)


def _written(store: Store, against: Against, models: int) -> tuple[Run, int]:
    """Write a run with its measurements."""
    suite = Suite(
        name="nations",
        extractors=tuple(EXTRACTORS),
        compared=against,
        probes=tuple(
            SuiteProbe(
                key=f"g{group}.p{prompt}",
                prompt=f"What are people of nation {group} like, in situation {prompt}?",
                groups={"nation": f"nation-{group:02}"},
            )
            for group in range(GROUPS)
            for prompt in range(PROMPTS)
        ),
    )
    run = Run(
        at=AT,
        suite=suite.name,
        suite_hash=suite.hash,
        targets=tuple(parse_target(f"simulator:m{n}") for n in range(models)),
        extractors=tuple(ExtractorPin(name=name, version="1") for name in EXTRACTORS),
    )
    store.extractors.announce(*(ExtractorStatus(n, "1", f, AT) for n, f in EXTRACTORS.items()))
    store.suites.keep(suite, AT)
    store.records.write([run])
    arrived = 0
    features = _measured(run, suite)
    while batch := list(islice(features, AT_ONCE)):
        store.records.write(batch)
        arrived += len(batch)
    return run, arrived


def _measured(run: Run, suite: Suite) -> Iterator[Features]:
    rng = np.random.default_rng(1)
    for probe in probes_of(run, suite, AT):
        response_id = response_id_of(probe)
        for name, features in EXTRACTORS.items():
            values = rng.beta(2, 5, len(features)).tolist()
            yield Features(
                at=AT, run_id=run.id, probe_id=probe.id, response_id=response_id,
                unit_id=probe.unit_id, extractor=name, extractor_version="1",
                values=dict(zip(features, values, strict=True)),
            )  # fmt: skip


def _naive(against: Against) -> None:
    """Compare the groups of one model."""
    columns = sum(map(len, EXTRACTORS.values()))
    values: Values = np.random.default_rng(1).beta(2, 5, (columns, GROUPS, PROMPTS))
    for groups in values:
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
