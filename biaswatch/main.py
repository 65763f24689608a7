"""The command line: one typer application; each family of verbs is a module of its own."""

import signal
import sys

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
from shared.errors import BiaswatchError

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


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence, never in a traceback."""
    # Whoever ends us politely gets what Ctrl-C gets, also where a shell started us with it ignored:
    # everything is stopped in its order.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        sys.exit(error.exit_code)
