"""The diagnosis of Parquet that is larger than memory, against DuckDB's own aggregate of the same.

`--rows 10000000` is the whole table of 10 million rows x 44 features; by default a tenth. Both run
in this process after one warm-up, and CPU time of all threads is compared. The aggregate is what
an analyst asks DuckDB for: count, mean, standard deviation, skewness, least and largest by group.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from biaswatch.engines.parquet_tables import checked_rows, parquet_table
from biaswatch.engines.summed_diagnosis import EngineTable, summed_diagnosis
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan

FEATURES, GROUPS, ROWS, AT_ONCE = 44, 21, 1_000_000, 250_000
BAR = 2.0
NAMES = [f"feature_{index}" for index in range(FEATURES)]


def write_table(folder: Path, rows: int) -> None:
    """Write a table of scores between 0 and 1 as files of a quarter million rows.

    Files have the same scores in other groups: drawing new ones would take longer than all else.
    """
    rng = np.random.default_rng(1)
    size = min(AT_ONCE, rows)
    values = {name: rng.beta(2, 5, size) for name in NAMES}
    for number in range(max(1, rows // AT_ONCE)):
        group = [f"group-{code}" for code in rng.integers(0, GROUPS, size)]
        table = pyarrow.table({"group": group, **values})
        pyarrow.parquet.write_table(table, folder / f"part-{number}.parquet", compression="zstd")


def bare_aggregate(table: EngineTable) -> None:
    """Aggregate as an analyst would."""
    aggregates = ", ".join(
        f"COUNT({name}), AVG({name}), STDDEV_SAMP({name}), SKEWNESS({name}), MIN({name}),"
        f" MAX({name})"
        for name in NAMES
    )
    table.run(f'SELECT "group", {aggregates} FROM {table.source} GROUP BY "group"')  # noqa: S608


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and the wall time of some work, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def main(rows: int) -> bool:
    """Print both, and their ratio; return whether it is within the bar."""
    columns = TableColumns(["group"], NAMES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, rows)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        with parquet_table(str(folder)) as table:
            count = checked_rows(table, str(folder), columns)
            bare_aggregate(table)
            bare = measured(lambda: bare_aggregate(table))
            own = measured(lambda: summed_diagnosis(table, columns, ComparisonPlan()))
    ratio = own[0] / bare[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} rows x {FEATURES} features, {GROUPS} groups, {size:,.0f} MB of Parquet")
    print(f"DuckDB's own aggregate   {bare[0]:7.2f} s CPU  {bare[1]:7.2f} s")
    print(f"the diagnosis            {own[0]:7.2f} s CPU  {own[1]:7.2f} s   {ratio:.2f} times")
    print(f"bar: at most {BAR:g} times; peak {peak:,.0f} MiB with the writing of the table")
    return ratio <= BAR


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    sys.exit(0 if main(parser.parse_args().rows) else 1)
