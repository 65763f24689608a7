"""Peak memory of gateway and diagnoser as a run grows, extrapolated to 10 million questions.

`python -m benchmarks.run_memory 300000 1000000` uploads a suite of so many questions in sets of
four, as the gateway does, writes the measurements of two extractors, and diagnoses the run. Upload
and diagnosis are processes with the imports of their service and its environment in Kubernetes; the
other services hold parts of 500 answers (`benchmarks.large_run`). The bar is flat memory: 512 MiB
for 10 million questions.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice
from pathlib import Path

from benchmarks.large_run import CONCEPTS, SUITE_WORDS
from benchmarks.measuring import memory_mib
from benchmarks.memory_limits import deployed_environment
from biaswatch.shared.contracts import (
    ClosedBy,
    Completion,
    ExtractorPin,
    Features,
    Run,
    SuiteHeader,
    SuiteProbe,
    parse_target,
    response_id_of,
)
from biaswatch.shared.store import PlannedProbes, Store, migrate

EXTRACTORS = {"refusal": ("refused",), "words": ("words",)}
HEADER = SuiteHeader(name="large", extractors=tuple(EXTRACTORS))
AT = datetime(2026, 1, 1, tzinfo=UTC)
AT_ONCE = 500
LARGEST, BAR_MIB = 10_000_000, 512.0
SERVICES = {"upload": "gateway", "diagnosis": "diagnoser"}


def questions(amount: int) -> Iterator[SuiteProbe]:
    """Yield the questions of a suite."""
    for n in range(amount):
        yield SuiteProbe(
            key=f"p{n}",
            set=f"s{n // 4}",
            groups={"region": CONCEPTS[n % 4]},
            prompt=SUITE_WORDS.format(n=n // 4, group=CONCEPTS[n % 4]),
        )


def upload(store: Store, amount: int) -> None:
    """Upload a suite in parts."""
    probes = questions(amount)
    with store.suites.upload() as uploaded:
        while part := list(islice(probes, AT_ONCE)):
            uploaded.add(part)
        uploaded.keep(HEADER, AT)


def run_of(store: Store) -> Run:
    """Return the run of the suite."""
    [suite] = store.suites.latest(1)
    pins = tuple(ExtractorPin(name=name, version="1") for name in EXTRACTORS)
    return Run(
        at=AT, suite=HEADER.name, suite_hash=suite.hash, extractors=pins, ids_in_order=True,
        targets=(parse_target("simulator:biased"),),
    )  # fmt: skip


def measurements(store: Store, run: Run) -> Iterator[Features]:
    """Yield what was measured of each answer."""
    outline = store.suites.outline(run.suite_hash)
    assert outline is not None
    for n, probe in enumerate(PlannedProbes(store.suites, outline, run).read(AT)):
        for extractor, [feature] in EXTRACTORS.items():
            yield Features(
                at=AT, run_id=run.id, probe_id=probe.id, response_id=response_id_of(probe),
                unit_id=probe.unit_id, extractor=extractor, extractor_version="1",
                values={feature: float(n * 7 % 11)},
            )  # fmt: skip


def measure(store: Store) -> None:
    """Write a run with its measurements."""
    run = run_of(store)
    store.records.write([run])
    records = measurements(store, run)
    while batch := list(islice(records, 10 * AT_ONCE)):
        store.records.write(batch)


def diagnose(store: Store, amount: int) -> None:
    """Diagnose the run as the diagnoser does."""
    from biaswatch.services.diagnoser.handlers import DiagnoseRun
    from biaswatch.shared.analysis.findings import AnalysisPlan

    run, arrived = run_of(store), amount * len(EXTRACTORS)
    ended = Completion(
        at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL,
        expected=arrived, arrived=arrived,
    )  # fmt: skip
    if len(DiagnoseRun(store, now=lambda: AT, plan=AnalysisPlan())(ended, run)) < len(EXTRACTORS):
        raise SystemExit("the run has too few findings")


STEPS: dict[str, Callable[[Store, int], None]] = {"upload": upload, "diagnosis": diagnose}


def do(url: str, step: str, amount: int) -> None:
    """Do a step with the imports of its service; print the memory before and at most."""
    import_module(f"biaswatch.services.{SERVICES[step]}.app")
    before, start = memory_mib("self"), time.process_time()
    with Store.open(url) as store:
        STEPS[step](store, amount)
    print(before, memory_mib("self"), time.process_time() - start)


def measured(url: str, step: str, amount: int) -> list[float]:
    """Do a step in a process of its own; return its MiB before and at most, and CPU seconds."""
    variables = [f"{name}={value}" for name, value in deployed_environment(SERVICES[step]).items()]
    module = [sys.executable, "-m", "benchmarks.run_memory", str(amount)]
    command = ["env", *variables, *module, "--step", step, "--store", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(number) for number in done.stdout.split()[-3:]]


def peaks_of(amount: int) -> dict[str, float]:
    """Print the costs of a run, and return the peak of each step."""
    with tempfile.TemporaryDirectory(prefix="biaswatch-run-") as folder:
        migrate(url := f"sqlite:///{Path(folder) / 'store.db'}")
        peaks = {}
        for step in STEPS:
            before, peaks[step], seconds = measured(url, step, amount)
            print(
                f"{amount:12,} {step:10}{before:6.0f} MiB, at most {peaks[step]:6.0f},"
                f" {seconds / amount * 1e6:5.0f} us a question",
                flush=True,
            )
            if step == "upload":
                with Store.open(url) as store:
                    measure(store)
    return peaks


def main() -> int:
    """Measure runs of the given sizes; return the number of missed bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=int, nargs="*", default=[20_000, 60_000])
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--store")
    options = parser.parse_args()
    sizes = options.questions
    if options.step:
        do(options.store, options.step, *sizes)
        return 0
    peaks, missed = [peaks_of(size) for size in sizes], 0
    for step in STEPS:
        first, last = peaks[0][step], peaks[-1][step]
        slope = (last - first) / max(1, sizes[-1] - sizes[0])
        expected = last + slope * max(0, LARGEST - sizes[-1])
        missed += expected > BAR_MIB
        print(
            f"{step}: {slope * 2**20:.0f} bytes a question, {expected:,.0f} MiB for {LARGEST:,}"
            f" (bar {BAR_MIB:g})"
        )
    return missed


if __name__ == "__main__":
    sys.exit(main())
