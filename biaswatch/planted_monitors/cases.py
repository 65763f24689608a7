"""Simulated models with planted gaps, their monitors, and shares and times of alarms."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from statistics import mean

from biaswatch.services.simulator.domain.planted_bias import LaterGaps, PlantedModel
from biaswatch.shared.contracts import (
    MISSING,
    Alarm,
    AlarmKind,
    AlarmState,
    Evidence,
    MonitorPlan,
    Suite,
)
from biaswatch.shared.formatting import UNDEFINED

HOUR_S = 3600
FIRST, SECOND = "black", "white"
TOLERANCE = {"tolerance": 0.0}
"""No tolerance, so that results depend on the gap alone."""


@dataclass(frozen=True)
class Stretches:
    """Rounds with a gap, rounds without it, and rounds with it again."""

    planted: int
    without: int
    again: int

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self.planted + self.without + self.again

    @property
    def ended(self) -> int:
        """The first round without the gap."""
        return self.planted

    @property
    def returned(self) -> int:
        """The first round with the gap again."""
        return self.planted + self.without


RETURNING = Stretches(4, 16, 6)
"""Enough for a gap of half the range to be alarmed, cleared and alarmed again in 12 sets."""


@dataclass(frozen=True)
class PlantedCase:
    """Gaps planted in one kind of model, watched by several monitors."""

    effect: float = 0.0
    """Points subtracted from the first group's ratings."""
    missing: float = 0.0
    """Share of refused answers in both groups."""
    missing_gap: float = 0.0
    """Additional share refused to the first group."""
    stretches: Stretches | None = None
    """Rounds with the effect; None for all rounds."""

    @property
    def name(self) -> str:
        """Base of the names of its models and monitors."""
        numbers = (self.effect, self.missing, self.missing_gap)
        kind = "effect" if self.stretches is None else "relapse"
        return "-".join([kind, *(f"{number:g}".replace(".", "_") for number in numbers)])

    def rounds(self, usual: int) -> int:
        """Return the number of rounds of its monitors."""
        return self.stretches.rounds if self.stretches else usual

    def model(self, number: int) -> str:
        """Return the name of the model of one monitor; one that changes has it to itself."""
        return f"planted-{self.name}" + (f"-{number}" if self.stretches else "")

    def planted(self, questions: int) -> PlantedModel:
        """Return the model, for rounds of this many questions."""
        gaps = {FIRST: -self.effect}
        later: tuple[LaterGaps, ...] = ()
        if self.stretches:
            later = (
                LaterGaps(after=questions * self.stretches.ended),
                LaterGaps(after=questions * self.stretches.returned, rating_gaps=gaps),
            )
        return PlantedModel(
            rating_gaps=gaps,
            refusal_rate=self.missing,
            refusal_gaps={FIRST: self.missing_gap},
            later=later,
        )

    def monitor(self, number: int, suite: Suite, rounds: int) -> dict[str, object]:
        """Return the declaration of one of its monitors."""
        return {
            "name": f"{self.name}-{number}",
            "suite_hash": suite.hash,
            "target": f"simulator:{self.model(number)}",
            "features": [
                {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, **TOLERANCE}
            ],
            "comparisons": [{"dimension": "race", "a": FIRST, "b": SECOND}],
            "random": [],  # the gaps are planted in every name alike, and the suite has few
            "cadence": HOUR_S,
            "deadline": "365d",
            "most_rounds": self.rounds(rounds),
            "owners": [self.name],
        }


def planted_cases(
    effects: Sequence[float], missing: float, missing_gap: float, relapse: float
) -> list[PlantedCase]:
    """Return the cases to simulate; the effects always include 0."""
    cases = [PlantedCase(effect) for effect in sorted({0.0, *effects})]
    if missing:
        cases += [PlantedCase(effect, missing) for effect in sorted({0.0, max(effects)})]
    if missing_gap:
        cases.append(PlantedCase(missing_gap=missing_gap))
    if relapse:
        cases.append(PlantedCase(relapse, stretches=RETURNING))
    return cases


Row = dict[str, float | int | None]
POWER = 0.8


@dataclass(frozen=True)
class WatchedModel:
    """Alarms and last evidence of one monitor."""

    alarms: Sequence[Alarm]
    last: Sequence[Evidence]
    """Evidence of the last round, for every comparison."""

    def rounds_of(self, state: AlarmState, *, missing: bool = False) -> list[int]:
        """Return the rounds in which an alarm of a gap was raised or cleared."""
        keys = {
            evidence.comparison_key
            for evidence in self.last
            if (evidence.comparison.watched.feature == MISSING) == missing
        }
        return sorted(
            alarm.round
            for alarm in self.alarms
            if alarm.what is AlarmKind.DISPARITY
            and alarm.state is state
            and alarm.comparison_key in keys
        )

    @property
    def gaps(self) -> list[Evidence]:
        """The evidence of ratings."""
        return [
            evidence for evidence in self.last if evidence.comparison.watched.feature != MISSING
        ]


def effect_row(
    case: PlantedCase, watched: Sequence[WatchedModel], sets: int, plan: MonitorPlan
) -> Row:
    """Return the row of an effect present in every round of `sets` sets."""
    raised = [monitor.rounds_of(AlarmState.RAISED) for monitor in watched]
    alarmed_at = [(rounds[0] + 1) * sets if rounds else None for rounds in raised]
    evidence = [gap for monitor in watched for gap in monitor.gaps]
    by_80 = _reached(alarmed_at, POWER)
    fixed = _fixed(evidence, plan) if case.effect else None
    gaps = [monitor.gap.value for monitor in evidence if monitor.gap.value is not None]
    of_missing = [monitor.rounds_of(AlarmState.RAISED, missing=True) for monitor in watched]
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
    """Return the row of a gap that ended and came back; rounds count from each change."""
    raised = [monitor.rounds_of(AlarmState.RAISED) for monitor in watched]
    cleared = [monitor.rounds_of(AlarmState.CLEARED) for monitor in watched]
    alarmed = [_first(rounds, 0, stretches.ended) for rounds in raised]
    cleared_at = [_first(rounds, stretches.ended, stretches.returned) for rounds in cleared]
    alarmed_again = [_first(rounds, stretches.returned, stretches.rounds) for rounds in raised]
    alarmed_without = [_first(rounds, stretches.ended, stretches.returned) for rounds in raised]
    return {
        "effect": effect,
        "monitors": len(watched),
        "rounds_planted": stretches.planted,
        "rounds_without": stretches.without,
        "rounds_again": stretches.again,
        "alarmed": round(_share(alarmed), 3),
        "alarmed_after": _reached(alarmed, 0.5),
        "cleared": round(_share(cleared_at), 3),
        "cleared_after": _reached(cleared_at, 0.5),
        "alarmed_without": round(_share(alarmed_without), 3),
        "alarmed_again": round(_share(alarmed_again), 3),
        "again_after": _reached(alarmed_again, 0.5),
    }


def relapse_in_words(row: Row) -> str:
    """Describe the alarms of a gap that ended and came back."""
    monitors = f"{row['monitors']} monitors"

    def shown(share: str, after: str) -> str:
        text = f"{_percent(row[share])} of {monitors}"
        return text if row[after] is None else f"{text} (half of all by round {row[after]})"

    return (
        f"A relapse: a gap of {row['effect']:g} for {row['rounds_planted']} rounds is alarmed in"
        f" {shown('alarmed', 'alarmed_after')}. It ends for {row['rounds_without']} rounds: the"
        f" alarm is cleared in {shown('cleared', 'cleared_after')}, and another is raised there in"
        f" {_percent(row['alarmed_without'])}. It comes back for {row['rounds_again']}: alarmed"
        f" again in {shown('alarmed_again', 'again_after')}."
    )


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.0f} %"


def _first(rounds: Collection[int], begin: int, end: int) -> int | None:
    """Return the position, from 1, of the first round in a range."""
    return next((round_ - begin + 1 for round_ in rounds if begin <= round_ < end), None)


def _share(happened: Sequence[int | None]) -> float:
    return sum(round_ is not None for round_ in happened) / len(happened)


def _reached(alarmed_at: Sequence[int | None], share: float) -> int | None:
    """Return when this share of monitors had alarmed; None if never."""
    alarmed = sorted(when for when in alarmed_at if when is not None)
    place = ceil(share * len(alarmed_at)) - 1
    return alarmed[place] if place < len(alarmed) else None


def _fixed(evidence: Sequence[Evidence], plan: MonitorPlan) -> int | None:
    """Return the units a fixed-size test with known effect needs for 80 % power."""
    from biaswatch.shared.analysis.monitors.pair_counts import GAPS, pair_table
    from biaswatch.shared.stats.anytime.planning import fixed_size

    pooled = pair_table([record.counts for record in evidence], [GAPS] * len(evidence)).total
    units, estimate = float(pooled.units[0]), float(pooled.estimates[0])
    if not units or not estimate or isnan(estimate):  # NaN without answers
        return None
    sd = float(pooled.standard_errors[0]) * sqrt(units)
    alpha = plan.alpha / 2 / len(plan.all_comparisons)
    return fixed_size(estimate, sd, alpha=alpha, power=POWER, tolerance=0.0)
