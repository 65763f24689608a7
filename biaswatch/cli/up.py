"""The verb `up`, and the monitor that `up --demo` shows."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import FREE_PORTS, AddressFile, MetricsAddress, RunningPlatform
from biaswatch.readers.suite_names import DEMO_SUITE
from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import check_local, read_target
from biaswatch.render.terminal import printable
from biaswatch.shared.bus.server import check_unused
from biaswatch.shared.contracts import Alarm, AlarmState, Suite
from biaswatch.shared.llm.local_models import SMOLLM2
from biaswatch.shared.requests.monitor_views import AppliedMonitor, MonitorView
from biaswatch.shared.runtime.health import HealthServer, ServiceHealth, combined_health
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.telemetry import configure_logs

NAME = "demo"
CADENCE_S, MAX_ROUNDS = 2, 60
POLL_S = 0.5


def up(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The gateway's port; 0 takes a free one.")
    ] = 8080,
    as_processes: Annotated[
        bool, typer.Option("--processes", help="Each service as its own process.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Show a monitor of a simulated model, and its alarm.")
    ] = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Check that SmolLM2 is installed, as local:smollm2.")
    ] = False,
) -> None:
    """Run every service here, until Ctrl-C."""
    if llm:
        check_local([read_target(f"local:{SMOLLM2}")])
    settings = load_settings(Settings)
    address = AddressFile(settings.state_dir)
    address.read()
    check_unused(settings.state_dir / "nats")  # before the seconds that the imports take
    with address.starting():
        _serve(settings, address, port, as_processes=as_processes, demo=demo, llm=llm)


def _serve(
    settings: Settings,
    address: AddressFile,
    port: int,
    *,
    as_processes: bool,
    demo: bool,
    llm: bool,
) -> None:
    _progress("Starting: loading the services (seconds; minutes on a busy machine)")
    from biaswatch.local.platform import embedded_platform

    if demo and "log_level" not in settings.model_fields_set:
        settings = settings.model_copy(update={"log_level": "ERROR"})  # the demo prints lines
    configure_logs(settings.log_level)
    metrics = metrics_address(settings, port)
    services: list[Service] = []
    words = metrics_of_processes(metrics) if as_processes else served_health(metrics, services)

    async def serve() -> None:
        async with embedded_platform(
            settings,
            port=port,
            as_processes=as_processes,
            metrics=metrics,
            progress=_progress,
            started=services.extend,
        ) as started:
            here = replace(started, metrics=words)
            address.write(here)
            typer.echo(addresses(here, settings.state_dir))
            if llm:
                typer.echo(f"  a model    local:{SMOLLM2}, which the first question starts")
            try:
                if demo:
                    await _demonstrate(here.url)
                await asyncio.Event().wait()
            finally:
                address.remove()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        typer.echo("Stopped; the store and the bus keep everything.")


def metrics_address(settings: Settings, port: int) -> MetricsAddress:
    """Return the first address of metrics: this machine, and a free port beside a free `port`."""
    is_set = settings.model_fields_set
    return MetricsAddress(
        settings.health_host if "health_host" in is_set else FREE_PORTS.host,
        settings.health_port if port or "health_port" in is_set else FREE_PORTS.port,
    )


def metrics_of_processes(first: MetricsAddress) -> str:
    """Say where each service serves its metrics."""
    from biaswatch.local.platform import SERVICES

    if not first.port:
        return "a port of each process: its log names it"
    last = first.port + len(SERVICES) - 1
    return f"http://{first.host}:{first.port}/metrics ({SERVICES[0]}) to {last} ({SERVICES[-1]})"


def served_health(address: MetricsAddress, services: Sequence[Service]) -> str:
    """Serve health and metrics of this process; return the URL of the metrics.

    Raises
    ------
    ConfigurationError
        The port cannot be opened.
    """

    def state() -> ServiceHealth:
        return combined_health("platform", [service.state() for service in services])

    server = HealthServer(address.host, address.port, state)
    return f"http://{address.host}:{server.port}/metrics"


def _progress(step: str) -> None:
    typer.echo(f"{step} ...", err=True)


def addresses(here: RunningPlatform, state_dir: Path) -> str:
    """Return the addresses of a platform, a line each."""
    return "\n".join(
        (
            "biaswatch is up. Ctrl-C stops it.",
            f"  dashboard  {here.url}",
            f"  API        {here.url}/docs",
            f"  metrics    {here.metrics}",
            f"  bus        {here.nats_url} (for drop-in extractors: NATS_URL)",
            f"  state      {state_dir.resolve()}",
        )
    )


async def _demonstrate(url: str) -> None:
    client = GatewayClient(url)
    try:
        await show_demo(client, url, lambda line: typer.echo(printable(line)))
    finally:
        await client.close()


def demo_file(suite: Suite) -> dict[str, Any]:
    """Return the monitor of `examples/monitor.yaml` with rounds of seconds."""
    return {
        "name": NAME,
        "suite_hash": suite.hash,
        "target": "simulator:biased",
        "cadence": f"{CADENCE_S}s",
        "most_rounds": MAX_ROUNDS,
        "features": [
            {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, "tolerance": 0.1}
        ],
        "comparisons": [
            {"dimension": "race", "a": "black", "b": "white"},
            {"dimension": "gender", "a": "female", "b": "male"},
        ],
        "random": [],  # a conclusion about these names and texts: the suite has few of them
        "owners": ["demo"],
    }


async def show_demo(client: GatewayClient, url: str, say: Callable[[str], None]) -> None:
    """Apply the monitor, wait for its first alarm or its end, and say which came."""
    suite = load_suite(DEMO_SUITE)
    await client.upload_suite(suite)
    applied = await client.apply_monitor(demo_file(suite))
    for line in start_lines(applied, url):
        say(line)
    started = monotonic()
    while True:
        view = await client.monitor(NAME)
        raised = [alarm for alarm in view.alarms if alarm.state is AlarmState.RAISED]
        if raised or view.status.ended:
            break
        await asyncio.sleep(POLL_S)
    lines = alarm_lines(raised[0], monotonic() - started, url) if raised else ended_lines(view)
    for line in lines:
        say(line)


def start_lines(applied: AppliedMonitor, url: str) -> Iterator[str]:
    """Lines that name the monitor and its page."""
    state = "starts" if applied.anew else "exists already"
    yield (
        f"The monitor {NAME} {state}: it asks the simulated model simulator:biased a round of"
        f" questions every {CADENCE_S} seconds, at most {MAX_ROUNDS} rounds."
    )
    yield f"  its page   {url}/monitors/{NAME}"
    yield "Waiting for its first alarm: less than a minute on an idle machine."


def alarm_lines(alarm: Alarm, after_s: float, url: str) -> Iterator[str]:
    """Lines of an alarm, and where to see the answers behind it."""
    yield f"Alarm in round {alarm.round}, after {after_s:.0f} s:"
    yield f"  {alarm.words or alarm.reason}"
    yield f"  the answers behind it   {url}/monitors/{NAME}/alarms"
    yield f"                          biaswatch monitor show {NAME} --alarms"
    yield f"  all of its evidence     biaswatch monitor show {NAME}"
    yield f"  to end it               biaswatch monitor delete {NAME}"


def ended_lines(view: MonitorView) -> Iterator[str]:
    """Lines of a monitor that ended without an alarm."""
    yield (
        f"The monitor {NAME} has ended after {view.status.rounds} rounds without an alarm"
        f" ({view.status.ended}). `biaswatch monitor show {NAME}` shows its evidence."
    )
