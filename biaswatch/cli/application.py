"""The command line: one typer application, and where each of its verbs is written."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from biaswatch.cli import (
    audit,
    build,
    calibrate,
    channels,
    compare,
    dead_letters,
    diagnose,
    export,
    extractor_calibration,
    extractors,
    ingest,
    interpret,
    ll144,
    monitors,
    operator,
    plan,
    purge,
    report,
    runs,
    suites,
    table,
    targets,
    tokens,
)
from shared.contracts.mistakes import OURS


class PlainMistakes(TyperGroup):
    """The verbs; a mistake in an option is told without the words of typer's own validation."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out a verb."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as mistake:
            mistake.message = mistake.message.removeprefix(OURS)
            raise


app = typer.Typer(
    name="biaswatch",
    cls=PlainMistakes,
    help="Measure social bias in large language models and keep watching it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
VERBS: tuple[Callable[..., None], ...] = (
    *(runs.demo, runs.up, runs.run, runs.runs, runs.show, runs.cancel),
    *(operator.provision, operator.keys, purge.purge),
    *(diagnose.diagnose, compare.compare, ll144.ll144, plan.plan),
    *(report.report, build.build, ingest.ingest, export.export, calibrate.calibrate),
)
TAKING_COUNTS: tuple[Callable[..., None], ...] = (table.table, interpret.interpret)
"""Their words may be negative numbers, which are no options."""
GROUPS = (
    *(dead_letters.app, suites.app, monitors.app, channels.app, extractors.app, targets.app),
    *(tokens.app, audit.app),
)


@app.callback()
def root() -> None:
    """Measure social bias in large language models and keep watching it."""


for verb in VERBS:
    app.command()(verb)
for verb in TAKING_COUNTS:
    app.command(context_settings={"ignore_unknown_options": True})(verb)
extractors.app.command("calibrate")(extractor_calibration.calibrate_one)
for group in GROUPS:
    app.add_typer(group)
