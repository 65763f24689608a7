"""`bw.search`: look for bias anywhere in a space of scenarios, with and without `await`."""

from pathlib import Path
from typing import Any

from biaswatch.api.platforms import AsyncPlatform, ConnectedPlatform
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.requests.search_views import SearchView


def search(target: str, space: str | Path | Space, **options: Any) -> SearchView:
    """Search for bias on the platform of this machine; start one if none is running.

    An existing search with the same options is continued.

    Parameters
    ----------
    target
        provider:model[@base_url].
    space
        The scenarios: a file, `everyday`, or a `Space`.
    options
        `budget` (2000), the largest number of calls; `alpha` (0.05), the largest chance of any
        false finding; `seed` (0); `sets_per_round` (20); `proposer`, a model that proposes further
        scenarios.

    Raises
    ------
    UsageError
        The space, the target or an option cannot be used.
    """
    return ConnectedPlatform().search(target, space, **options)


async def search_async(target: str, space: str | Path | Space, **options: Any) -> SearchView:
    """Like `search`, as a coroutine."""
    return await AsyncPlatform().search(target, space, **options)
