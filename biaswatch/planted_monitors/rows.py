"""What is said of monitors of planted models: how many have alarmed, when, and when again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from statistics import mean

from biaswatch.planted_monitors.cases import PlantedCase, Stretches
from biaswatch.shared.contracts import MISSING, Alarm, AlarmKind, AlarmState, Evidence, MonitorPlan
from biaswatch.shared.formatting import UNDEFINED

Row = dict[str, float | int | None]
POWER = 0.8


@dataclass(frozen=True)
class WatchedModel:
    """What one monitor has said of its model."""

    alarms: Sequence[Alarm]
    last: Sequence[Evidence]
    """Of the last round, for every comparison."""

    def told(self, state: AlarmState, *, missing: bool = False) -> list[int]:
        """Return the rounds that raised, or cleared, an alarm of a gap (in missing answers)."""
        keys = {
            each.comparison_key
            for each in self.last
            if (each.comparison.watched.feature == MISSING) == missing
        }
        return sorted(
            each.round
            for each in self.alarms
            if each.what is AlarmKind.DISPARITY
            and each.state is state
            and each.comparison_key in keys
        )

    @property
    def gaps(self) -> list[Evidence]:
        """The evidence of ratings."""
        return [each for each in self.last if each.comparison.watched.feature != MISSING]


def effect_row(
    case: PlantedCase, watched: Sequence[WatchedModel], sets: int, plan: MonitorPlan
) -> Row:
    """Return the row of an effect that is there in every round of so many sets."""
    raised = [each.told(AlarmState.RAISED) for each in watched]
    alarmed_at = [(rounds[0] + 1) * sets if rounds else None for rounds in raised]
    evidence = [gap for each in watched for gap in each.gaps]
    by_80 = _reached(alarmed_at, POWER)
    fixed = _fixed(evidence, plan) if case.effect else None
    gaps = [each.gap.value for each in evidence if each.gap.value is not None]
    of_missing = [each.told(AlarmState.RAISED, missing=True) for each in watched]
    share = _share(alarmed_at)
    return {
        "effect": case.effect,
        "missing": case.missing,
        "missing_gap": case.missing_gap,
        "monitors": len(watched),
        "alarmed": round(share, 3),
        "standard_error": round(sqrt(share * (1 - share) / len(watched)), 3),
        "missing_alarmed": round(sum(map(bool, of_missing)) / len(watched), 3),
        "gap_found": round(mean(gaps), 3) if gaps else None,
        "median_units": _reached(alarmed_at, 0.5),
        "units_of_80_percent": by_80,
        "looking_once": fixed,
        "ratio": round(by_80 / fixed, 2) if by_80 and fixed else None,
    }


def relapse_row(effect: float, stretches: Stretches, watched: Sequence[WatchedModel]) -> Row:
    """Return the row of a gap that ended and came back: rounds count from when either happened."""
    raised = [each.told(AlarmState.RAISED) for each in watched]
    cleared = [each.told(AlarmState.CLEARED) for each in watched]
    found = [_first(rounds, 0, stretches.ended) for rounds in raised]
    over = [_first(rounds, stretches.ended, stretches.returned) for rounds in cleared]
    again = [_first(rounds, stretches.returned, stretches.rounds) for rounds in raised]
    false = [_first(rounds, stretches.ended, stretches.returned) for rounds in raised]
    return {
        "effect": effect,
        "monitors": len(watched),
        "rounds_planted": stretches.planted,
        "rounds_without": stretches.without,
        "rounds_again": stretches.again,
        "alarmed": round(_share(found), 3),
        "alarmed_after": _reached(found, 0.5),
        "cleared": round(_share(over), 3),
        "cleared_after": _reached(over, 0.5),
        "alarmed_without": round(_share(false), 3),
        "alarmed_again": round(_share(again), 3),
        "again_after": _reached(again, 0.5),
    }


def relapse_in_words(row: Row) -> str:
    """Say what became of a gap that ended and came back, as a person reads it."""
    monitors = f"{row['monitors']} monitors"

    def told(share: str, after: str) -> str:
        some = f"{_percent(row[share])} of {monitors}"
        return some if row[after] is None else f"{some} (half of all by round {row[after]})"

    return (
        f"A relapse: a gap of {row['effect']:g} for {row['rounds_planted']} rounds is alarmed in"
        f" {told('alarmed', 'alarmed_after')}. It ends for {row['rounds_without']} rounds: the"
        f" alarm is cleared in {told('cleared', 'cleared_after')}, and another is raised there in"
        f" {_percent(row['alarmed_without'])}. It comes back for {row['rounds_again']}: alarmed"
        f" again in {told('alarmed_again', 'again_after')}."
    )


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.0f} %"


def _first(rounds: Collection[int], begin: int, end: int) -> int | None:
    """Return the number, from 1, of the first of these rounds within a stretch."""
    return next((each - begin + 1 for each in rounds if begin <= each < end), None)


def _share(happened: Sequence[int | None]) -> float:
    return sum(each is not None for each in happened) / len(happened)


def _reached(alarmed_at: Sequence[int | None], share: float) -> int | None:
    """Return by when this share of all monitors had alarmed; None where it never had."""
    alarmed = sorted(when for when in alarmed_at if when is not None)
    place = ceil(share * len(alarmed_at)) - 1
    return alarmed[place] if place < len(alarmed) else None


def _fixed(evidence: Sequence[Evidence], plan: MonitorPlan) -> int | None:
    """Return the units of the test that looks once, at 80 % power, and knows effect and spread."""
    from biaswatch.shared.analysis.monitors.pair_counts import GAPS, pair_table
    from biaswatch.shared.stats.anytime.planning import fixed_size

    whole = pair_table([each.counts for each in evidence], [GAPS] * len(evidence)).together
    units, estimate = float(whole.units[0]), float(whole.estimates[0])
    if not units or not estimate or isnan(estimate):  # an estimate of no answers is no number
        return None
    sd = float(whole.standard_errors[0]) * sqrt(units)
    alpha = plan.alpha / 2 / len(plan.watched)
    return fixed_size(estimate, sd, alpha=alpha, power=POWER, tolerance=0.0)
