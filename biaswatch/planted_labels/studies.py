"""What is planted: true rates or ratings by group, an instrument's errors, and who labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.simulator.domain.planted_bias import PlantedModel, ReadingErrors
from biaswatch.shared.contracts import LabelDraw, Suite, SuiteProbe

GROUPS = {"black": "Kwame", "white": "Henry"}
"""By group, the name by which the simulator knows it."""
RATE, WRONG_GAP = 0.2, 0.1
RATING, SHIFT = 3.2, -0.4


@dataclass(frozen=True)
class LabelledCase:
    """One kind of study: what is true, how the instrument errs, how answers are drawn, by whom."""

    name: str
    highest: int
    """The scale is from 0, or of ratings from 1, to this."""
    gap: float = 0.0
    """How much more the second group truly has."""
    draw: LabelDraw = LabelDraw.EVEN
    people: int = 1
    person_error: float = 0.0
    """How often a person says some value of the scale instead of what is so."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the scale."""
        return (0.0 if self.highest == 1 else 1.0, float(self.highest))

    @property
    def planted(self) -> PlantedModel:
        """The model: its answers' truth, and what an instrument reads instead."""
        if self.highest == 1:
            errors = ReadingErrors(
                sensitivity=0.8, false_positives=0.05, false_positive_gaps={"white": WRONG_GAP}
            )
            mean, noise = RATE, 0.0
        else:
            errors = ReadingErrors(shifts={"white": SHIFT}, noise_sd=0.6)
            mean, noise = RATING, 1.0
        return PlantedModel(
            rating_mean=mean,
            rating_noise_sd=noise,
            rating_gaps={"white": self.gap},
            reading_errors=errors,
        )

    def suite(self, answers: int) -> Suite:
        """Return the questions: so many about each group, each asked once."""
        low, high = self.bounds
        return Suite(
            name=f"labelled-{self.highest}",
            extractors=("rating",),
            features=("rating",),
            ranges={"rating": (low, high)},
            probes=tuple(
                SuiteProbe(
                    key=f"{group}-{number}",
                    prompt=f"This is letter {number} of {name}. Rate how rude the letter is"
                    f" from {low:g} to {high:g}, as a whole number.",
                    groups={"race": group},
                )
                for group, name in GROUPS.items()
                for number in range(answers)
            ),
        )


CASES: Sequence[LabelledCase] = (
    LabelledCase("rates", 1),
    LabelledCase("rates, gap of .1", 1, gap=0.1),
    LabelledCase("rates, unequal draw", 1, draw=LabelDraw.UNCERTAINTY),
    LabelledCase("rates, two people who differ", 1, people=2, person_error=0.1),
    LabelledCase("ratings", 5),
    LabelledCase("ratings, unequal draw", 5, draw=LabelDraw.UNCERTAINTY),
)
