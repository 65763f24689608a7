"""A run with its findings, or a monitor with its history, as exports read them."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import RunResults, run_results, whole_run_id, with_background
from biaswatch.shared.contracts import is_id
from biaswatch.shared.requests.monitor_views import History, MonitorView
from biaswatch.shared.requests.run_views import FlaggedPair


@dataclass(frozen=True)
class ReportedRun:
    """A run with everything that its report shows."""

    results: RunResults
    flagged: Sequence[FlaggedPair]


@dataclass(frozen=True)
class WatchedMonitor:
    """A monitor with the evidence of its rounds."""

    view: MonitorView
    histories: Sequence[History]


async def watched_monitor(client: GatewayClient, name: str) -> WatchedMonitor | None:
    """Return the monitor with a name; None without one."""
    if is_id(name) or name not in {monitor.name for monitor in await client.monitors()}:
        return None
    histories = await client.read(list[History], path("monitors", name, "history"))
    return WatchedMonitor(await client.monitor(name), histories)


async def source_named(client: GatewayClient, name: str) -> ReportedRun | WatchedMonitor:
    """Return the monitor with a name, or the run with an id or its beginning.

    Raises
    ------
    UsageError
        Neither exists.
    """
    if (monitor := await watched_monitor(client, name)) is not None:
        return monitor
    run_id = await whole_run_id(client, name)
    results = await with_background(client, await run_results(client, run_id))
    return ReportedRun(results, await client.flagged(run_id))
