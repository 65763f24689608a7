"""Start and cancel searches, and raise their budgets."""

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.runs.commands import cancel
from biaswatch.services.gateway.searches.queries import SearchQueries
from biaswatch.shared.contracts import AuditAction, Target, as_usage_error, parse_target
from biaswatch.shared.contracts.search import MOST_CALLS, Search
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.search_views import SearchProgress, SearchRequest
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store.searches import SearchPhase, StoredSearch

MAX_SPACE_BYTES = 1024 * 1024
CANCELLED = "It was cancelled; the same search continues it."


class SearchCommands:
    """Changes searches; each change is an act of the audit trail."""

    def __init__(self, ctx: GatewayContext, queries: SearchQueries) -> None:
        self._ctx = ctx
        self._queries = queries

    async def start(self, request: SearchRequest) -> SearchProgress:
        """Start the requested search, or continue it; return its state."""
        search = await in_thread(self.search_for, request)
        known = await in_thread(self._ctx.store.searches.get, search.id)
        if known is None or _is_changed(known, search):
            await self._begin(search, known)
        return await in_thread(lambda: self._queries.show(search.id).progress)

    async def raise_budget(self, search_id: str, calls: int) -> SearchProgress:
        """Raise the budget of a search to a number of calls."""
        stored = await in_thread(self._queries.stored, search_id)
        if calls <= stored.calls:
            raise UsageError(
                f"The search {search_id} has a budget of {stored.calls:,} calls already. Name a"
                " larger number."
            )
        search = await in_thread(self._ctx.store.searches.plan, stored)
        self._check_allowed(search.target, search.proposer)
        await self._begin(search.model_copy(update={"calls": calls}), stored)
        return await in_thread(lambda: self._queries.show(search_id).progress)

    async def add_calls(self, search_id: str, calls: int) -> SearchProgress:
        """Raise the budget of a search by a number of calls."""
        stored = await in_thread(self._queries.stored, search_id)
        return await self.raise_budget(search_id, min(stored.calls + calls, MOST_CALLS))

    async def cancel(self, search_id: str) -> SearchProgress:
        """Cancel a search with its round under way; answers and evidence are kept."""
        stored = await in_thread(self._queries.stored, search_id)
        if stored.state is SearchPhase.ACTIVE:
            async with self._ctx.audit.act(AuditAction.SEARCH_CANCEL, search_id):
                await in_thread(self._ctx.store.searches.stop, search_id, CANCELLED)
                await self._cancel_round(search_id)
        return await in_thread(lambda: self._queries.show(search_id).progress)

    async def _cancel_round(self, search_id: str) -> None:
        """Cancel the run of the round under way, which may have begun a moment ago."""
        stored = await in_thread(self._queries.stored, search_id)
        if stored.run is not None:
            await cancel(stored.run, self._ctx)

    def search_for(self, request: SearchRequest) -> Search:
        """Return the requested search, without starting it."""
        size = len(request.space.model_dump_json())
        if size > MAX_SPACE_BYTES:
            raise UsageError(f"The space has {size:,} bytes; {MAX_SPACE_BYTES:,} are allowed.")
        target = parse_target(request.target)
        proposer = parse_target(request.proposer) if request.proposer else None
        self._check_allowed(target, proposer)
        with as_usage_error("The search"):
            return Search(
                tenant=self._ctx.store.tenant,
                at=now(),
                target=target,
                proposer=proposer,
                space=request.space,
                **request.model_dump(exclude={"space", "target", "proposer"}),
            )

    def _check_allowed(self, *targets: Target | None) -> None:
        self._ctx.settings.allowed_targets.check([target for target in targets if target])

    async def _begin(self, search: Search, known: StoredSearch | None) -> None:
        if known is None or known.state is not SearchPhase.ACTIVE:
            await in_thread(self._check_under_way)
        details = {"target": search.target.name, "calls": str(search.calls)}
        async with self._ctx.audit.act(
            AuditAction.SEARCH_START, search.id, space=search.space.name, **details
        ):
            await in_thread(self._ctx.store.searches.start, search)

    def _check_under_way(self) -> None:
        limit = self._ctx.settings.gateway_searches_under_way
        if self._ctx.store.searches.count_active() >= limit:
            raise UsageError(
                f"{limit:,} searches of the tenant {self._ctx.store.tenant} are under way, as many"
                " as may be at once. Wait until one has ended, cancel one (`biaswatch searches"
                " cancel`), or ask the gateway's operator to raise"
                " BIASWATCH_GATEWAY_SEARCHES_UNDER_WAY."
            )


def _is_changed(known: StoredSearch, search: Search) -> bool:
    return known.calls < search.calls or known.state is SearchPhase.STOPPED
