"""Verbs that administer the platform of this machine: `biaswatch admin ...`."""

import typer

from biaswatch.cli.application import LazyGroup
from biaswatch.cli.options import gateway
from biaswatch.cli.verbs import ADMIN_VERBS
from biaswatch.shared.errors import UsageError

REMOTE = {"audit", "purge"}
"""Verbs that also work through a gateway."""


class AdminVerbs(LazyGroup):
    """The verbs of `admin`."""

    verbs = ADMIN_VERBS


app = typer.Typer(name="admin", cls=AdminVerbs, no_args_is_help=True)


@app.callback()
def check_local(ctx: typer.Context) -> None:
    """Administer the platform of this machine: set-up, access, archive, purge."""
    if ctx.invoked_subcommand not in REMOTE and gateway().server:
        raise UsageError(
            f"`biaswatch admin {ctx.invoked_subcommand}` works on this machine: leave --server out."
        )
