"""CPU time of every page on a large store: a run of a million features, a monitor of 2,000 rounds.

`python -m benchmarks.pages` builds the store, requests each page three times in this process, and
prints the least CPU time of each; the exit code is 1 where one is over the bar. `--store FILE`
keeps the store, and reuses an existing file. `--database postgresql` starts a server, whose own
time is not counted.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import httpx2

from benchmarks.store_writes import server_of
from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    Diagnosis,
    Estimate,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Gap,
    GroupSummary,
    LabelSample,
    Monitor,
    Record,
    Round,
    RoundEvidence,
    Run,
    Suite,
    SuiteProbe,
    Verdict,
    derived_id,
    probes_of,
)
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest
from biaswatch.shared.runtime.process_limits import bound_garbage
from biaswatch.shared.store import Store, migrate
from tests.support.api import api_on
from tests.support.archived import end_run
from tests.support.monitored import play
from tests.support.records import make_diagnosis, make_features, make_probe, make_response, make_run
from tests.support.stratified_traffic import NAME as STRATIFIED
from tests.support.stratified_traffic import stratified_traffic

BAR_MS = 300.0
LISTED, LIST_BAR_MS = 1000, 100.0
"""Runs of one list, and its bar."""
GROUPS = tuple(f"group {n:02}" for n in range(20))
FEATURES = tuple(f"feature_{n}" for n in range(10))
PAIRS = 50
"""Pairs of groups, each compared in a feature and in missing answers."""
REAL_ROUNDS = 6
STRATA = 20
"""Strata of traffic; a window shows no more."""
DRAWN, LABELLED = 1000, 900
"""Answers of the run that are drawn for labels, and those with a label."""
PERSON = "this machine"
"""The gateway's name for callers without a token."""
TRIES = 3
LIST = f"/v1/runs?last={LISTED}"
WRITTEN_AT_ONCE = 5000


def main() -> int:
    """Print the cost of each page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    bound_garbage()  # as the gateway does
    with tempfile.TemporaryDirectory(prefix="biaswatch-pages-") as folder, ExitStack() as stack:
        file = options.store or Path(folder) / "store.db"
        exists, url = file.exists(), f"sqlite:///{file}"
        if options.database == "postgresql":
            exists = False
            url, _ = stack.enter_context(server_of("postgresql", Path(folder)))
        migrate(url)
        with Store.open(url) as store:
            if not exists:
                asyncio.run(filled(store, options.answers, options.rounds))
            return asyncio.run(measured(store))


def list_of_runs(store: Store) -> None:
    """Write small ended runs, each with an answer, its features and a finding."""
    for number in range(LISTED):
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        run = make_run(at=at, suite=f"suite {number % 7}", suite_hash=f"{number:032x}")
        probe = make_probe(number, run_id=run.id, at=at)
        response = make_response(number, probe=probe, at=at)
        ids = {"run_id": run.id, "probe_id": probe.id, "response_id": response.id}
        diagnosis = make_diagnosis(run_id=run.id, target=run.targets[0].name)
        store.records.write([run, response, make_features(number, **ids), diagnosis])
        end_run(store, run.id)


async def filled(store: Store, answers: int, rounds: int) -> None:
    """Write a run, its findings, and a monitor whose last rounds are repeated backwards."""
    now = datetime.now(UTC)
    suite = suite_of(answers // len(GROUPS), "large")
    pins = (ExtractorPin(name="words", version="1"),)
    run = make_run(suite=suite.name, suite_hash=suite.hash, extractors=pins)
    store.suites.keep(suite, now)
    store.records.write([run, *(diagnosis_of(run, name, answers) for name in FEATURES)])
    records = answered(run, suite)
    while batch := list(islice(records, WRITTEN_AT_ONCE)):
        store.records.write(batch)
    list_of_runs(store)
    await watched(store, rounds)
    store.records.write(stratified_traffic([f"topic {n:02}" for n in range(STRATA)], rounds))
    label(store, run)


def label(store: Store, run: Run) -> None:
    """Draw answers of the run and label most of them."""
    runs = RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), lambda: datetime.now(UTC))
    wanted = SampleRequest(feature=FEATURES[0], wanted=DRAWN, low=0, high=100)
    sample = commands.sample_for(run.id, wanted)
    commands.store_records([sample])
    labels = [GivenLabel(response_id=drawn.response_id, value=50) for drawn in sample.drawn]
    request = LabelsRequest(extractor="words", feature=FEATURES[0], labels=labels[:LABELLED])
    commands.store_records(commands.check_labels(run.id, request, PERSON).new)


def suite_of(sets: int, suite: str) -> Suite:
    """Return a suite with a probe of every group in each set."""
    return Suite(
        name=suite,
        extractors=("words",),
        probes=tuple(
            SuiteProbe(key=f"{n}-{name}", prompt=f"{n}, {name}?", set=f"s{n}", groups={"of": name})
            for n in range(sets)
            for name in GROUPS
        ),
    )  # fmt: skip


def answered(run: Run, suite: Suite) -> Iterator[Record]:
    """Yield an answer to each probe, and ten features of each."""
    for n, probe in enumerate(probes_of(run, suite, run.at)):
        response = make_response(probe=probe, text=f"An answer of some words, number {n}.")
        yield response
        yield Features(
            at=run.at, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor="words", extractor_version="1",
            values={name: float((n * 7 + i) % 101) for i, name in enumerate(FEATURES)},
        )  # fmt: skip


def diagnosis_of(run: Run, feature: str, answers: int) -> Diagnosis:
    """Return a finding about every group."""
    units = answers // len(GROUPS)
    means = [
        Estimate(value=50 + n / 9, low=49 + n / 9, high=51 + n / 9) for n in range(len(GROUPS))
    ]
    return make_diagnosis(
        run_id=run.id, target=run.targets[0].name, extractor="words", feature=feature,
        dimension="of",
        groups=tuple(
            GroupSummary(group=name, responses=units, missing=0, units=units, mean=mean)
            for name, mean in zip(GROUPS, means, strict=True)
        ),
        gaps=tuple(
            Gap(
                a=a, b=b, gap=Estimate(value=0.1 * n, low=0.1 * n - 1, high=0.1 * n + 1),
                p_value=0.01 * (n % 90), p_adjusted=0.02 * (n % 45),
                verdict=list(Verdict)[n % 3], reason="a sentence with the reason",
            )
            for n, (a, b) in enumerate((a, b) for a in GROUPS for b in GROUPS if a < b)
        ),
    )  # fmt: skip


async def watched(store: Store, rounds: int) -> None:
    """Apply a monitor of 100 comparisons, close some rounds, and repeat their evidence."""
    suite = suite_of(3, "watched")
    store.extractors.announce(ExtractorStatus("words", "1", FEATURES, datetime.now(UTC)))
    store.suites.keep(suite, datetime.now(UTC))
    pairs = [(a, b) for a in GROUPS for b in GROUPS if a < b][:PAIRS]
    request = {
        "name": "long",
        "suite_hash": suite.hash,
        "target": "simulator:unbiased",
        "cadence": "1h",
        "features": [{"extractor": "words", "feature": "feature_0", "high": 10, "tolerance": 0.5}],
        "comparisons": [{"dimension": "of", "a": a, "b": b} for a, b in pairs],
    }
    async with pages_of(store) as pages:
        (await pages.post("/v1/monitors", json=request)).raise_for_status()
    [monitor] = store.records.all(Monitor)
    closes = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(REAL_ROUNDS):
        play(store, closes, monitor, number, lambda probe, n: {"feature_0": float(n % 5)})
    real = list(store.records.all(Round))
    parts = {part.run_id: part for part in store.records.all(RoundEvidence)}
    for number in range(REAL_ROUNDS, rounds):
        original = real[number % REAL_ROUNDS]
        at = monitor.since + timedelta(hours=number)
        changes = {"run_id": derived_id("round", number), "round": number, "at": at}
        copies = [
            record.model_copy(update=changes) for record in (original, parts[original.run_id])
        ]
        store.records.write(
            [type(copy).model_validate(copy.model_dump(exclude={"id"})) for copy in copies]
        )


def pages_of(store: Store) -> httpx2.AsyncClient:
    """Return a client of the gateway in this process."""
    transport = httpx2.ASGITransport(app=api_on(store))
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=600)


async def measured(store: Store, others: Sequence[str] = ()) -> int:
    """Request each page, and others, and print its least CPU time."""
    run = max((r for r in store.records.all(Run) if r.suite == "large"), key=lambda r: r.at)
    at = f"/runs/{run.id}"
    monitors = {monitor.name: monitor for monitor in store.records.all(Monitor)}
    comparison = monitors["long"].plan.all_comparisons[0].key
    [sample] = store.records.read(LabelSample, run_id=run.id)
    addresses = [
        *("/", at, f"{at}/answers", f"{at}/answers?group=of=group 03", f"{at}/twins?set=s7"),
        *("/monitors/long", "/monitors/long?span=day", f"/monitors/long?comparison={comparison}"),
        *("/monitors/long/charts.json", "/monitors/long/alarms", "/compare"),
        *(f"/monitors/{STRATIFIED}", f"/monitors/{STRATIFIED}/strata"),
        *(f"{at}/label/{sample.id}", f"{at}/label/{sample.id}?hide=1"),
        LIST,
        *(f"/compare?before={run.id}&after={run.id}", "/extractors", "/traffic", "/audit", "/docs"),
        *others,
    ]
    over = False
    async with pages_of(store) as pages:
        for address in addresses:
            times, size = [], 0
            for _ in range(TRIES):
                start = time.process_time()
                reply = await pages.get(address)
                times.append(1e3 * (time.process_time() - start))
                size = len(reply.content) >> 10
                if reply.status_code != 200:
                    raise RuntimeError(f"{address}: {reply.status_code} {reply.text[:200]}")
            over |= min(times) > (LIST_BAR_MS if address == LIST else BAR_MS)
            shown = address.replace(run.id, "RUN").replace(sample.id, "SAMPLE")
            print(f"{min(times):7.0f} ms (first {times[0]:5.0f})  {size:5} KB  {shown}")
    print(f"bar: {BAR_MS:.0f} ms of CPU a page, {LIST_BAR_MS:.0f} the list of {LISTED} runs")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
