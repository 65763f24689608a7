"""What one tenant may have at once: refused with a sentence beyond it, and nobody else's affair."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    RUN_GATHER,
    ExtractorStatus,
    Monitor,
    MonitorState,
    Suite,
    SuiteProbe,
)
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.records import make_monitor
from tests.support.waiting import PATIENCE_S

NOW = datetime.now(UTC)
PROBES = [
    SuiteProbe(key=group, prompt="?", set="s", groups={"concept": group}) for group in ("a", "b")
]
SUITE = Suite(name="coasts", extractors=("words",), probes=tuple(PROBES))
MONITOR: dict[str, Any] = {
    "suite_hash": SUITE.hash,
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "concept", "a": "a", "b": "b"}],
}
RUN: dict[str, Any] = {"suite_hash": SUITE.hash, "targets": ["simulator:unbiased"]}
TENANTS = ("hiring", "lending")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
        yield store


class Callers:
    """One caller of each tenant, who may start things."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def post(
        self, path: str, body: object = None, tenant: str = TENANTS[0]
    ) -> tuple[int, Any]:
        """Ask for something; return the status and what was said."""
        headers = {"Authorization": f"Bearer {tenant}"}
        reply = await self._client.post(path, json=body, headers=headers)
        return reply.status_code, reply.json()


@asynccontextmanager
async def gateway(
    bus: ProvisionedBus, store: Store, folder: Path, **limits: Any
) -> AsyncIterator[Callers]:
    grants = [
        {"name": tenant, "role": "run", "tenant": tenant, "verifier": verifier_of(tenant)}
        for tenant in TENANTS
    ]
    path = folder / "tokens.yaml"
    path.write_text(yaml.safe_dump({"tokens": grants}))
    settings = GatewaySettings(gateway_tokens_file=path, **limits)
    app = web_app(settings, store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        callers = Callers(client)
        for tenant in TENANTS:
            body = SUITE.model_dump(mode="json", exclude_defaults=True)
            assert (await callers.post("/v1/suites", body, tenant))[0] == 200
        yield callers


async def test_a_tenant_with_all_its_monitors_may_change_them_and_delete_one_for_another(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    async with gateway(bus, store, tmp_path, gateway_monitors=2) as callers:
        for name in ("one", "two"):
            assert (await callers.post("/v1/monitors", {**MONITOR, "name": name}))[0] == 200
        assert (await callers.post("/v1/monitors/one/pause"))[0] == 202
        status, body = await callers.post("/v1/monitors", {**MONITOR, "name": "three"})
        assert status == 422
        assert body["detail"].startswith("The tenant hiring has 2 monitors, and 2 are allowed.")
        changed = {**MONITOR, "name": "one", "cadence": "1d"}
        assert (await callers.post("/v1/monitors", changed))[0] == 200
        rest = await callers.post("/v1/monitors", {**MONITOR, "name": "three"}, TENANTS[1])
        assert rest[0] == 200
        gone = await callers._client.delete(
            "/v1/monitors/two", headers={"Authorization": "Bearer hiring"}
        )
        assert gone.status_code == 202
        assert (await callers.post("/v1/monitors", {**MONITOR, "name": "three"}))[0] == 200
        # A monitor that was deleted is one more when it is applied again.
        assert (await callers.post("/v1/monitors", {**MONITOR, "name": "two"}))[0] == 422


async def test_monitors_that_are_added_at_once_keep_the_limit(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    async with gateway(bus, store, tmp_path, gateway_monitors=3) as callers:
        requests = ({**MONITOR, "name": f"m{n}"} for n in range(12))
        replies = await asyncio.gather(*(callers.post("/v1/monitors", r) for r in requests))
        assert sorted(status for status, _ in replies) == 3 * [200] + 9 * [422]


async def test_a_tenant_with_all_its_runs_under_way_may_ask_for_them_again_and_waits_for_others(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    async with gateway(bus, store, tmp_path, gateway_runs_under_way=2) as callers:
        ids = []
        for repeats in (1, 2):
            status, body = await callers.post("/v1/runs", {**RUN, "repeats": repeats})
            assert status == 201
            ids.append(body["run"]["id"])
        third = {**RUN, "repeats": 3}
        status, body = await callers.post("/v1/runs", third)
        assert status == 422
        assert body["detail"].startswith("2 runs of the tenant hiring are under way, and 2 may be")
        assert (await callers.post("/v1/runs", {**RUN, "repeats": 2}))[0] == 201
        assert (await callers.post("/v1/runs", third, TENANTS[1]))[0] == 201
        gathers, later = store.gathers(RUN_GATHER), NOW + timedelta(hours=1)
        gathers.expect(ids[0], ["f1"], deadline=later, now=NOW)
        assert (await callers.post("/v1/runs", third))[0] == 422, "it is planned, and under way"
        assert gathers.cancel(ids[0], NOW)
        gathers.emitted(ids[0], NOW)
        gathers.recorded(ids[0], 0, NOW)
        assert (await callers.post("/v1/runs", third))[0] == 201
        # A run that was cancelled is one more under way when it is taken up again.
        assert (await callers.post("/v1/runs", {**RUN, "repeats": 1}))[0] == 422


async def test_a_tenant_with_all_its_suites_may_send_them_again_and_no_other_one(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    async with gateway(bus, store, tmp_path, gateway_suites=2) as callers:
        second, third = (
            {**SUITE.model_dump(mode="json", exclude_defaults=True), "name": name}
            for name in ("rivers", "lakes")
        )
        assert (await callers.post("/v1/suites", second))[0] == 200
        status, body = await callers.post("/v1/suites", third)
        assert status == 422
        assert body["detail"].startswith("The tenant hiring has 2 suites, as many as are allowed.")
        assert (await callers.post("/v1/suites", second))[0] == 200
        assert (await callers.post("/v1/suites", third, TENANTS[1]))[0] == 200
        assert len(store.suites.latest(10)) == 3
        assert (await callers.post("/v1/suites", third))[0] == 422, "another tenant has it"


def test_of_a_monitor_that_was_changed_often_the_last_definition_alone_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [
        make_monitor(name=name, tenant=tenant, moment_ms=n, at=NOW + timedelta(seconds=n // 2))
        for n in range(50)
        for name in ("one", "two")
        for tenant in TENANTS
    ]
    deleted = make_monitor(name="two", moment_ms=50, at=NOW, state=MonitorState.DELETED)
    store.records.write([*changes, deleted])
    decoded: list[str] = []
    whole = store.records._assembled

    def counting(kind: Any, rows: Any, *more: Any, **named: Any) -> Any:
        decoded.extend(row["id"] for row in rows)
        return whole(kind, rows, *more, **named)

    monkeypatch.setattr(store.records, "_assembled", counting)
    result = store.monitor_definitions.latest()
    last: dict[tuple[str, str], Monitor] = {}
    for item in sorted([*changes, deleted], key=lambda monitor: monitor.moment_ms):
        last[item.tenant, item.name] = item
    assert {(item.tenant, item.name): item for item in result} == last
    assert len(decoded) <= 2 * len(last)
