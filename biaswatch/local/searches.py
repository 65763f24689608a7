"""Searches over a gateway: started, continued and followed to their end."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.readers.spaces import load_space
from biaswatch.readers.targets import read_target, with_file
from biaswatch.shared.contracts import as_usage_error, is_id
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.requests.search_views import SearchProgress, SearchRequest, SearchView

AnySpace = str | Path | Space
POLL_EVERY_S = 0.3


def search_request(
    target: str, space: AnySpace, *, budget: int = 2000, **fields: Any
) -> SearchRequest:
    """Return the request for a search.

    Raises
    ------
    UsageError
        The space, the target or a field cannot be used.
    """
    read_target(target)
    whole = space if isinstance(space, Space) else load_space(space)
    with as_usage_error("The search"):
        return SearchRequest(space=whole, target=with_file(target), calls=budget, **fields)


async def finished_search(client: GatewayClient, request: SearchRequest) -> SearchView:
    """Start or continue a search; return its results once it is over."""
    started = await start_search(client, request)
    async for _ in follow_search(client, started.search_id):
        pass
    return await show_search(client, started.search_id)


async def start_search(
    client: GatewayClient, request: SearchRequest, more: int | None = None
) -> SearchProgress:
    """Start or continue a search, and raise its budget by a number of calls if given."""
    progress = await client.send(SearchProgress, "/v1/searches", request)
    if more is None:
        return progress
    where = path("searches", progress.search_id, "budget")
    return await client.send(SearchProgress, where, {"calls": progress.budget + more})


async def follow_search(client: GatewayClient, search_id: str) -> AsyncIterator[SearchView]:
    """Yield the state and results of a search at each change, until nothing is under way."""
    last: SearchView | None = None
    while last is None or not last.progress.over:
        view = await show_search(client, search_id)
        if view != last:
            yield view
            last = view
        if not view.progress.over:
            await asyncio.sleep(POLL_EVERY_S)


async def show_search(client: GatewayClient, search_id: str) -> SearchView:
    """Return the state and the results of a search."""
    return await client.read(SearchView, path("searches", search_id))


async def whole_search_id(client: GatewayClient, written: str) -> str:
    """Return the id of the only search with this beginning, or of the latest search."""
    return written if is_id(written) else (await show_search(client, written)).progress.search_id
