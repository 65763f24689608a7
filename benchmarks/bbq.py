"""All of BBQ, 58,492 rows, from files to planned probes: seconds, and the most memory in use.

The rows are made here, of our own wording and as long as the published ones. The bar is
20 seconds and 1 GB on one core.
"""

import json
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.bbq.rows import ROWS, read_folder
from biaswatch.bbq.suite import suite_of
from biaswatch.shared.contracts import Judging, Run, parse_target, probes_of
from tests.support.bbq_rows import make_bbq_row

BAR_S = 20.0
BAR_MIB = 1024.0
MIB = 1024.0
"""Linux tells the most memory in KiB."""


def write_files(folder: Path) -> None:
    """Write a file for each published category."""
    for category, rows in ROWS.items():
        with (folder / f"{category}.jsonl").open("w") as out:
            for number in range(rows):
                row = make_bbq_row(number, category=category)
                row["context"] += " It was told at the fair, and nobody has asked them since." * 2
                out.write(json.dumps(row) + "\n")


def main() -> int:
    """Print what it takes; fail beyond the bars."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        began = time.perf_counter()
        rows = read_folder(Path(folder))
        suite = suite_of(rows)
        run = Run(
            at=datetime.now(UTC),
            suite=suite.name,
            suite_hash=suite.hash,
            targets=(parse_target("simulator:unbiased"),),
            judging=Judging(),
        )
        probes = sum(1 for probe in probes_of(run, suite, run.at) if probe.id)
        seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB
    print(f"{probes} rows loaded and planned in {seconds:.1f} s (bar {BAR_S:g} s)")
    print(f"{suite.pairs} pairs; {most:.0f} MiB at most (bar {BAR_MIB:g} MiB)")
    return int(seconds > BAR_S or most > BAR_MIB)


if __name__ == "__main__":
    sys.exit(main())
