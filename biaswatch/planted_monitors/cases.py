"""Simulated models with planted gaps, and monitors for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.simulator.domain.planted_bias import LaterGaps, PlantedModel
from biaswatch.shared.contracts import Suite

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


def cases_of(
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
