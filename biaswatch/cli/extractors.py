"""The verbs for extractors: list, test, serve, bias."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Everything, Json
from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.render.extractor_bias import print_own_bias
from biaswatch.render.terminal import print_table, printable, terminal_table
from biaswatch.shared.bus.jetstream import Requester, serve_endpoints
from biaswatch.shared.bus.permissions import DROP_IN
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import ExtractorStatus, OwnGap
from biaswatch.shared.contracts.dropin import endpoint
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.formatting import number as number_text
from biaswatch.shared.runtime.health import served_health
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.extractors import MAX_EXTRACTOR_AGE

if TYPE_CHECKING:
    from biaswatch.services.extractor.domain import Extractor, Measured, Reading
    from biaswatch.services.extractor.domain.calibration import ExtractorCalibration
    from biaswatch.services.extractor.settings import ExtractorSettings

app = typer.Typer(
    name="extractors",
    help="Extractors, which turn answers into numbers: list, test, serve, bias.",
    no_args_is_help=True,
)
CALL_S = 30.0
NOT_CONFORMING = 1


@app.command("list")
def list_extractors(as_json: Json = False) -> None:
    """List the running extractors: version, features, lag, rate, last error."""
    with Store.open(load_settings(Settings).store) as store:
        extractors = store.extractors.ever()
    alive = now() - MAX_EXTRACTOR_AGE
    running = [extractor for extractor in extractors if extractor.seen_at >= alive]
    if as_json:
        rows = [{**vars(status), "seen_at": status.seen_at.isoformat()} for status in running]
        typer.echo(json.dumps(rows, indent=2))
    elif not running:
        typer.echo("No extractor has run in the last minute. `biaswatch up` starts them.")
    else:
        _print_running(running)


@app.command("test")
def try_one(
    name: Annotated[str, typer.Argument(help="Name of a running drop-in.")], as_json: Json = False
) -> None:
    """Test whether a drop-in conforms to the contract; exit code 1 if it does not."""
    from biaswatch.services.extractor.handlers.dropin_testing import ConformanceTest

    async def work(url: str) -> ConformanceTest:
        async with bus_connection(load_settings(Settings), url) as connection:
            trial = ConformanceTest(name, Requester(connection), call_s=CALL_S)
            await trial.run()
            return trial

    with bus_url(load_settings(Settings)) as url:
        trial = asyncio.run(work(url))
    if as_json:
        typer.echo(json.dumps([vars(finding) for finding in trial.findings], indent=2))
    else:
        for finding in trial.findings:
            detail = f": {printable(finding.detail)}" if finding.detail else ""
            typer.echo(f"{'ok    ' if finding.passed else 'FAILED'}  {finding.what}{detail}")
    if not all(finding.passed for finding in trial.findings):
        raise typer.Exit(NOT_CONFORMING)


@app.command()
def serve(
    path: Annotated[Path, typer.Argument(help="A Python file with one extractor.")],
    name: Annotated[str | None, typer.Option(help="Its name; the file's by default.")] = None,
    health_port: Annotated[
        int | None, typer.Option(help="Port for /healthz, /readyz and /metrics.")
    ] = None,
) -> None:
    """Serve a one-file extractor as a drop-in, without restarting anything. Ctrl-C stops it."""
    from biaswatch.services.extractor.handlers.dropin_serving import (
        answers_of,
        code_digest,
        spec_for,
    )
    from biaswatch.services.extractor.handlers.loading import load_file

    extractor = load_file(path)
    spec = spec_for(extractor, name)
    code = code_digest(path.read_bytes(), spec)

    async def work(url: str) -> None:
        async with (
            bus_connection(load_settings(Settings), url, f"{DROP_IN}.{spec.name}") as connection,
            serve_endpoints(
                connection, spec.name, spec.version, answers_of(extractor, spec), code=code
            ),
            served_health(spec.name, health_port),
        ):
            typer.echo(f"Serving {spec.name} {spec.version}. Ctrl-C stops it.")
            await connection.lost.wait()

    with bus_url(load_settings(Settings)) as url:
        try:
            asyncio.run(work(url))
        except KeyboardInterrupt:
            typer.echo("Stopped.")


def _print_running(running: list[ExtractorStatus]) -> None:
    head: tuple[str, ...] = (
        *("extractor", "version", "features", "measures with"),
        *("lag", "texts/s", "last error"),
    )
    rows: list[tuple[str, ...]] = []
    for extractor in running:
        lag = "-" if extractor.lag is None else str(extractor.lag)
        rate = number_text(extractor.rate_per_s)
        error = (
            (extractor.refused and f"refused: {extractor.refused}") or extractor.last_error or ""
        )
        name, names = f"{extractor.name} ({extractor.kind})", ", ".join(extractor.features)
        rows.append((name, extractor.version, names, extractor.instrument, lag, rate, error))
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    print_table(Console(), terminal_table(head, rows))


ALPHA = 0.05
LAPTOP = "sqlite:"
LEAST_NAMES = 2
Groups = Mapping[str, Sequence[str]]


@app.command("bias")
def bias(
    name: Annotated[str, typer.Argument(help="An extractor, a Python file, or a drop-in.")],
    drop_in: Annotated[
        bool, typer.Option("--drop-in", help="Use the drop-in of this name.")
    ] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Own names of groups: DIMENSION=NAME,NAME; may be repeated."),
    ] = None,
    everything: Everything = False,
    as_json: Json = False,
) -> None:
    """Show an extractor's own bias: the same sentences, with only the group's name changed.

    The result is stored and shown beside later gaps of this version.
    """
    from biaswatch.services.extractor.domain import measured_all
    from biaswatch.services.extractor.domain.calibration import GROUPS, calibrate
    from biaswatch.services.extractor.settings import ExtractorSettings

    settings = load_settings(ExtractorSettings)
    groups = _groups(group) if group else GROUPS
    if drop_in:
        with bus_url(settings) as url:
            version, calibration = asyncio.run(_calibrate_drop_in(name, url, settings, groups))
    else:
        extractor = _extractor(name, settings)
        name, version = extractor.name, extractor.version

        async def measure(readings: "Sequence[Reading]") -> "list[Measured]":
            return measured_all(extractor, readings)

        calibration = asyncio.run(calibrate(measure, extractor.features, ALPHA, groups))
    if settings.store.startswith(LAPTOP):
        migrate(settings.store)
    with Store.open(settings.store) as store:
        own = (
            OwnGap(feature=g.feature, dimension=g.dimension, a=g.a, b=g.b, gap=g.gap)
            for g in calibration.gaps
        )
        store.calibrations.keep(name, version, own, now())
    if as_json:
        document = {"extractor": name, "alpha": ALPHA, **asdict(calibration)}
        typer.echo(json.dumps(document, indent=2))
    else:
        print_own_bias(name, calibration, ALPHA, everything=everything)


def _groups(written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for argument in written:
        dimension, _, names = argument.partition("=")
        groups[dimension.strip()] = tuple(n.strip() for n in names.split(",") if n.strip())
        if not dimension.strip() or len(set(groups[dimension.strip()])) < LEAST_NAMES:
            raise UsageError(f"--group {argument} needs two groups; write DIMENSION=NAME,NAME.")
    return groups


def _extractor(name: str, settings: "ExtractorSettings") -> "Extractor":
    from biaswatch.services.extractor.handlers.loading import load as load_extractors
    from biaswatch.services.extractor.handlers.loading import load_file

    models = settings.models
    if name.endswith(".py"):
        return load_file(Path(name), {"models": models})
    if settings.extractor_models:
        from biaswatch.services.extractor.handlers.loading import configured

        if name in (extractors := configured(settings.extractor_models, models)):
            return extractors[name]
    return load_extractors([name], models=models)[name]


async def _calibrate_drop_in(
    name: str, url: str, settings: "ExtractorSettings", groups: Groups
) -> "tuple[str, ExtractorCalibration]":
    from biaswatch.services.extractor.domain.calibration import calibrate
    from biaswatch.services.extractor.domain.dropin_protocol import BrokenContract, spec_of
    from biaswatch.services.extractor.handlers.dropin_calls import CallDropIn, SuspectTexts
    from biaswatch.services.extractor.handlers.measuring import ExtractorCounters

    call_s = settings.extractor_call_s
    try:
        async with bus_connection(settings, url) as connection:
            caller = Requester(connection)
            spec = spec_of((await caller.ask(endpoint(name, "spec"), timeout_s=call_s)).data)
            with Store.open(settings.store) as store:
                ask = CallDropIn(
                    spec,
                    caller,
                    store.baselines,
                    ExtractorCounters(),
                    SuspectTexts(),
                    now=now,
                    call_s=call_s,
                )
                calibration = await calibrate(ask.measured, spec.features, ALPHA, groups)
                return spec.version, calibration
    except BrokenContract as broken:
        raise ConfigurationError(
            f"The drop-in {name} breaks the contract: {broken}. `biaswatch extractors test {name}`"
            " shows the details."
        ) from None
