"""The command line: one typer application; each family of verbs is a module of its own."""

import typer

from biaswatch.cli import (
    build,
    calibrate,
    dead_letters,
    diagnose,
    extractor_calibration,
    extractors,
    ingest,
    interpret,
    ll144,
    monitors,
    operator,
    report,
    runs,
    suites,
    table,
)

app = typer.Typer(
    name="biaswatch",
    help="Measure social bias in large language models and keep watching it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def root() -> None:
    """Measure social bias in large language models and keep watching it."""


runs.register(app)
operator.register(app)
dead_letters.register(app)
table.register(app)
diagnose.register(app)
report.register(app)
interpret.register(app)
extractors.register(app)
extractor_calibration.register()
build.register(app)
suites.register(app)
monitors.register(app)
ingest.register(app)
ll144.register(app)
calibrate.register(app)
