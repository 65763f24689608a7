"""Ids as people write them: whole, their beginning, the name of a run, or `latest`."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import Request

from biaswatch.services.gateway.callers import current_caller
from biaswatch.services.gateway.runs.descriptions import RunDescriptions
from biaswatch.shared.contracts import Purpose, Right, Run, is_id
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.runs import LATEST
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

BEGINNING = re.compile("[0-9a-f]{4,32}")
MOST_SHOWN = 4
"""Number of matches that a message lists."""


@dataclass(frozen=True)
class IdReferences:
    """Blocking queries of the ids behind references; call them in a thread."""

    store: Store

    def run(self, written: str) -> str:
        """Return the id of the only run with this id, its beginning or its name, or the latest.

        Raises
        ------
        NotFoundError, UsageError
            No run matches, or several do.
        """
        if is_id(written):
            return written
        if written == LATEST:
            ids = self.store.records.latest_ids(Run, 1, purpose=Purpose.STUDY)
            return _only(written, [(id_, "") for id_ in ids], "run", "runs")
        ids = RunDescriptions(self.store).named(written)
        if not ids and BEGINNING.fullmatch(written):
            ids = self.store.records.latest_ids(Run, MOST_SHOWN + 1, begins=written)
        runs = self.store.records.get(Run, ids)
        return _only(written, [(run.id, run.suite) for run in runs], "run", "runs")

    def search(self, written: str) -> str:
        """Return the id of the only search with this id or its beginning, or the latest.

        Raises
        ------
        NotFoundError, UsageError
            No search matches, or several do.
        """
        if is_id(written):
            return written
        searches = []
        if written == LATEST:
            searches = self.store.searches.latest(1, "")
        elif BEGINNING.fullmatch(written):
            searches = self.store.searches.latest(MOST_SHOWN + 1, written)
        return _only(
            written, [(search.id, search.space) for search in searches], "search", "searches list"
        )


def _only(written: str, matches: Sequence[tuple[str, str]], kind: str, verb: str) -> str:
    if not matches and written == LATEST:
        raise NotFoundError(f"There is no {kind} yet.")
    if not matches:
        raise NotFoundError(
            f"No {kind} has the id or the name {written}: `biaswatch {verb}` lists them."
        )
    if len(matches) > 1:
        listed = "".join(f"\n  {id_}  {what}" for id_, what in matches[:MOST_SHOWN])
        raise UsageError(f"Several {kind} ids begin with {written}; write more of the id:{listed}")
    return matches[0][0]


def whole_ids(references: IdReferences) -> Callable[[Request], Awaitable[None]]:
    """Return the dependency that replaces references in the path of a request by ids."""
    kinds = {"run_id": references.run, "search_id": references.search}

    async def replace(request: Request) -> None:
        for name in kinds.keys() & request.path_params.keys():
            written, caller = request.path_params[name], current_caller()
            # A caller without the right is refused by the route.
            if not is_id(written) and caller is not None and caller.may(Right.READ):
                request.path_params[name] = await in_thread(kinds[name], written)

    return replace
