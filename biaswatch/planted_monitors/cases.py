"""What is planted in simulated models, and the monitors that watch them."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.simulator.domain.planted_bias import LaterGaps, PlantedModel
from biaswatch.shared.contracts import Suite

HOUR_S = 3600
FIRST, SECOND = "black", "white"
TOLERANCE = {"tolerance": 0.0}
"""Any gap: so that the numbers say what a gap of this size needs by itself."""


@dataclass(frozen=True)
class Stretches:
    """Rounds with a gap, rounds without it, and rounds with it again."""

    planted: int
    without: int
    again: int

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
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
    """What is planted in one kind of model, which several monitors watch."""

    effect: float = 0.0
    """Points less for the first group's ratings."""
    missing: float = 0.0
    """The share of answers that is refused, to everybody alike."""
    missing_gap: float = 0.0
    """What is refused to the first group beyond that."""
    stretches: Stretches | None = None
    """When the effect is there; None: in every round."""

    @property
    def name(self) -> str:
        """What its models and monitors are named by."""
        numbers = (self.effect, self.missing, self.missing_gap)
        kind = "effect" if self.stretches is None else "relapse"
        return "-".join([kind, *(f"{each:g}".replace(".", "_") for each in numbers)])

    def rounds(self, usual: int) -> int:
        """Return how many rounds its monitors have."""
        return self.stretches.rounds if self.stretches else usual

    def model(self, number: int) -> str:
        """Return the name of the model of one monitor; one that changes has it to itself."""
        return f"planted-{self.name}" + (f"-{number}" if self.stretches else "")

    def planted(self, questions: int) -> PlantedModel:
        """Return the model, of which a round asks so many questions."""
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
            "cadence": HOUR_S,
            "deadline": "365d",
            "most_rounds": self.rounds(rounds),
            "owners": [self.name],
        }


def cases_of(
    effects: Sequence[float], missing: float, missing_gap: float, relapse: float
) -> list[PlantedCase]:
    """Return what is planted: no effect among the effects; what is 0 of the others, not at all."""
    found = [PlantedCase(effect) for effect in sorted({0.0, *effects})]
    if missing:
        found += [PlantedCase(effect, missing) for effect in sorted({0.0, max(effects)})]
    if missing_gap:
        found.append(PlantedCase(missing_gap=missing_gap))
    if relapse:
        found.append(PlantedCase(relapse, stretches=RETURNING))
    return found
