"""CPU time to read the features of a round from the store and reduce them to increments."""

import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.shared.contracts import Probe, Suite, SuiteProbe, WatchedFeature, WatchedPair
from biaswatch.shared.store import Store, migrate
from tests.support.monitored import answered, closing, round_run
from tests.support.records import AT, make_monitor, make_plan

VALUES = 1_000_000
NAMES = tuple(f"f{number}" for number in range(44))
BAR_S = 30.0


def main() -> int:
    """Print the time; 1 where it misses the bar."""
    probes = VALUES // len(NAMES)
    suite = Suite(
        name="large",
        extractors=("many",),
        probes=tuple(
            SuiteProbe(key=str(n), prompt="?", set=str(n // 2), groups={"g": "ab"[n % 2]})
            for n in range(probes)
        ),
    )
    plan = make_plan(
        suite_hash=suite.hash,
        features=tuple(WatchedFeature(extractor="many", feature=name) for name in NAMES),
        comparisons=(WatchedPair(dimension="g", a="a", b="b"),),
    )
    monitor, rng = make_monitor(plan=plan), Random(1)

    def values(probe: Probe, round_: int) -> dict[str, float | None]:
        return {name: rng.random() for name in NAMES}

    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'store.db'}"
        migrate(url)
        with Store.open(url) as store:
            store.suites.keep(suite, AT)
            run = round_run(monitor, 0)
            records = answered(store, run, values)
            store.records.write([monitor, run, *records])
            watch = CloseRounds(store, now=lambda: datetime.now(UTC))
            start = time.process_time()
            watch(closing(run, records), run)
            seconds = time.process_time() - start
    print(f"{probes * len(NAMES):,} values to increments and evidence: {seconds:.1f} s of one core")
    return 0 if seconds < BAR_S else 1


if __name__ == "__main__":
    sys.exit(main())
