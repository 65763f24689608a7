"""What comparisons of a monitor are called, for people: the number, the groups, the grouping."""

from collections.abc import Collection

from biaswatch.shared.contracts.comparison import MISSING, Comparison
from biaswatch.shared.contracts.monitor import MonitorPlan
from biaswatch.shared.formatting import number_name


def comparison_titles(plan: MonitorPlan) -> dict[str, str]:
    """Return the title of each comparison by its key; no two of a monitor have the same."""
    titles = {each.key: comparison_title(each, plan.numbers) for each in plan.watched}
    several = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    by_key = {each.key: each for each in plan.watched}
    return {
        key: f"{title} ({by_key[key].watched.method})" if title in several else title
        for key, title in titles.items()
    }


def comparison_title(comparison: Comparison, watched: Collection[tuple[str, str]] = ()) -> str:
    """Return what is compared: the number, the groups, the grouping.

    `watched` are the extractors and features of the whole monitor.
    """
    about, pair = comparison.watched, comparison.pair
    if about.feature == MISSING:
        said = f"no {about.extractor.replace('_', ' ')} measured"
    else:
        said = number_name(about.extractor, about.feature, watched)
        if about.method.of_selections:
            said = f"selected by {said}, in log odds"
    return f"{said}: {pair.a} less {pair.b or 'all others'}, by {pair.dimension.replace('_', ' ')}"
