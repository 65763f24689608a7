"""The verbs of runs that are there, and of the platform they are on: runs, show, cancel, up."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.checks import checked_diagnoses
from biaswatch.cli.options import (
    CountFailed,
    Everything,
    FailOn,
    Json,
    MinMeasured,
    Server,
    Token,
    check_rule,
    end_check,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import AddressFile, RunningPlatform, connected
from biaswatch.local.runs import RunResults, run_results, whole_run_id
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.render.run_results import print_results
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.bus.server import check_unused
from biaswatch.shared.contracts import Purpose
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.telemetry import configure_logs

AsProcesses = Annotated[bool, typer.Option("--processes", help="Each service as its own process.")]


def runs(
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    purpose: Annotated[
        Purpose, typer.Option(help="Rounds of monitors and windows of traffic: by theirs.")
    ] = Purpose.STUDY,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """List the runs, the latest first."""

    async def work() -> list[RunProgress]:
        async with connected(server, token, with_models=False) as client:
            return await client.runs(last, purpose=purpose, found="true")

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("There are no runs yet.")
        return
    typer.echo(f"{'run':<32}  {'state':<10}  {'responses':<13}  disparities")
    console = Console(emoji=False)
    for each in found:
        answered = f"{each.responses}/{each.probes}"
        typer.echo(f"{each.run_id}  {each.state:<10}  {answered:<13}  {_found(each)}")
        about = f"{each.suite}, {each.at:%Y-%m-%d %H:%M} UTC: {', '.join(each.targets)}"
        for said in (about, *(paused.in_words() for paused in each.paused)):
            print_sentence(console, said, bullet="    ")


def _found(run: RunProgress) -> str:
    """Say how many of a run's comparisons show a disparity, or why there is no such number."""
    if run.found:
        unmeasured, of = run.found.unmeasured, run.found.comparisons
        if unmeasured == of:
            return "not measured"
        beside = f", {unmeasured} not measured" if unmeasured else ""
        return f"{run.found.disparities} of {of}{beside}"
    return "no groups compared" if run.ended else "not yet"


def cancel(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    server: Server = None,
    token: Token = None,
) -> None:
    """End a run before its time; what is there is kept, and the same `run` takes it up again."""

    async def work() -> str:
        async with connected(server, token, with_models=False) as client:
            whole = await whole_run_id(client, run_id)
            await client.cancel(whole)
            return whole

    typer.echo(f"The run {asyncio.run(work())} is cancelled; calls already under way still end.")


def show(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    everything: Everything = False,
    count_failed_judges: CountFailed = False,
    fail_on: FailOn = None,
    min_measured: MinMeasured = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show what a run found: the decisive sentence first; --all shows every number."""
    rule = check_rule(fail_on, min_measured)

    async def work() -> RunResults:
        async with connected(server, token, with_models=False) as client:
            whole = await whole_run_id(client, run_id)
            found = await run_results(client, whole, count_failed=count_failed_judges)
            return await with_findable(client, found)

    outcome = asyncio.run(work())
    print_results(outcome, as_json=as_json, everything=everything)
    end_check(checked_diagnoses(outcome.diagnoses), rule, outcome.incomplete)


def addresses(here: RunningPlatform, metrics: str, state_dir: Path) -> str:
    """Return where everything of a platform is found, a line each."""
    return "\n".join(
        (
            "biaswatch is up. Ctrl-C stops it.",
            f"  dashboard  {here.url}",
            f"  API        {here.url}/docs",
            f"  metrics    {metrics}",
            f"  bus        {here.nats_url} (for drop-in extractors: NATS_URL)",
            f"  state      {state_dir.resolve()}",
        )
    )


async def _demonstrate(url: str) -> None:
    from biaswatch.cli.demo_monitor import show_demo

    client = GatewayClient(url)
    try:
        await show_demo(client, url, lambda line: typer.echo(printable(line)))
    finally:
        await client.close()


def up(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The gateway's port; 0 takes a free one.")
    ] = 8080,
    as_processes: AsProcesses = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Show a monitor of a simulated model, and its alarm.")
    ] = False,
) -> None:
    """Run every service here, until Ctrl-C."""
    settings = load_settings(Settings)
    check_unused(settings.state_dir / "nats")  # before the seconds that the imports take
    from prometheus_client import start_http_server

    from biaswatch.local.platform import embedded_platform

    if demo and "log_level" not in settings.model_fields_set:
        settings = settings.model_copy(update={"log_level": "ERROR"})  # people read what is said
    configure_logs(settings.log_level)
    metrics = "a port of each process: its log names it"
    if not as_processes:
        server, _ = start_http_server(0, addr="127.0.0.1")
        metrics = f"http://127.0.0.1:{server.server_port}/metrics"

    async def work() -> None:
        async with embedded_platform(settings, port=port, as_processes=as_processes) as here:
            address = AddressFile(settings.state_dir)
            address.write(here)
            typer.echo(addresses(here, metrics, settings.state_dir))
            try:
                if demo:
                    await _demonstrate(here.url)
                await asyncio.Event().wait()
            finally:
                address.remove()

    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        typer.echo("Stopped; the store and the bus keep everything.")
