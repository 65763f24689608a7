"""The verb that prints what a shell needs to complete the command line."""

from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import shell_complete

VARIABLE = "_BIASWATCH_COMPLETE"
"""Set by the printed script where it asks for words: typer looks for this name."""


class Shell(StrEnum):
    """The shells that typer writes scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    ctx: typer.Context, shell: Annotated[Shell, typer.Argument(help="The shell that you use.")]
) -> None:
    """Print what a shell needs to complete the command line: bash, zsh, fish or powershell.

    For bash: `eval "$(biaswatch completion bash)"`, in ~/.bashrc to keep it.
    """
    whole = ctx.find_root().command
    shell_complete(whole, {}, "biaswatch", VARIABLE, f"source_{shell}")
