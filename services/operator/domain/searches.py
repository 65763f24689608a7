"""A BiasSearch: its conditions and its status."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from biaswatch.services.operator.domain.conditions import (
    READY,
    ResourceCondition,
    ResourceEvent,
    Status,
    Truth,
    merged,
)
from biaswatch.services.operator.domain.runs import COMPLETE, DISPARITY, FAILED
from biaswatch.shared.requests.search_views import SearchStatus, SearchView
from biaswatch.shared.stats.estimate import SummaryWord

OVER = {SearchStatus.ENDED, SearchStatus.STOPPED}


def has_to_start(spec: Mapping[str, Any], status: Status) -> bool:
    """Return whether a search has to be started, or continued with a larger budget."""
    return status.get("search") is None or status.get("budget", 0) < spec["calls"]


def running_search(status: Status) -> str | None:
    """Return the id of a search that has begun and is not over."""
    return status.get("search") if status.get("state") not in OVER else None


def search_conditions(view: SearchView) -> list[ResourceCondition]:
    """Return whether a search is accepted, ended or stopped, and found a disparity."""
    progress, word = view.progress, view.results.word
    state, status = progress.status.capitalize(), progress.status
    calls = f"{progress.calls} of {progress.budget} calls. {progress.why or ''}".strip()
    disparity = Truth.TRUE if word is SummaryWord.DISPARITY else Truth.UNKNOWN
    reason = "".join(part.capitalize() for part in word.value.split("_"))
    return [
        ResourceCondition(READY, Truth.TRUE, "Accepted", "The gateway has taken it."),
        ResourceCondition(COMPLETE, Truth.of(status is SearchStatus.ENDED), state, calls),
        ResourceCondition(FAILED, Truth.of(status is SearchStatus.STOPPED), state, calls),
        # A search never shows that there is no disparity, so the condition is never False.
        ResourceCondition(DISPARITY, disparity, reason, view.results.headline),
    ]


def search_events(
    status: Status, view: SearchView, conditions: Iterable[ResourceCondition]
) -> list[ResourceEvent]:
    """Return an event if a search is over since its last reconciliation."""
    state = view.progress.status
    if state not in OVER or status.get("state") == state:
        return []
    messages = {condition.type: condition.message for condition in conditions}
    message = f"{messages[DISPARITY]} {messages[COMPLETE]}"
    warning = bool(view.results.findings) or state is SearchStatus.STOPPED
    return [ResourceEvent(f"Search{state.capitalize()}", message, warning=warning)]


def search_status(
    meta: Mapping[str, Any],
    status: Status,
    view: SearchView,
    conditions: Iterable[ResourceCondition],
    at: datetime,
) -> dict[str, Any]:
    """Return the status of a BiasSearch that has begun."""
    progress, results = view.progress, view.results
    return {
        "observedGeneration": meta.get("generation"),
        "search": progress.search_id,
        "state": progress.status.value,
        "budget": progress.budget,
        "asked": f"{progress.calls}/{progress.budget}",
        "verdict": results.word.value,
        "findings": [finding.title for finding in results.findings],
        "conditions": merged(status, conditions, at),
    }
