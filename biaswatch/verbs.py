"""The command line: one typer application; each family of verbs is a module of its own."""

import typer

from biaswatch import (
    build,
    calibrate,
    clusters,
    diagnose,
    extractors,
    ingest,
    interpret,
    ll144_tables,
    monitors,
    operate,
    purge,
    report,
    runs,
    suite_verbs,
    table,
    tool_bias,
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
purge.register(app)
operate.register(app)
table.register(app)
diagnose.register(app)
report.register(app)
interpret.register(app)
extractors.register(app)
tool_bias.register()
clusters.register()
build.register(app)
suite_verbs.register(app)
monitors.register(app)
ingest.register(app)
ll144_tables.register(app)
calibrate.register(app)
