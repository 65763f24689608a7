"""A gateway on a store with runs and monitors whose names and texts are hostile, for a browser."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote

import httpx2

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.shared.contracts import (
    Diagnosis,
    Estimate,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Gap,
    GroupSummary,
    Monitor,
    OverallTest,
    Probe,
    Record,
    Run,
    Suite,
    SuiteProbe,
    Verdict,
    probes_of,
)
from biaswatch.shared.store import Store, migrate
from tests.support.judged_run import RUN as JUDGED
from tests.support.judged_run import write_judged_run
from tests.support.monitored import play
from tests.support.records import make_diagnosis, make_response, make_run
from tests.support.served_pages import served
from tests.support.stratified_traffic import NAME as STRATIFIED
from tests.support.stratified_traffic import stratified_traffic

NASTY = "<script>taken=1</script><img src=x onerror=taken=1>"
TURNING = "\u202e"
HUGE = "long" * 100
FEATURES = ("words", "words_per_sentence", "a_number_with_a_long_name")
GROUPS = (NASTY, f"turned {TURNING}around", HUGE, *(f"group {n}" for n in range(18)))
SETS, ROUNDS = 4, 6
RELEASED = "released"
"""The monitor that sees another model."""
SUITE = Suite(
    name="browsed",
    about=NASTY,
    extractors=("words",),
    probes=tuple(
        SuiteProbe(
            key=f"{n:02}-{i:02}", prompt=f"On {group}?", set=f"s{n:02}", groups={"of": group}
        )
        for n in range(SETS)
        for i, group in enumerate(GROUPS)
    ),
)
RUN = make_run(
    suite=SUITE.name, suite_hash=SUITE.hash, extractors=(ExtractorPin(name="words", version="1"),)
)


def chromium_path() -> str | None:
    """Return the Chromium of this machine, if it has one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def pages_of() -> list[str]:
    """Return the address of every page."""
    return [
        "/",
        f"/runs/{RUN.id}",
        f"/runs/{RUN.id}/answers",
        f"/runs/{RUN.id}/board",
        f"/runs/{RUN.id}/twins?set=s01",
        "/monitors/browsed",
        "/monitors/browsed/alarms",
        f"/monitors/{RELEASED}",
        f"/monitors/{RELEASED}/alarms",
        f"/runs/{JUDGED.id}",
        f"/runs/{JUDGED.id}/answers",
        f"/monitors/{STRATIFIED}",
        f"/monitors/{STRATIFIED}/strata",
        "/compare",
        f"/compare?before={RUN.id}&after={RUN.id}",
        f"/compare?run={RUN.id}&run={JUDGED.id}",
        "/searches",
        "/start/search",
        f"/start/monitor?suite={SUITE.hash}",
        "/start",
        f"/start?suite={SUITE.hash}&targets={quote('simulator:unbiased')}",
        f"/start?suite={SUITE.hash}&targets={quote(NASTY)}",
        "/extractors",
        "/traffic",
        "/audit",
        "/docs",
    ]


@contextmanager
def browsed_platform(folder: Path) -> Iterator[str]:
    """Serve the pages in a thread of their own; the address ends without a slash."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        _fill(store)
        with served(store, partial(_watch, store=store)) as address:
            store.records.write(stratified_traffic([NASTY, f"turned {TURNING}around", HUGE]))
            yield address


def _fill(store: Store) -> None:
    store.suites.keep(SUITE, datetime.now(UTC))
    store.extractors.announce(ExtractorStatus("words", "1", FEATURES, datetime.now(UTC)))
    store.records.write([RUN, *_answers(RUN), *(_finding(name) for name in FEATURES)])
    write_judged_run(store, NASTY)


def _answers(run: Run) -> Iterator[Record]:
    for n, probe in enumerate(probes_of(run, SUITE, run.at)):
        response = make_response(probe=probe, text=f"{NASTY} {HUGE} {TURNING} answer {n}")
        yield response
        yield Features(
            at=run.at, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor="words", extractor_version="1",
            values={name: float(n % 7) for name in FEATURES} if n % 9 else {},
            unscorable=None if n % 9 else "nothing to read",
        )  # fmt: skip


def _finding(feature: str) -> Diagnosis:
    means = [Estimate(value=n / 2, low=n / 2 - 1, high=n / 2 + 1) for n in range(len(GROUPS))]
    return make_diagnosis(
        run_id=RUN.id, target=RUN.targets[0].name, extractor="words", feature=feature,
        dimension="of",
        groups=tuple(
            GroupSummary(
                group=name, responses=SETS, missing=n % 2, units=SETS, mean=mean,
                missing_reasons={"refused": 1} if n % 2 else {},
                shrunken_mean=Estimate(value=5.0), rank=Estimate(value=n + 1, low=1, high=21),
            )
            for n, (name, mean) in enumerate(zip(GROUPS, means, strict=True))
        ),
        gaps=tuple(
            Gap(
                a=name, b="the rest", gap=mean, p_value=0.001 * n, p_adjusted=0.02 * n,
                verdict=list(Verdict)[n % 3], reason="a sentence that says why it is so",
            )
            for n, (name, mean) in enumerate(zip(GROUPS, means, strict=True))
        ),
        overall=OverallTest(groups=21, units=84, statistic=1.0, p_value=0.03, permutations=1000),
    )  # fmt: skip


async def _watch(address: str, store: Store) -> None:
    """Apply monitors, and close rounds in which one group's answers are longer.

    One of them sees another model from its middle on, which begins a second epoch.
    """
    asked = {
        "name": "browsed",
        "suite_hash": SUITE.hash,
        "target": "simulator:unbiased",
        "cadence": "6h",
        "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
        "comparisons": [
            {"dimension": "of", "a": NASTY, "b": HUGE},
            {"dimension": "of", "a": "group 1", "b": "group 2"},
        ],
    }
    async with httpx2.AsyncClient(base_url=address, timeout=60) as api:
        for name in ("browsed", RELEASED):
            applied = await api.post("/v1/monitors", json={**asked, "name": name})
            applied.raise_for_status()
    monitors = {item.name: item for item in store.records.all(Monitor)}
    closes = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(ROUNDS * 4):
        play(store, closes, monitors["browsed"], number, _longer)
    for number in range(ROUNDS * 2):
        model = "m-1" if number < ROUNDS else f"m-2 {NASTY}"
        play(store, closes, monitors[RELEASED], number, _longer, model)


def _longer(probe: Probe, _: int) -> dict[str, float | None]:
    """Return an answer's length: one group's are longer."""
    return {"words": 9.0 if probe.groups["of"] == NASTY else 1.0}
