"""Options and helpers of several verbs: gateway, JSON output, files, dates and gates."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ConfigDict

from biaswatch.cli.application import CONNECTION
from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.checks import CheckedComparison, CheckRule
    from biaswatch.local.client import GatewayClient
    from biaswatch.local.connections import Gateway

Reply = TypeVar("Reply")
FOUND_CODE = 1
DISPARITY, CHANGE = "disparity", "change"
"""`--fail-on` with this word fails at a disparity, or a change, of any size."""


class VerbRequest(BaseModel):
    """The fields of a verb, set by its options and by `--config`."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class CheckRequest(VerbRequest):
    """The fields of a verb that ends with 1 at a finding."""

    fail_on: str | None = None
    """Exit code 1 for a disparity (`disparity`, or the smallest gap that counts), 3 if too little
    was measured."""
    min_measured: float | None = None
    """For --fail-on: exit code 3 if a smaller share of a group's answers has a number; 0.8."""

    def rule(self, any_size: str = DISPARITY) -> "CheckRule | None":
        """Return the conditions of the gate; None without one."""
        return check_rule(self.fail_on, self.min_measured, any_size=any_size)


def existing_file(ctx: typer.Context, path: Path) -> Path:
    """Raise UsageError if a file does not exist, before other options are checked."""
    if not ctx.resilient_parsing and not path.exists():
        raise UsageError(f"There is no file {path}.")
    return path


def existing_suite(ctx: typer.Context, path: Path) -> Path:
    """Return the path of a suite, or raise UsageError before other options are checked."""
    from biaswatch.readers.suite_names import suite_path

    return path if ctx.resilient_parsing else suite_path(path)


SuiteFile = Annotated[
    Path,
    typer.Argument(
        help="A suite: its name, a YAML or JSON file, or its folder.",
        callback=existing_suite,
        is_eager=True,
    ),
]
RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id or name, from `runs`, or `latest`.")
]
Everything = Annotated[
    bool, typer.Option("--all", help="All comparisons, not only the most important ones.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        help="Exit code 1 for a disparity (`disparity`, or the smallest gap that counts), 3 if too"
        " little was measured.",
    ),
]
MinMeasured = Annotated[
    float | None,
    typer.Option(
        "--min-measured",
        metavar="SHARE",
        help="For --fail-on: exit code 3 if a smaller share of a group's answers has a number.",
        show_default="0.8",
    ),
]
CountFailed = Annotated[
    bool, typer.Option("--count-failed-judges", help="Count judges that fail their controls.")
]


def gateway() -> "Gateway":
    """Return the gateway of `--server` and `--token`; by default that of this machine."""
    from biaswatch.local.connections import Gateway

    return Gateway(*CONNECTION.get())


def ask(work: "Callable[[GatewayClient], Awaitable[Reply]]", *, with_models: bool = False) -> Reply:
    """Connect to the gateway, and return the result of the work.

    Without `with_models`, a platform started for the work calls no model.
    """

    async def connect() -> Reply:
        async with gateway().connect(with_models=with_models) as client:
            return await work(client)

    return asyncio.run(connect())


def show_rows(rows: Sequence[Any], line: Callable[[Any], str], none: str, *, as_json: bool) -> None:
    """Print a line for each row, or a sentence if there are no rows."""
    from biaswatch.render.terminal import print_json, printable

    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(printable(line(row)))
    if not rows:
        typer.echo(none)


def moment_of(text: str) -> datetime:
    """Parse a date or time, in UTC unless it has a time zone.

    Raises
    ------
    UsageError
        The text is not a date or time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"The date {text!r} cannot be read. Write it as 2026-01-31 or 2026-01-31T12:00:00Z."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_rule(
    fail_on: str | None, min_measured: float | None, *, any_size: str = DISPARITY
) -> "CheckRule | None":
    """Read the options of a gate; None without `--fail-on`.

    Raises
    ------
    UsageError
        `--fail-on` is neither `any_size` nor a size, or the share is not between 0 and 1.
    """
    from biaswatch.checks import CHANGED, CheckRule

    if fail_on is None:
        if min_measured is not None:
            raise UsageError("--min-measured requires --fail-on.")
        return None
    rule = CheckRule(least_size=0.0 if fail_on == any_size else _size(fail_on, any_size))
    if any_size != DISPARITY:
        rule = replace(rule, verdict=CHANGED)
    if min_measured is None:
        return rule
    if not 0 <= min_measured <= 1:
        raise UsageError(f"--min-measured is {min_measured:g}; write a share between 0 and 1.")
    return replace(rule, least_share=min_measured)


def _size(text: str, any_size: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = -1.0
    if not (isfinite(size) and size >= 0):
        raise UsageError(f"--fail-on is {text!r}; write `{any_size}`, or a size of 0 or more.")
    return size


def end_check(
    compared: "Sequence[CheckedComparison]", rule: "CheckRule | None", incomplete: str | None = None
) -> None:
    """Print the result of a gate; exit with 1 for a finding, with 3 if too little was measured."""
    if rule is None:
        return
    from biaswatch.checks import check_result
    from biaswatch.render.terminal import printable

    result = check_result(compared, rule, incomplete)
    typer.echo(printable(result.sentence), err=True)
    if result.code:
        raise typer.Exit(result.code)
