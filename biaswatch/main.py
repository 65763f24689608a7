"""The command line: one typer application; each family of verbs is a module of its own."""

import sys

import typer

from biaswatch import operate, runs, table
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
operate.register(app)
table.register(app)


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence, never in a traceback."""
    try:
        app()
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        sys.exit(error.exit_code)
