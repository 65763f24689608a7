"""Options that several verbs share: the gateway, JSON, and `--fail-on`."""

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Annotated

import typer

from shared.contracts import Diagnosis
from shared.errors import UsageError

Server = Annotated[str | None, typer.Option(help="A gateway elsewhere, instead of this machine.")]
Token = Annotated[str | None, typer.Option(envvar="BIASWATCH_TOKEN", help="The gateway's token.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

FOUND_CODE = 1
ANY = "disparity"

FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on", help="End with 1 at a disparity: `disparity`, or the least gap that counts."
    ),
]


def least_gap(written: str | None) -> float | None:
    """Read the option: the least size of a gap that counts; None where nothing was asked for.

    Raises
    ------
    UsageError
        It is neither `disparity` nor a size.
    """
    if written is None or written == ANY:
        return None if written is None else 0.0
    try:
        size = float(written)
    except ValueError:
        size = -1.0
    if not (isfinite(size) and size >= 0):
        raise UsageError(f"--fail-on is {written!r}; write `{ANY}`, or a gap of 0 or more.")
    return size


def fail_at(concluded: Iterable[tuple[str | None, float | None]], least: float | None) -> None:
    """End with 1 where a gap that counts was concluded to be a disparity: (verdict, gap).

    What is not concluded fails nothing, however large it looks.
    """
    if least is None:
        return
    if any(verdict == ANY and abs(gap or 0.0) >= least for verdict, gap in concluded):
        raise typer.Exit(FOUND_CODE)


def concluded_of(diagnoses: Iterable[Diagnosis]) -> Iterator[tuple[str, float | None]]:
    """Return what a run concluded of every comparison."""
    for each in diagnoses:
        for gap in each.gaps:
            yield gap.verdict, gap.gap.value
