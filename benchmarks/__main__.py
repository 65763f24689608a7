"""Run the benchmarks of `make bench`, or those named, each in a process of its own."""

import argparse
import os
import subprocess
import sys

BENCHMARKS = (
    "bus_hop", "pipeline", "large_run", "store_writes", "traffic_writes", "diagnosis",
    "comparisons", "engines", "run_findings", "increments", "closing", "bbq", "generator",
    "ingestion", "posts", "reading", "lake_writes", "pages",
)  # fmt: skip
ONE_THREAD = {"closing": {"OPENBLAS_NUM_THREADS": "1"}}


def main() -> int:
    """Run them in turn; stop with the exit code of the first that misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=BENCHMARKS, metavar="NAME")
    parser.add_argument("--rows", help="rows of the table of `engines`")
    options = parser.parse_args()
    for name in options.names:
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        if name == "engines" and options.rows:
            command += ["--rows", options.rows]
        environment = {**os.environ, **ONE_THREAD.get(name, {})}  # noqa: TID251 - passed on
        if code := subprocess.run(command, env=environment, check=False).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
