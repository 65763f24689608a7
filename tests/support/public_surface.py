"""What users type: every command with its options, and the names of `import biaswatch`.

`python -m tests.support.public_surface` writes it; its diff is what users will notice. The HTTP
API, records and settings have documents of their own.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import biaswatch
from biaswatch.cli.application import app

COMMITTED = Path(__file__).parents[1] / "contract" / "public_surface.txt"


def text() -> str:
    """Return the surface as it is committed, one command or name a line."""
    names = [f"biaswatch.{name}" for name in biaswatch.__all__]
    return "\n".join([*_commands(get_command(app), "biaswatch"), *names, ""])


def _commands(command: Any, path: str) -> Iterator[str]:
    options = sorted(name for param in command.params for name in param.opts if name[0] == "-")
    if options or not hasattr(command, "commands"):
        yield " ".join([path, *options])
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(inner, f"{path} {name}")


if __name__ == "__main__":
    COMMITTED.write_text(text())
