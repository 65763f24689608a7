"""Run drills, each in a process of its own, and print what they counted.

`python -m drills` runs all of them, `python -m drills NAME` those whose names contain NAME. Exit
codes: 0 if every number is 0, 1 if one is not, 3 if a drill could not be run on this machine.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.memory_limits import CHART_VALUES, deployed_limit_mib
from biaswatch.local.platform import SERVICES
from drills.memory import PeakWatch, unmount_below
from drills.outcome import Drill, NotRunError, Outcome, Row, State, exit_code, over_limits, state_of
from drills.registry import DRILLS
from drills.table import print_table, write_files

RESULTS = Path("build/drills")
NOT_RUN = "not run"


def main() -> int:
    """Run what is asked for; print the table after the last drill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a drill's name")
    parser.add_argument("--times", type=int, help="how often to repeat a fault")
    parser.add_argument("--list", action="store_true", help="list the drills")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = [d for d in DRILLS if not options.names or any(n in d.name for n in options.names)]
    if options.list:
        print("\n".join(f"{drill.name:<26} {drill.what}" for drill in chosen))
        return 0
    if not chosen:
        parser.error("no drill has such a name; --list lists them")
    if options.alone:
        run_alone(chosen[0], options.alone, options.times or chosen[0].times)
        return 0
    rows = [run_apart(drill, options.times or drill.times) for drill in chosen]
    print_table(rows)
    write_files(rows, RESULTS)
    print(f"The numbers are in {RESULTS}/drills.json and drills.csv, logs beside them.")
    return exit_code(rows)


def run_alone(drill: Drill, folder: Path, times: int) -> None:
    """Run a drill in this process; write its outcome into the folder."""
    try:
        work = folder / "work"
        work.mkdir()
        written = asdict(asyncio.run(drill.run(work, times)))  # type: ignore[arg-type]
    except (NotRunError, pytest.skip.Exception) as error:
        written = {NOT_RUN: str(error)}
    (folder / "outcome.json").write_text(json.dumps(written))


def run_apart(drill: Drill, times: int) -> Row:
    """Run a drill in a process of its own; remove its files if it passed."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    folder, log = Path(tempfile.mkdtemp(prefix="drill-")), RESULTS / f"{drill.name}.log"
    print(f"{drill.name}: {drill.what} ...", flush=True)
    command = [sys.executable, "-m", "drills", drill.name, "--alone", str(folder)]
    began = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--times", str(times)], stdout=file, stderr=file, start_new_session=True
        )
        with PeakWatch(process.pid) as watch:
            hung = _hung(process, drill.limit_s)
    left = watch.kill_the_rest()
    unmount_below(folder)
    outcome = read_outcome(folder, hung, log)
    seconds = time.monotonic() - began
    if isinstance(outcome, str):
        row = Row(drill.name, State.NOT_RUN, seconds, Outcome(note=f"not run: {outcome}"))
    else:
        faults = over_limits(watch.peaks_mib, chart_limits())
        faults += [f"Left running: {', '.join(left)}."] if left else []
        outcome = replace(outcome, faults=(*outcome.faults, *faults))
        row = Row(drill.name, state_of(outcome), seconds, outcome, watch.peaks_mib)
    if row.state is State.FAILED:
        print(f"{drill.name} FAILED; its files are in {folder}.", flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return row


def _hung(process: "subprocess.Popen[bytes]", limit_s: float) -> bool:
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def read_outcome(folder: Path, hung: bool, log: Path) -> Outcome | str:
    """Return the outcome of a drill, or the reason why it was not run."""
    if hung:
        return Outcome(faults=(f"The drill did not end in time; see {log}.",))
    path = folder / "outcome.json"
    if not path.exists():
        return Outcome(faults=(f"The drill ended without an outcome; see {log}.",))
    written = json.loads(path.read_text())
    if NOT_RUN in written:
        return str(written[NOT_RUN])
    return Outcome(**{**written, "faults": tuple(written["faults"])})


def chart_limits(services: Sequence[str] = SERVICES) -> dict[str, int]:
    """Return the memory limit of each service in the chart; none without the chart."""
    return {name: deployed_limit_mib(name) for name in services} if CHART_VALUES.exists() else {}


if __name__ == "__main__":
    sys.exit(main())
