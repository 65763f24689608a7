"""The beginning of a run's id names the run, where no other id begins so."""

import re
from collections.abc import Sequence

from biaswatch.local.client import GatewayClient
from biaswatch.shared.contracts.identity import is_id
from biaswatch.shared.errors import UsageError

_BEGINNING = re.compile(r"[0-9a-f]{4,32}")
MOST_SHOWN = 4
"""Runs that are named where several begin so."""


def may_name_run(written: str) -> bool:
    """Tell whether this is a run's id, or could be the beginning of one."""
    return _BEGINNING.fullmatch(written) is not None


def neither_run_nor_file(written: str) -> UsageError:
    """Return what to tell who named a run or a file, and there is none of either."""
    return UsageError(
        f"There is no file {written}, and no run's id begins so: `biaswatch runs` lists the runs."
    )


async def whole_run_id(client: GatewayClient, written: str, *, or_file: bool = False) -> str:
    """Return the id of the one run whose id begins so; with `or_file`, where no file is called so.

    Raises
    ------
    UsageError
        No run's id begins so, or several do.
    """
    if is_id(written):
        return written
    check_beginning(written)
    found = await client.runs(MOST_SHOWN + 1, begins=written)
    if or_file and not found:
        raise neither_run_nor_file(written)
    return the_one(written, [(run.run_id, run.suite) for run in found])


def check_beginning(written: str) -> None:
    """Raise UsageError where this can be the beginning of no run's id."""
    if not may_name_run(written):
        raise UsageError(f"{written!r} is no run's id: `biaswatch runs` lists them.")


def the_one(written: str, found: Sequence[tuple[str, str]]) -> str:
    """Return the id of the one run that was found, each with its suite's name.

    Raises
    ------
    UsageError
        None was found, or several.
    """
    if not found:
        raise UsageError(f"No run's id begins with {written}: `biaswatch runs` lists them.")
    if len(found) > 1:
        some = "".join(f"\n  {run_id}  {suite}" for run_id, suite in found[:MOST_SHOWN])
        raise UsageError(f"Several runs begin with {written}; write more of the id:{some}")
    return found[0][0]
