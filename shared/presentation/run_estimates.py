"""What a run will ask and about cost, by what earlier runs of the same suite have spent."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Run
from biaswatch.shared.formatting import number

SINGLE_CALL = frozenset({"direct", "chain_of_thought", "reason_and_choose"})
"""Scaffolds that take one call to the model for an answer."""
SCAFFOLDS = ("direct", *sorted(SINGLE_CALL - {"direct"}), "decomposed", "decomposed_algorithmic")


@dataclass(frozen=True)
class EarlierSpending:
    """What runs of a suite at one model have spent, and for how many answers."""

    answers: int
    tokens: int
    cost: float


@dataclass(frozen=True)
class RunEstimate:
    """What one model is asked for; None where no earlier run tells."""

    target: str
    answers: int
    several_calls: bool
    """Whether an answer takes more than one call."""
    tokens: int | None
    cost: float | None

    @property
    def words(self) -> str:
        """The same as a sentence."""
        each = "answers, each of several calls" if self.several_calls else "answers, a call each"
        asked = f"{self.target}: {self.answers:,} {each}"
        if self.tokens is None:
            return f"{asked}; no earlier run of the suite with this model says what they cost."
        money = f" and {number(self.cost)} by your price table" if self.cost else ""
        return f"{asked}; about {self.tokens:,} tokens{money}, as in earlier runs of the suite."


def estimates_of(
    run: Run, probes: int, earlier: Sequence[EarlierSpending | None]
) -> list[RunEstimate]:
    """Return what each target of a run is asked for; `earlier` is in their order."""
    answers = probes * len(run.scaffolds) * run.repeats
    several = not SINGLE_CALL.issuperset(run.scaffolds)
    return [
        RunEstimate(
            target=target.name,
            answers=answers,
            several_calls=several,
            tokens=round(answers * spent.tokens / spent.answers) if spent else None,
            cost=answers * spent.cost / spent.answers if spent else None,
        )
        for target, spent in zip(run.targets, earlier, strict=True)
    ]
