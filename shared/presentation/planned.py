"""The power of a run by number of repeats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from biaswatch.shared.formatting import counted, number
from biaswatch.shared.presentation.feature_power import EarlierFindings, FeaturePower
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    number_cell,
    numbers,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.stats.comparisons.planned_power import POWER

UNKNOWN = (
    "Not known before the first run of this suite. After it, this page shows the gaps a run finds,"
    " by number of repeats; before it, `biaswatch plan SUITE --gap G` estimates the size."
)
OFFERED_REPEATS = (1, 3, 5, 10, 20, 50)
HARDLY = 0.9
"""Many repeats hardly help if they still need more than this share of the gap."""
MOST_FEATURES = 4
"""Features with a column of their own."""


@dataclass(frozen=True)
class PowerByRepeats:
    """The findable gaps of a run, by number of repeats."""

    earlier: EarlierFindings | None
    parts: int
    answers: int
    """Answers of the new run with one repeat."""
    repeats: int
    """Repeats of the new run."""

    @property
    def sentences(self) -> list[str]:
        """The power of the new run, and the fewest repeats for ruling a gap out."""
        powers = self._powers(self.repeats)
        if not powers:
            return [UNKNOWN]
        lines = [power.sentence for power in powers]
        repeats = self.earlier.repeats if self.earlier else 1
        lines.append(
            f"Estimated from the latest run of this suite, with {counted(repeats, 'repeat')};"
            " another run may find somewhat less or more."
        )
        if not all(power.is_known for power in powers):
            lines.append(
                "The gaps are upper bounds: the earlier run asked each question once, which does"
                " not show how far repeats help."
            )
        return [*lines, *self._repeats_help(powers), *self._advice(powers)]

    def _repeats_help(self, powers: Sequence[FeaturePower]) -> list[str]:
        """Return the remark that more repeats hardly help, if so."""
        most = self._powers(OFFERED_REPEATS[-1])
        hardly = all(
            after.is_known and after.typical.gap > HARDLY * before.typical.gap
            for before, after in zip(powers, most, strict=True)
        )
        if self.repeats >= OFFERED_REPEATS[-1] or not hardly:
            return []
        return ["More repeats hardly help: a smaller gap needs more questions."]

    def _advice(self, powers: Sequence[FeaturePower]) -> list[str]:
        """Return the number of repeats for ruling a gap out, or another advice."""
        with_tolerance = [power for power in powers if power.tolerance]
        if not with_tolerance:
            return ["Declare a tolerance in the suite for a run that can also rule a gap out."]
        if all(power.rules_out for power in with_tolerance):
            return []
        enough = next((count for count in OFFERED_REPEATS if self._rules_out(count)), None)
        if enough is None:
            most = OFFERED_REPEATS[-1]
            return [
                f"Not even {most} repeats can rule a gap out: ask more questions, or compare less."
            ]
        return [f"{enough} repeats can rule out a gap beyond the tolerance."]

    def _rules_out(self, repeats: int) -> bool:
        """Return whether some repeats rule a gap out on every feature."""
        return all(power.rules_out for power in self._powers(repeats) if power.tolerance)

    def _powers(self, repeats: int) -> list[FeaturePower]:
        """Return the power on each feature with some repeats."""
        return self.earlier.powers(self.parts, repeats) if self.earlier else []

    def table(self, address: Callable[[int], str]) -> Table | None:
        """Return findable and excluded gaps by repeats; None without an earlier run.

        Parameters
        ----------
        address
            Returns the address of the form with another number of repeats.
        """
        powers = self._powers(self.repeats)[:MOST_FEATURES]
        if not powers:
            return None
        has_tolerance = any(power.tolerance for power in powers)
        columns = (*texts("Repeats"), *numbers("Answers", *(words(it.feature) for it in powers)))
        offered = sorted({*OFFERED_REPEATS, self.repeats})
        return Table(
            f"The gap that {number(100 * POWER)} % of runs find, in half of the comparisons",
            (*columns, *texts(*["Can rule out a gap"] * has_tolerance)),
            tuple(self._row(count, address, has_tolerance=has_tolerance) for count in offered),
        )

    def _row(
        self, count: int, address: Callable[[int], str], *, has_tolerance: bool
    ) -> tuple[TableCell, ...]:
        is_chosen = count == self.repeats
        choice = text_cell(
            f"{count}, chosen" if is_chosen else f"Choose {count}",
            href=None if is_chosen else address(count),
        )
        gaps = [text_cell(power.words) for power in self._powers(count)[:MOST_FEATURES]]
        ruled_out = text_cell("yes" if self._rules_out(count) else "no")
        return (choice, number_cell(count * self.answers), *gaps, *[ruled_out] * has_tolerance)
