"""The verb `build`: a plan becomes a suite."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from shared.errors import UsageError
from shared.runtime.settings import load

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("build")(build)


def build(
    plan: Annotated[Path, typer.Argument(help="The plan: a YAML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The suite's folder.")],
    as_json: Json = False,
) -> None:
    """Build a suite from a plan; the same plan, sources and answers give the same bytes."""
    from services.builder.app import build_of
    from services.builder.handlers.plans import load_plan
    from services.builder.handlers.writing import write_suite
    from services.builder.settings import BuilderSettings

    wanted = load_plan(plan)
    if wanted.model and wanted.model.target:
        raise UsageError("Models are not asked yet: give a script.")
    settings = load(BuilderSettings)
    built = asyncio.run(build_of(wanted, plan.parent, settings)())
    files = write_suite(built, output)
    said = {
        "suite": wanted.name,
        "version": built.header["version"],
        "prompts": built.quality.prompts,
        "concepts": len(built.quality.by_concept),
        "left_out": built.ledger.counts(),
        "faults": built.quality.fault_counts,
        "files": [str(file) for file in files],
    }
    if as_json:
        typer.echo(json.dumps(said, indent=2))
        return
    _print(said, output)


def _print(said: dict[str, object], output: Path) -> None:
    console = Console(highlight=False)
    console.print(
        f"The suite {escape(str(said['suite']))} is in {escape(str(output))}: {said['prompts']}"
        f" prompts about {said['concepts']} concepts, version {said['version']}."
    )
    console.print(
        f"What was left out, and what to look at, is in {escape(str(output / 'report.md'))}."
    )
