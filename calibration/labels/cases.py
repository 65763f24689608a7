"""The kinds of studies: true rates or ratings, an instrument that errs for one group, labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from biaswatch.shared.contracts import LabelDraw
from tests.support.labelled_studies import LabelledStudy, rates, ratings

WRONG = {"a": 0.05, "b": 0.15}
"""False positives of the instrument, by group; it finds .8 of what there is."""
NO_GAP = replace(rates({"a": 0.2, "b": 0.2}, WRONG), answers=1000)
GAP = replace(rates({"a": 0.2, "b": 0.3}, WRONG), answers=1000)
RARE = rates({"a": 0.02, "b": 0.02}, WRONG)


@dataclass(frozen=True)
class LabelCase:
    """One kind of study with so many labels of each group."""

    name: str
    study: LabelledStudy
    labels: int
    gap: float = 0.0

    @property
    def even(self) -> bool:
        """Whether the plain mean of labels is right on average: what labels alone would say."""
        return self.study.draw is LabelDraw.EVEN and not self.study.person_error


def _unequal(study: LabelledStudy) -> LabelledStudy:
    return replace(study, draw=LabelDraw.UNCERTAINTY)


def _differing(study: LabelledStudy) -> LabelledStudy:
    return replace(study, people=2, person_error=0.1)


STEPS = (100, 150, 300)

CASES: Sequence[LabelCase] = (
    *(LabelCase(f"rates, {n} labels", NO_GAP, n) for n in STEPS),
    *(LabelCase(f"rates, gap .1, {n} labels", GAP, n, gap=0.1) for n in STEPS),
    LabelCase("rates, unequal draw, 100 labels", _unequal(NO_GAP), 100),
    LabelCase("rates, gap .1, unequal draw, 150 labels", _unequal(GAP), 150, gap=0.1),
    LabelCase("rare rates, 100 labels", RARE, 100),
    LabelCase("rates, two people who differ, 100 labels", _differing(NO_GAP), 100),
    *(LabelCase(f"ratings, {n} labels", ratings(0.0, 0.4), n) for n in STEPS),
    *(LabelCase(f"ratings, gap .3, {n} labels", ratings(0.3, 0.4), n, gap=0.3) for n in STEPS),
    *(
        LabelCase(f"ratings, unequal draw, {n} labels", _unequal(ratings(0.0, 0.4)), n)
        for n in STEPS
    ),
    LabelCase(
        "ratings, gap .3, unequal draw, 150 labels", _unequal(ratings(0.3, 0.4)), 150, gap=0.3
    ),
    *(
        LabelCase(
            f"ratings, two people who differ, {n} labels",
            _differing(ratings(0.0, 0.4)), n,
        )
        for n in STEPS
    ),
)  # fmt: skip
