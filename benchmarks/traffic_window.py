"""Peak memory of each process that reads one window of traffic with many answers.

`python -m benchmarks.traffic_window 100000 200000 400000` takes answers of half as many users into
a store. The planner goes through the window, the diagnoser closes it and the gateway exports it;
then the gateway draws answers and takes labels, and the diagnoser corrects by them. Each step is a
process with the imports of its service and its environment in Kubernetes. Printed are the peak, the
bytes that each answer adds, and the extrapolation to 5 million answers. The bars: 512 MiB for the
diagnoser and 256 MiB for the others.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from uuid import uuid4

from benchmarks.measuring import memory_mib
from benchmarks.memory_limits import deployed_environment
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Completion,
    Exchange,
    Label,
    Method,
    Monitor,
    Run,
    Traffic,
    WatchedFeature,
)
from biaswatch.shared.store import AnswerFilesLocation, Store, migrate
from tests.support.records import make_exchange, make_traffic_monitor

BARS_MIB = {"planner": 256, "diagnoser": 512, "gateway": 256}
LABELS = 600
LARGEST = 5_000_000
AT_ONCE, TOLD_AFTER = 1000, 250_000
NOON, HOUR = datetime(2026, 1, 1, 12, tzinfo=UTC), timedelta(hours=1)
OVER = NOON + HOUR + timedelta(minutes=1)
WORDS = WatchedFeature(extractor="words", feature="words", high=100, method=Method.MATCHED)


def watched() -> Monitor:
    """Return the monitor whose window it is: its users are matched in time, by topic."""
    plan = make_traffic_monitor().plan
    traffic = Traffic(window_s=HOUR.total_seconds(), strata=("topic",))
    changed = plan.model_copy(update={"features": (WORDS,), "traffic": traffic})
    return make_traffic_monitor(since=NOON, plan=changed)


def exchanges(amount: int) -> Iterator[Exchange]:
    """Return the answers of a window as they come, two to a user on average."""
    rng = Random(1)
    for number in range(amount):
        user, topic = rng.randrange(amount // 2 + 1), f"topic {rng.randrange(8)}"
        at = NOON + HOUR * (number / amount)
        words = "It is. " * rng.randrange(1, 40)
        yield make_exchange(
            user, said_at=at, at=at, key=f"answer-{number}", text=words, facts={"topic": topic}
        )


def fill(store: Store, amount: int) -> None:
    """Take answers in and measure them."""
    from tests.support.traffic_platform import TrafficPlatform

    platform, coming = TrafficPlatform(store), exchanges(amount)
    platform.rounds.define(watched())
    platform.time = NOON + HOUR
    for done in range(0, amount, AT_ONCE):
        if done and done % TOLD_AFTER == 0:
            print(f"  {done:,} of {amount:,} answers taken in", file=sys.stderr, flush=True)
        platform.hear(*islice(coming, AT_ONCE))


def plan(store: Store) -> None:
    """Go through the window as the planner does, so that it closes."""
    from biaswatch.services.planner.handlers.monitor_rounds import RoundScheduler
    from biaswatch.services.planner.handlers.runs import RunPlanner, completion_of
    from tests.support.planned import planned

    plans = RunPlanner(store, now=_over, deadline_s=60)
    for run in RoundScheduler(store, now=_over, wall=_over).start_due():
        store.records.write([run])
        planned(store, plans, run)
    [closing] = store.gathers(RUN_GATHER).due()
    store.records.write(completion_of(closing))


def _over() -> datetime:
    return OVER


def close(store: Store) -> None:
    """Close the window as the diagnoser does."""
    from biaswatch.services.diagnoser.handlers import CloseRounds

    [run], [completion] = store.records.all(Run), store.records.all(Completion)
    CloseRounds(store, now=lambda: completion.at)(completion, run)


def export(store: Store) -> None:
    """Read the window page by page as the gateway gives it to `export`."""
    from biaswatch.services.gateway.exports import ExportFilter, ExportQueries
    from biaswatch.services.gateway.monitors.queries import MonitorQueries

    [run] = store.records.all(Run)
    queries = ExportQueries(store, MonitorQueries(store))
    after: str | None = ""
    while after is not None:
        page = ExportFilter(after=after)
        queries.features(run.id, page)
        after = queries.answers(run.id, page).after


def draw(store: Store) -> None:
    """Draw answers and take labels in, as the gateway does; people differ from the instrument."""
    from biaswatch.services.gateway.labels.commands import LabelCommands
    from biaswatch.services.gateway.labels.queries import LabelQueries
    from biaswatch.services.gateway.runs.queries import RunQueries
    from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest

    [run], runs = store.records.all(Run), RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), now=_over)
    request = SampleRequest(feature=WORDS.feature, wanted=LABELS)
    sample = commands.sample_for(run.id, request)
    commands.store_records([sample])
    rng = Random(2)
    labels = [
        GivenLabel(response_id=drawn.response_id, value=rng.uniform(0, 80), person="p")
        for drawn in sample.drawn
    ]
    body = LabelsRequest(extractor=WORDS.extractor, feature=WORDS.feature, labels=labels)
    commands.store_records(commands.check_labels(run.id, body, "p").new)


def correct(store: Store) -> None:
    """Correct by the labels as the diagnoser does."""
    from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
    from biaswatch.shared.analysis.findings import AnalysisPlan

    labels = list(store.records.all(Label))
    handler = CorrectByLabels(store, now=lambda: labels[-1].at, plan=AnalysisPlan())
    if not any(record.kind == "correction" for record in handler(labels)):
        raise SystemExit("no finding was corrected")


@dataclass(frozen=True)
class WindowStep:
    """One process's work on a window."""

    service: str
    do: Callable[[Store], None]


STEPS = {
    "planner": WindowStep("planner", plan),
    "diagnoser": WindowStep("diagnoser", close),
    "gateway": WindowStep("gateway", export),
    "drawing": WindowStep("gateway", draw),
    "correction": WindowStep("diagnoser", correct),
}


def measured(url: str, step: str) -> tuple[float, float]:
    """Do a step in a process of its own; return its peak MiB and CPU seconds."""
    variables = [
        f"{name}={value}" for name, value in deployed_environment(STEPS[step].service).items()
    ]
    module = [sys.executable, "-m", "benchmarks.traffic_window"]
    command = ["env", *variables, *module, "--step", step, "--store", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    mib, seconds = done.stdout.split()[-2:]
    return float(mib), float(seconds)


def do(url: str, step: str) -> None:
    """Do a step with the imports of its service, and print its memory and CPU time."""
    import_module(f"biaswatch.services.{STEPS[step].service}.app")
    start = time.process_time()
    with Store.open(url) as store:
        STEPS[step].do(store)
    print(memory_mib("self"), time.process_time() - start)


def compare(sizes: list[int], *, in_files: bool = False) -> int:
    """Print the costs of windows, extrapolated to the largest; return the missed bars."""
    peaks: dict[str, list[float]] = {step: [] for step in STEPS}
    print(f"{'answers':>10}" + "".join(f"{step + ' MiB, s':>22}" for step in STEPS))
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="biaswatch-window-") as folder:
            url = f"sqlite:///{Path(folder) / 'store.db'}"
            migrate(url)
            files = AnswerFilesLocation(f"{folder}/answers", lambda: NOON, lambda: uuid4().hex)
            with Store.open(url, files if in_files else None) as store:
                fill(store, size)
            cells = []
            for step in STEPS:
                mib, seconds = measured(url, step)
                peaks[step].append(mib)
                cells.append(f"{mib:14.0f}{seconds:8.0f}")
            print(f"{size:10,}" + "".join(cells), flush=True)
    missed = 0
    for step, mibs in peaks.items():
        slope = (mibs[-1] - mibs[0]) / (sizes[-1] - sizes[0]) if len(sizes) > 1 else 0.0
        expected = mibs[-1] + slope * max(0, LARGEST - sizes[-1])
        bar = BARS_MIB[STEPS[step].service]
        missed += expected > bar
        print(
            f"{step}: {slope * 2**20:.0f} bytes an answer, {expected:,.0f} MiB for {LARGEST:,}"
            f" (bar {bar})"
        )
    return missed


def main() -> int:
    """Compare windows of the given sizes; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=int, nargs="*", default=[20_000, 40_000])
    parser.add_argument("--files", action="store_true", help="answers are in files, not rows")
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--store")
    options = parser.parse_args()
    if options.step:
        do(options.store, options.step)
        return 0
    return min(1, compare(options.answers, in_files=options.files))


if __name__ == "__main__":
    sys.exit(main())
