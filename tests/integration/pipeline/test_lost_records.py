"""Each kind of record is lost after the bus took it and before one reader has it, with keys."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.services.gateway.runs.commands import cancellation_of
from biaswatch.shared.contracts import (
    Brief,
    Cancellation,
    Completion,
    Correction,
    Diagnosis,
    Evaluation,
    ExtractorPin,
    Features,
    Judging,
    Label,
    Monitor,
    PairVerdict,
    Probe,
    Record,
    Response,
    Round,
    Run,
    Suite,
    SuiteProbe,
    Upkeep,
    labels_digest,
    route_of,
)
from biaswatch.shared.requests.run_views import RunState
from tests.support.bbq_rows import make_bbq_row
from tests.support.databases import new_database
from tests.support.keyed_platform import BUILT, KeyedPlatform, keyed_platform
from tests.support.labelled_run import labelled, write_labelled_run
from tests.support.records import make_brief, make_monitor, make_plan, make_run, make_target
from tests.support.waiting import eventually

COASTS = Suite(
    name="coasts",
    extractors=("words",),
    features=("words",),
    probes=tuple(
        SuiteProbe(
            key=f"{set_}-{group}", prompt=f"Tell {set_} of {group}.", set=f"s{set_}",
            groups={"concept": group},
        )
        for set_ in range(3)
        for group in ("France", "Peru")
    ),
)  # fmt: skip
PAIRS = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(4)], name="rows")
SIMULATED = make_target(name="simulator:unbiased", provider="simulator", model="unbiased")
STUDY: list[tuple[type[Record], str]] = [
    (Run, "planner"), (Run, "recorder"), (Probe, "generator"),
    (Response, "extractor"), (Response, "recorder"), (Features, "planner"), (Features, "recorder"),
    (Completion, "diagnoser"), (Completion, "recorder"), (Diagnosis, "recorder"),
]  # fmt: skip
JUDGED: list[tuple[type[Record], str]] = [
    (Completion, "oracle"), (Response, "oracle"), (PairVerdict, "recorder"),
]  # fmt: skip
GRADED: list[tuple[type[Record], str]] = [
    (Brief, "evaluator"), (Response, "evaluator"), (Evaluation, "recorder"), (Probe, "generator"),
]  # fmt: skip
LABELLED: list[tuple[type[Record], str]] = [(Label, "diagnoser"), (Correction, "recorder")]
WATCHED: list[tuple[type[Record], str]] = [
    (Monitor, "planner"), (Run, "planner"), (Probe, "generator"), (Response, "extractor"),
    (Features, "planner"), (Completion, "diagnoser"), (Round, "recorder"),
]  # fmt: skip


def named(case: object) -> str:
    return case if isinstance(case, str) else getattr(case, "kind", str(case))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def empty_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, request, tmp_path)


@pytest_asyncio.fixture
async def platform(store_url: str, tmp_path: Path) -> AsyncIterator[KeyedPlatform]:
    async with keyed_platform(tmp_path, store_url) as here:
        for suite in (COASTS, PAIRS):
            here.store.suites.keep(suite, datetime.now(UTC))
        yield here


async def start_all_but_one_reader(here: KeyedPlatform, kind: type[Record], reader: str) -> None:
    for name in BUILT:
        await here.start(name, without=kind if name == reader else None, repairs=False)


async def lose_and_go_on(here: KeyedPlatform, kind: type[Record], *leave: str) -> None:
    assert await here.lose(route_of(kind)) > 0
    await here.stop_all()
    for name in BUILT.keys() - set(leave):
        await here.start(name)


def run_of(suite: Suite, **fields: object) -> Run:
    given = {
        "at": datetime.now(UTC), "suite": suite.name, "suite_hash": suite.hash,
        "targets": (SIMULATED,),
        "extractors": tuple(ExtractorPin(name=name, version="1") for name in suite.extractors),
    }  # fmt: skip
    return make_run(**{**given, **fields})


async def pinned(here: KeyedPlatform, suite: Suite, **fields: object) -> Run:
    """Make a run for the versions that are running."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    await eventually(lambda: len(here.store.extractors.running(began)) > 1)
    running = {item.name: item.version for item in here.store.extractors.running(began)}
    pins = tuple(
        ExtractorPin(name=extractor, version=running[extractor]) for extractor in suite.extractors
    )
    return run_of(suite, extractors=pins, **fields)


@pytest.mark.parametrize(("kind", "reader"), STUDY, ids=named)
async def test_a_run_ends_exact_whatever_the_bus_loses(
    platform: KeyedPlatform, kind: type[Record], reader: str
) -> None:
    await start_all_but_one_reader(platform, kind, reader)
    run = await pinned(platform, COASTS)
    assert platform.commands.opening_of(run) == 0
    platform.commands.store_run(run)
    await platform.publish(run)
    await lose_and_go_on(platform, kind)
    await platform.ended(run)
    # Answers that were measured, and lost before they were recorded, may come after the findings.
    await eventually(lambda: platform.queries.progress(run.id).responses == 6)
    ended = platform.queries.progress(run.id)
    assert (ended.probes, ended.features, ended.diagnoses) == (6, 6, 1)
    [result] = platform.store.records.read(Diagnosis, run_id=run.id)
    assert [(group.responses, group.missing) for group in result.groups] == [(3, 0), (3, 0)]


@pytest.mark.parametrize(("kind", "reader"), JUDGED, ids=named)
async def test_every_pair_is_judged_whatever_the_bus_loses(
    platform: KeyedPlatform, kind: type[Record], reader: str
) -> None:
    await start_all_but_one_reader(platform, kind, reader)
    run = await pinned(platform, PAIRS, judging=Judging(seed=1, controls_per_kind=4))
    assert platform.commands.opening_of(run) == 0
    platform.commands.store_run(run)
    await platform.publish(run)
    await lose_and_go_on(platform, kind)
    ended = await platform.ended(run)
    assert ended.verdicts == ended.verdicts_expected > 1


@pytest.mark.parametrize(("kind", "reader"), GRADED, ids=named)
async def test_every_report_is_graded_whatever_the_bus_loses(
    platform: KeyedPlatform, kind: type[Record], reader: str
) -> None:
    await start_all_but_one_reader(platform, kind, reader)
    brief = make_brief(at=datetime.now(UTC), writer=SIMULATED, judges=(SIMULATED,))
    platform.store.records.write([brief])
    await platform.publish(brief)
    await lose_and_go_on(platform, kind)
    await eventually(lambda: platform.queries.interpretation(brief.id).evaluation)
    evaluation = platform.queries.interpretation(brief.id).evaluation
    assert evaluation is not None
    assert evaluation.report
    assert evaluation.judgements


@pytest.mark.parametrize(("kind", "reader"), WATCHED, ids=named)
async def test_every_round_ends_exact_whatever_the_bus_loses(
    platform: KeyedPlatform, kind: type[Record], reader: str
) -> None:
    await start_all_but_one_reader(platform, kind, reader)
    await pinned(platform, COASTS)  # once the extractors are running
    now = datetime.now(UTC)
    monitor = make_monitor(
        at=now, since=now, moment_ms=int(now.timestamp() * 1000),
        plan=make_plan(suite=COASTS.name, suite_hash=COASTS.hash, target=SIMULATED),
        upkeep=Upkeep(cadence_s=3600, most_rounds=1),
    )  # fmt: skip
    platform.store.records.write([monitor])
    await platform.publish(monitor)
    await lose_and_go_on(platform, kind)
    await eventually(lambda: platform.store.rounds.closed(monitor) == 1)
    closed = platform.store.rounds.get(monitor, 0)
    assert closed is not None
    assert platform.store.records.count(Features, run_id=closed.run_id) == 6


@pytest.mark.parametrize("reader", ["planner", "oracle"])
async def test_a_cancelled_run_ends_though_the_bus_loses_its_cancellation(
    platform: KeyedPlatform, reader: str
) -> None:
    for name in BUILT:
        if name != "generator":
            blind = Cancellation if name == reader else None
            await platform.start(name, without=blind, repairs=False)
    run = await pinned(platform, COASTS)
    assert platform.commands.opening_of(run) == 0
    platform.commands.store_run(run)
    await platform.publish(run)
    await eventually(lambda: platform.queries.progress(run.id).state is RunState.RUNNING)
    cancellation = cancellation_of(run, platform.commands.now())
    platform.store.records.write([cancellation])
    await platform.publish(cancellation)
    await lose_and_go_on(platform, Cancellation, "generator")
    await platform.ended(run, RunState.CANCELLED)


@pytest.mark.parametrize(("kind", "reader"), LABELLED, ids=named)
async def test_labels_correct_findings_whatever_the_bus_loses(
    platform: KeyedPlatform, kind: type[Record], reader: str
) -> None:
    await start_all_but_one_reader(platform, kind, reader)
    run, truth = write_labelled_run(platform.store)
    labels = labelled(platform.store, run, truth)
    for label in labels:
        await platform.publish(label)
    await lose_and_go_on(platform, kind)

    def corrected() -> bool:
        content = platform.store.records.read(Correction, run_id=run.id)
        return labels_digest(label.id for label in labels) in {item.labels_hash for item in content}

    await eventually(corrected)


async def test_labels_that_were_stored_and_never_published_correct_findings_too(
    platform: KeyedPlatform,
) -> None:
    run, truth = write_labelled_run(platform.store)
    labelled(platform.store, run, truth)  # the gateway was killed here
    for name in ("diagnoser", "recorder"):
        await platform.start(name)
    await eventually(lambda: platform.store.records.count(Correction, run_id=run.id) == 1)
