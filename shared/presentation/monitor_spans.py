"""The stretches of time that a monitor's charts show: a day, a week, a month, all there is."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from biaswatch.shared.requests.monitor_views import History


def in_time(
    histories: Iterable[History], ends: Mapping[int, datetime], since: datetime | None
) -> list[History]:
    """Return histories since a moment; a round of traffic has the moment at which it ended.

    A history that would have fewer than two rounds stays whole.
    """
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
