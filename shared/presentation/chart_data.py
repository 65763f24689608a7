"""A monitor's charts as numbers in columns, for the script that lets people explore them."""

from collections.abc import Callable

from pydantic import BaseModel

from biaswatch.shared.presentation.charts import evidence_axis, gap_axis
from biaswatch.shared.requests.monitor_views import History, HistoryPoint


class ChartColumns(BaseModel):
    """One comparison over time; every list has one value a round, null where there is none."""

    comparison: str
    title: str
    tolerance: float
    range: tuple[float, float]
    """Of the gap, as the page's own picture shows it."""
    evidence_range: tuple[float, float]
    at: list[float]
    """Seconds since 1970."""
    round: list[int]
    epoch: list[int]
    test: list[int | None]
    units: list[int]
    gap: list[float | None]
    low: list[float | None]
    high: list[float | None]
    log_e: list[float]
    bound: list[float]


def chart_columns(history: History, title: str) -> ChartColumns:
    """Return the numbers of one comparison's charts."""
    gap, evidence = gap_axis(history), evidence_axis(history)

    def each(of: Callable[[HistoryPoint], float | int | None]) -> list[float | int | None]:
        return [of(point) for point in history.moments]

    return ChartColumns.model_validate(
        {
            "comparison": history.comparison,
            "title": title,
            "tolerance": history.tolerance,
            "range": (gap.low, gap.high),
            "evidence_range": (evidence.low, evidence.high),
            "at": each(lambda point: point.at.timestamp()),
            "gap": each(lambda point: point.gap.value),
            "low": each(lambda point: point.gap.low),
            "high": each(lambda point: point.gap.high),
            **{
                name: [getattr(point, name) for point in history.moments]
                for name in ("round", "epoch", "test", "units", "log_e", "bound")
            },
        }
    )
