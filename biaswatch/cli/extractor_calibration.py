"""The verb that calibrates an extractor: its own gap between groups, whatever a model says."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from biaswatch.cli.extractors import app
from biaswatch.cli.options import Json
from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.render.terminal import escape, print_table, terminal_table
from biaswatch.shared.bus.jetstream import Requester
from biaswatch.shared.contracts import OwnGap
from biaswatch.shared.contracts.dropin import endpoint
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.formatting import coverage, p_value
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.runtime.settings import load_settings
from biaswatch.shared.store import Store, migrate

if TYPE_CHECKING:
    from biaswatch.services.extractor.domain import Extractor, Measured, Reading
    from biaswatch.services.extractor.domain.calibration import ExtractorCalibration
    from biaswatch.services.extractor.settings import ExtractorSettings

ALPHA = 0.05
LAPTOP = "sqlite:"
LEAST_NAMES = 2
Groups = Mapping[str, Sequence[str]]


@app.command("calibrate")
def calibrate_one(
    name: Annotated[str, typer.Argument(help="An extractor, a Python file, or a drop-in.")],
    drop_in: Annotated[
        bool, typer.Option("--drop-in", help="Ask the drop-in of this name.")
    ] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Names of your own: DIMENSION=NAME,NAME; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show an extractor's own bias: the same sentences, with only the group's name changed.

    It is kept, and stands beside the gaps that are found with this version from then on.
    """
    from biaswatch.services.extractor.domain import measured_all
    from biaswatch.services.extractor.domain.calibration import GROUPS, calibrate
    from biaswatch.services.extractor.settings import ExtractorSettings

    settings = load_settings(ExtractorSettings)
    groups = _groups(group) if group else GROUPS
    if drop_in:
        with bus_url(settings) as url:
            version, found = asyncio.run(_of_drop_in(name, url, settings, groups))
    else:
        extractor = _extractor(name, settings)
        name, version = extractor.name, extractor.version

        async def measure(readings: "Sequence[Reading]") -> "list[Measured]":
            return measured_all(extractor, readings)

        found = asyncio.run(calibrate(measure, extractor.features, ALPHA, groups))
    if settings.store.startswith(LAPTOP):
        migrate(settings.store)
    with Store.open(settings.store) as store:
        own = (
            OwnGap(feature=g.feature, dimension=g.dimension, a=g.a, b=g.b, gap=g.gap)
            for g in found.gaps
        )
        store.calibrations.keep(name, version, own, datetime.now(UTC))
    if as_json:
        told = {"extractor": name, "alpha": ALPHA, **asdict(found)}
        typer.echo(json.dumps(told, indent=2))
    else:
        _show(name, found)


def _groups(written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for each in written:
        dimension, _, names = each.partition("=")
        groups[dimension.strip()] = tuple(n.strip() for n in names.split(",") if n.strip())
        if not dimension.strip() or len(set(groups[dimension.strip()])) < LEAST_NAMES:
            raise UsageError(f"--group {each} names no two groups; write DIMENSION=NAME,NAME.")
    return groups


def _extractor(name: str, settings: "ExtractorSettings") -> "Extractor":
    from biaswatch.services.extractor.handlers.loading import load as load_extractors
    from biaswatch.services.extractor.handlers.loading import load_file
    from biaswatch.shared.models.device import ModelOptions

    models = ModelOptions(settings.extractor_device, settings.extractor_download)
    if name.endswith(".py"):
        return load_file(Path(name), {"models": models})
    if settings.extractor_models:
        from biaswatch.services.extractor.handlers.loading import configured

        if name in (found := configured(settings.extractor_models, models)):
            return found[name]
    return load_extractors([name], models=models)[name]


async def _of_drop_in(
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
                    now=lambda: datetime.now(UTC),
                    call_s=call_s,
                )
                found = await calibrate(ask.measured, spec.features, ALPHA, groups)
                return spec.version, found
    except BrokenContract as broken:
        raise ConfigurationError(
            f"The drop-in {name} breaks the contract: {broken}. `biaswatch extractors test {name}`"
            " tells more."
        ) from None


def _show(name: str, found: "ExtractorCalibration") -> None:
    console = Console()
    level = f"[{coverage(ALPHA)}]"
    means = (
        (m.feature, f"{m.dimension} {m.group}", estimate_text(m.mean), str(m.missing))
        for m in found.means
    )
    gaps = (
        (g.feature, f"{g.a} - {g.b}", estimate_text(g.gap), p_value(g.p_adjusted))
        for g in found.gaps
    )
    console.print(f"[bold]{escape(name)}[/] on the same sentences, with only the group changed")
    head = ("feature", "group", f"mean {level}", "missing")
    print_table(console, terminal_table(head, means), "")
    print_table(console, terminal_table(("feature", "groups", f"gap {level}", "p (Holm)"), gaps))
