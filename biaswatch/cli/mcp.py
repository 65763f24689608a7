"""The verb `mcp`: a server of the Model Context Protocol on standard input and output."""

from typing import Annotated

import typer

from biaswatch.cli.options import gateway
from biaswatch.readers.targets import read_target
from biaswatch.shared.errors import UsageError


def mcp(
    target: Annotated[
        list[str] | None,
        typer.Option(help="A model that runs may ask; repeatable. Without one, nothing is run."),
    ] = None,
    token_budget: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Tokens for all runs of a session together."),
    ] = None,
) -> None:
    """Serve runs, monitors, suites and plans to an agent over MCP (stdio); it only reads.

    With --target and --token-budget, the agent may also start runs.
    """
    from biaswatch.cli.mcp_server import mcp_server

    targets = target or []
    if bool(targets) != (token_budget is not None):
        raise UsageError("--target and --token-budget require each other: both allow runs.")
    for name in targets:
        read_target(name)
    mcp_server(gateway(), targets, token_budget or 0).run()
