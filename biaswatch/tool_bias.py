"""The verb that calibrates an extractor: its own gap between groups, whatever a model says."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from biaswatch.extractors import app
from biaswatch.findings import interval, number
from biaswatch.place import bus_url
from shared.bus.jetstream import Caller, Connection
from shared.bus.permissions import OPERATOR
from shared.contracts.dropin import endpoint
from shared.errors import ConfigurationError
from shared.runtime.settings import load
from shared.store import Store

if TYPE_CHECKING:
    from services.extractor.domain import Extractor, Measured, Reading
    from services.extractor.handlers.calibrating import Calibration
    from services.extractor.settings import ExtractorSettings

ALPHA = 0.05


def register() -> None:
    """Add the verb to those for extractors."""
    app.command("calibrate")(calibrate_one)


def calibrate_one(
    name: Annotated[str, typer.Argument(help="An extractor, a Python file, or a drop-in.")],
    drop_in: Annotated[
        bool, typer.Option("--drop-in", help="Ask the drop-in of this name.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show an extractor's own bias: the same sentences, with only the group's name changed."""
    from services.extractor.settings import ExtractorSettings

    settings = load(ExtractorSettings)
    if drop_in:
        with bus_url(settings) as url:
            found = asyncio.run(_of_drop_in(name, url, settings))
    else:
        found = asyncio.run(_of(_extractor(name, settings)))
    if as_json:
        typer.echo(json.dumps(_as_dict(name, found), indent=2))
    else:
        _show(name, found)


def _extractor(name: str, settings: "ExtractorSettings") -> "Extractor":
    from services.extractor.handlers.finding import load as load_extractors
    from services.extractor.handlers.finding import load_file
    from shared.models.device import Models

    models = Models(settings.extractor_device, settings.extractor_download)
    if name.endswith(".py"):
        return load_file(Path(name), {"models": models})
    if settings.extractor_models:
        from services.extractor.handlers.configured import configured

        if name in (found := configured(settings.extractor_models, models)):
            return found[name]
    return load_extractors([name], models=models)[name]


async def _of(extractor: "Extractor") -> "Calibration":
    from services.extractor.domain import measured_all
    from services.extractor.handlers.calibrating import calibrate

    async def measure(readings: "Sequence[Reading]") -> "list[Measured]":
        return measured_all(extractor, readings)

    return await calibrate(measure, extractor.features, ALPHA)


async def _of_drop_in(name: str, url: str, settings: "ExtractorSettings") -> "Calibration":
    from services.extractor.domain.calls import BrokenContract, spec_of
    from services.extractor.handlers.asking import AskDropIn, Suspects
    from services.extractor.handlers.calibrating import calibrate
    from services.extractor.handlers.tally import Tally

    seed, authority = settings.nats_seed_file, settings.nats_ca_file
    connection = await Connection.open(
        url, name=OPERATOR, seed_file=seed, ca_file=authority, patience_s=2
    )
    caller = Caller(connection)
    call_s = settings.extractor_call_s
    try:
        spec = spec_of((await caller.ask(endpoint(name, "spec"), timeout_s=call_s)).data)
        with Store.open(settings.store) as store:
            ask = AskDropIn(
                spec,
                caller,
                store.baselines,
                Tally(),
                Suspects(),
                now=lambda: datetime.now(UTC),
                call_s=call_s,
            )
            return await calibrate(ask.measured, spec.features, ALPHA)
    except BrokenContract as broken:
        raise ConfigurationError(
            f"The drop-in {name} breaks the contract: {broken}. `biaswatch extractors test {name}`"
            " tells more."
        ) from None
    finally:
        await connection.close()


def _as_dict(name: str, found: "Calibration") -> dict[str, Any]:
    return {
        "extractor": name,
        "alpha": ALPHA,
        "means": [asdict(each) for each in found.means],
        "gaps": [asdict(each) for each in found.gaps],
    }


def _show(name: str, found: "Calibration") -> None:
    console = Console()
    level = f"[{100 * (1 - ALPHA):g} %]"
    means = _table("feature", "group", f"mean {level}", "missing")
    for each in found.means:
        group = f"{each.dimension} {each.group}"
        means.add_row(
            *map(escape, (each.feature, group, interval(asdict(each.mean)), str(each.missing)))
        )
    gaps = _table("feature", "groups", f"gap {level}", "p (Holm)")
    for gap in found.gaps:
        who = f"{gap.a} - {gap.b}"
        shown = (gap.feature, who, interval(asdict(gap.gap)), number(gap.p_adjusted, digits=2))
        gaps.add_row(*map(escape, shown))
    console.print(f"[bold]{escape(name)}[/] on the same sentences, with only the group changed")
    console.print(means, "", gaps)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    for column in columns:
        table.add_column(escape(column), overflow="fold")
    return table
