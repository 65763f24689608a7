"""The verb `build`: build a suite from a plan."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer
from rich.console import Console

from biaswatch.cli.options import Json, existing_file
from biaswatch.local.connections import AddressFile, started_platform
from biaswatch.readers.targets import read_target
from biaswatch.render.terminal import escape
from biaswatch.shared.formatting import counted
from biaswatch.shared.runtime.settings import load_settings

if TYPE_CHECKING:
    from biaswatch.building.build import BuiltSuite
    from biaswatch.building.plan import Plan
    from biaswatch.building.settings import BuilderSettings


def build(
    plan: Annotated[
        Path, typer.Argument(help="The plan: a YAML file.", callback=existing_file, is_eager=True)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The suite's folder.")],
    model: Annotated[
        str | None, typer.Option(help="provider:model that answers, instead of the plan's.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Repeat all questions to the model.")] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Draw quality.png too.")] = False,
    as_json: Json = False,
) -> None:
    """Build a suite from a plan; the same plan, sources and answers give the same bytes."""
    from biaswatch.building.build_files import load_plan, write_suite
    from biaswatch.building.plan import Model
    from biaswatch.building.settings import BuilderSettings

    wanted = load_plan(plan)
    if model:
        wanted = wanted.model_copy(update={"model": Model(target=model)})
    nonce = uuid4().hex if new else ""
    built = asyncio.run(_built(wanted, plan.parent, load_settings(BuilderSettings), nonce))
    files = write_suite(built, output)
    if figures:
        from biaswatch.building.quality_report import draw_quality

        picture = output / "quality.png"
        files.append(draw_quality(wanted.name, built.quality, built.rows, picture))
    summary = {
        "suite": wanted.name,
        "version": built.header["version"],
        "prompts": built.quality.prompts,
        "concepts": len(built.quality.by_concept),
        "answers_of": built.header["made"]["answers_of"],
        "left_out": built.build_log.counts(),
        "faults": built.quality.fault_counts,
        "files": [str(file) for file in files],
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    console = Console(highlight=False)
    console.print(
        f"The suite {escape(wanted.name)} is in {escape(str(output))}:"
        f" {summary['prompts']} prompts about {counted(len(built.quality.by_concept), 'concept')},"
        f" version {summary['version']}."
    )
    for step, reasons in built.build_log.counts().items():
        listed = ", ".join(f"{escape(why)} ({n})" for why, n in reasons.items())
        console.print(f"Left out of {escape(step)}: {listed}.")
    console.print(
        f"{escape(str(output / 'report.md'))} lists what was left out, and what to check."
    )


async def _built(plan: "Plan", home: Path, settings: "BuilderSettings", nonce: str) -> "BuiltSuite":
    """Build a suite; questions to a model use the named bus, the running one, or a new one."""
    from biaswatch.building.composition import build_of, model_over_bus

    if not (plan.asks and plan.model and plan.model.target):
        return await build_of(plan, home, settings)()
    target = read_target(plan.model.target)
    async with (
        _bus(settings) as bus_settings,
        model_over_bus(plan, target, bus_settings, nonce=nonce) as model,
    ):
        return await build_of(plan, home, bus_settings, model)()


@asynccontextmanager
async def _bus(settings: "BuilderSettings") -> AsyncIterator["BuilderSettings"]:
    if "nats_url" in settings.model_fields_set:
        yield settings
        return
    if running := AddressFile(settings.state_dir).read():
        yield settings.model_copy(update={"nats_url": running.nats_url})
        return
    async with started_platform(settings) as here:
        yield settings.model_copy(update={"nats_url": here.nats_url})
