"""The operator is unready while the gateway or the API server is away, and says why."""

import asyncio
from collections.abc import Callable

import pytest

from biaswatch.services.operator import app
from biaswatch.services.operator.app import OperatorHealth, report_dependencies
from biaswatch.services.operator.handlers.cluster import ClusterApi
from biaswatch.services.operator.handlers.gateway import GatewayApi
from tests.support.waiting import eventually

Reason = Callable[[], str | None]


class Cluster(ClusterApi):
    """An API server that is away for a reason, or silent."""

    def __init__(self, why: str | None = None) -> None:
        super().__init__(["biaswatch"])
        self.why, self.silent = why, False

    async def missing_definitions(self) -> str | None:
        if self.silent:
            await asyncio.Event().wait()
        return self.why


class Gateway(GatewayApi):
    """A gateway that answers."""

    async def trouble(self) -> str | None:
        return None


async def reported(
    gateway: GatewayApi, cluster: Cluster, *steps: Callable[[], object]
) -> list[str]:
    """Return what the operator reports at first and after each step, once it has changed."""
    health, started = OperatorHealth(), asyncio.Event()
    started.set()
    reporting = asyncio.create_task(report_dependencies(started, health, gateway, cluster))
    reports: list[str] = [health.why]
    for step in (lambda: None, *steps):
        step()
        await eventually(lambda: health.why != reports[-1])
        reports.append(health.why)
        assert health.ready is (health.why == "working")
    reporting.cancel()
    await gateway.close()
    return reports[1:]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "CHECK_EVERY_S", 0.02)


async def test_a_gateway_that_is_away_is_named() -> None:
    [why] = await reported(GatewayApi("http://127.0.0.1:9", None), Cluster())
    assert why.startswith("The gateway at http://127.0.0.1:9 does not answer")


async def test_it_is_ready_again_once_the_api_server_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "CHECK_S", 0.05)
    cluster = Cluster("The API server does not answer.")
    reports = await reported(
        Gateway("http://gateway", None),
        cluster,
        lambda: setattr(cluster, "why", None),
        lambda: setattr(cluster, "silent", True),
    )
    silent = "The API server has not answered within 0.05 s."
    assert reports == ["The API server does not answer.", "working", silent]
