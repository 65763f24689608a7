"""McNemar's test: pairs of twins with one of them selected."""

from biaswatch.shared.analysis.monitors.change_detection import counted_pairs
from biaswatch.shared.analysis.monitors.method import MonitorMethod, one_by_one, row_by_row
from biaswatch.shared.analysis.monitors.methods.odds import planned_selections
from biaswatch.shared.analysis.monitors.round_answers import (
    ComparedSets,
    RoundCounts,
    RoundScope,
    selected_shares,
    selections_of_pairs,
)
from biaswatch.shared.contracts import Comparison
from biaswatch.shared.stats.anytime.discordant import DiscordantPairs


def _count(comparison: Comparison, compared: ComparedSets, scope: RoundScope) -> RoundCounts:
    limit = comparison.watched.selected_at_least or 0.0
    sets = {name: twins for name, twins in compared.sets.items() if twins.compared}
    both, first, second, neither = selections_of_pairs(sets.values(), limit)
    missing = len(sets) - (both + first + second + neither)
    changes = counted_pairs(selected_shares(sets, limit), comparison.key)
    counts = {"pairs": (first, second, both + neither), **changes}
    return RoundCounts(counts, missing, compared.outside)


METHOD = MonitorMethod(
    one_by_one(_count),
    row_by_row(lambda counts: DiscordantPairs(*counts["pairs"])),
    planned_selections,
)
