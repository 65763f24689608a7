"""What begins as a tenant's stays the tenant's: every record that any service makes of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.shared.contracts import (
    ROUTES,
    ExtractorPin,
    Judging,
    Suite,
    SuiteProbe,
    Upkeep,
    record_of,
)
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from biaswatch.shared.store.tables import RECORDS
from tests.support.bbq_rows import make_bbq_row
from tests.support.keyed_platform import BUILT, keyed_platform
from tests.support.records import make_brief, make_monitor, make_plan, make_run, make_target
from tests.support.waiting import eventually

TENANT = "hiring"
COASTS = Suite(
    name="coasts",
    extractors=("words",),
    features=("words",),
    probes=tuple(
        SuiteProbe(key=group, prompt=f"Tell of {group}.", set="s", groups={"concept": group})
        for group in ("France", "Peru")
    ),
)
PAIRS = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(2)], name="rows")
SIMULATED = make_target(name="simulator:unbiased", provider="simulator", model="unbiased")
NOT_MADE = {
    *("assessment", "description", "alarm", "cancellation"),
    *("label_sample", "label", "correction"),
}
"""What this study, its pairs, its report and its round do not leave: nobody labels anything."""


@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
async def test_whatever_follows_from_a_tenants_work_is_the_tenants(
    store_url: str, tmp_path: Path
) -> None:
    async with keyed_platform(tmp_path, store_url) as here:
        for suite in (COASTS, PAIRS):
            here.store.suites.keep(suite, datetime.now(UTC))
        for name in BUILT:
            await here.start(name)
        began = datetime(2026, 1, 1, tzinfo=UTC)
        await eventually(lambda: len(here.store.extractors.running(began)) > 1)
        versions = {item.name: item.version for item in here.store.extractors.running(began)}
        runs = [
            make_run(
                tenant=TENANT, at=datetime.now(UTC), suite=suite.name, suite_hash=suite.hash,
                targets=(SIMULATED,), judging=judging,
                extractors=tuple(
                    ExtractorPin(name=name, version=versions[name]) for name in suite.extractors
                ),
            )
            for suite, judging in ((COASTS, None), (PAIRS, Judging(seed=1, controls_per_kind=4)))
        ]  # fmt: skip
        now = datetime.now(UTC)
        monitor = make_monitor(
            tenant=TENANT, at=now, since=now, moment_ms=int(now.timestamp() * 1000),
            plan=make_plan(suite=COASTS.name, suite_hash=COASTS.hash, target=SIMULATED),
            upkeep=Upkeep(cadence_s=3600, most_rounds=1),
        )  # fmt: skip
        brief = make_brief(tenant=TENANT, at=now, writer=SIMULATED, judges=(SIMULATED,))
        here.store.records.write([brief, *runs])  # as the gateway does, before it sends them
        for record in (*runs, monitor, brief):
            await here.publish(record)
        for run in runs:
            await here.ended(run)
        await eventually(lambda: here.store.rounds.closed(monitor) == 1)
        await eventually(lambda: here.queries.interpretation(brief.id).evaluation)
        await eventually(lambda: missing_kinds(here.store) == set())
        assert of_others(here.store) == {}


def missing_kinds(store: Store) -> set[str]:
    """Return the kinds of which the tenant has no record yet."""
    records = store.scoped(lambda: Scope(tenant=TENANT)).records
    return {kind for kind in RECORDS if not records.count(record_of(kind))} - NOT_MADE


def of_others(store: Store) -> dict[str, int]:
    """Count the records that belong to anybody else, by kind."""
    records = store.scoped(lambda: Scope(tenant=TENANT)).records
    kinds = [route.record for route in ROUTES if route.record.kind in RECORDS]
    counts = {kind.kind: store.records.count(kind) - records.count(kind) for kind in kinds}
    return {kind: count for kind, count in counts.items() if count}
