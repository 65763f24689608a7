"""An extractor's own bias on a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console

from biaswatch.render.terminal import print_sentence, print_table, terminal_table
from biaswatch.shared.formatting import counted, coverage, number, p_value
from biaswatch.shared.presentation.tables import estimate_text

if TYPE_CHECKING:
    from biaswatch.services.extractor.domain.calibration import ExtractorCalibration


def print_own_bias(
    name: str, calibration: "ExtractorCalibration", alpha: float, *, everything: bool
) -> None:
    """Print the conclusion and the gaps beyond chance, or `everything`."""
    console, level = Console(), f"[{coverage(alpha)}]"
    differ = [gap for gap in calibration.gaps if (gap.p_adjusted or 1.0) <= alpha]
    rest = [gap for gap in calibration.gaps if gap not in differ]
    total = f"{counted(len(calibration.gaps), 'pair')} of groups"
    print_sentence(
        console,
        f"{name} is shown to score {len(differ) or 'none'} of {total} differently, where only the"
        " group's name changes in a sentence.",
        style="bold",
    )
    shown = calibration.gaps if everything else differ
    rows = (
        (g.feature, f"{g.a} - {g.b}", estimate_text(g.gap), p_value(g.p_adjusted)) for g in shown
    )
    if shown:
        print_table(
            console, terminal_table(("feature", "groups", f"gap {level}", "p (Holm)"), rows)
        )
    for feature, gaps in groupby(rest, key=lambda gap: gap.feature):
        limits = [abs(end) for g in gaps for end in (g.gap.low, g.gap.high) if end is not None]
        if limits:
            print_sentence(
                console,
                f"{feature}: for {counted(len(limits) // 2, 'pair')} of groups no difference is"
                f" shown; gaps up to {number(max(limits))} could remain (each by its own"
                " interval).",
            )
    if missing := sum(mean.missing for mean in calibration.means):
        print_sentence(console, f"{missing} sentences have no number.")
    if everything:
        means = (
            (m.feature, f"{m.dimension} {m.group}", estimate_text(m.mean), str(m.missing))
            for m in calibration.means
        )
        head = ("feature", "group", f"mean {level}", "missing")
        print_table(console, terminal_table(head, means))
    else:
        print_sentence(console, "All gaps and means: --all.", style="dim")
