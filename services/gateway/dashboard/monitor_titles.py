"""What monitors compare, in words: the titles of comparisons, instead of their keys."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from services.gateway.monitors.evidence_words import comparison_title
from services.gateway.monitors.views import History
from services.gateway.monitors.window_views import WindowView
from shared.contracts import MonitorPlan


def titles_of(plan: MonitorPlan) -> dict[str, str]:
    """Return the title of each comparison by its key; no two of a monitor have the same."""
    titles = {each.key: comparison_title(each, plan.numbers) for each in plan.watched}
    several = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    by_key = {each.key: each for each in plan.watched}
    return {
        key: f"{title} ({by_key[key].watched.method})" if title in several else title
        for key, title in titles.items()
    }


def in_time(
    histories: Iterable[History], windows: Iterable[WindowView], since: datetime | None
) -> list[History]:
    """Return histories since a moment; a round of traffic has the moment at which it ended.

    A history that would have fewer than two rounds stays whole.
    """
    ends = {each.round: each.window.ends for each in windows if each.round is not None}
    found = []
    for history in histories:
        moments = [
            point.model_copy(update={"at": ends.get(point.round, point.at)})
            for point in history.moments
        ]
        recent = [point for point in moments if since is None or point.at >= since]
        shown = recent if len(recent) > 1 else moments
        found.append(history.model_copy(update={"moments": shown}))
    return found


RANGES = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
"""Of the charts; anything else is all there is."""
