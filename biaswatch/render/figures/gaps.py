"""Gaps of a diagnosis as a figure."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from biaswatch.checks import is_unmeasured_row
from biaswatch.render.figures import DPI, STYLE, check_can_draw
from biaswatch.render.result_sentences import interval_sentences
from biaswatch.render.table_rows import (
    Row,
    is_shift,
    turned,
    unit_sentences,
    verdict_counts,
    verdicts_of,
)
from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.verdicts import verdict_scopes
from biaswatch.written_files import atomic_file


def gap_figure(compared: Sequence[Row], about: Row, reference: str | None = None) -> Any:
    """Draw gaps with their intervals, ranked by effect, as in a run's report.

    Shape and colour show the verdict. Where the pairs of a feature have no reference in common,
    each row subtracts the lower group: the same deficit never points in both directions. Below
    are the level, the correction, the units and the scope.

    Raises
    ------
    UsageError
        matplotlib is not installed, or no gap is defined.
    """
    check_can_draw()
    from matplotlib import rc_context

    from biaswatch.render.figures.forest import ForestLine, forest

    lines = []
    defined = [row for row in compared if row["gap"] is not None]
    for row in _in_one_direction(defined, reference):
        low, high = row["summary_ci"] or (None, None)
        verdict = SummaryWord(row["summary"]) if row["summary"] else None
        lines.append(
            ForestLine(
                row["feature"], row["a"], row["b"], row["domain"] or "",
                row["summary_gap"], low, high, verdict,
            )
        )  # fmt: skip
    if not lines:
        raise UsageError("There is no gap to draw.")
    verdicts = [verdicts_of(row) for row in compared if not is_unmeasured_row(row)]
    scopes = verdict_scopes(verdicts, about["tolerance"], shifts=any(map(is_shift, compared)))
    note = " ".join(chain(interval_sentences(compared, about), unit_sentences(about), scopes))
    with rc_context(STYLE):
        return forest(lines, verdict_counts(compared).removesuffix("."), note)


def write_gaps(
    compared: Sequence[Row], about: Row, path: Path, reference: str | None = None
) -> None:
    """Write the figure as a .png or .svg file."""
    figure = gap_figure(compared, about, reference)
    with atomic_file(path) as part:
        figure.savefig(part, dpi=DPI, format=path.suffix.lower().removeprefix("."))


def _in_one_direction(rows: Sequence[Row], reference: str | None) -> Iterator[Row]:
    """Yield comparisons; those without the reference have the direction of those with it."""
    for feature in dict.fromkeys(row["feature"] for row in rows):
        panel = [row for row in rows if row["feature"] == feature]
        subtracted = {row["b"] for row in panel}
        kept = subtracted if len(subtracted) == 1 else {reference}
        is_up = sum(row["gap"] for row in panel if row["b"] in kept) >= 0
        for row in panel:
            yield row if row["b"] in kept or (row["gap"] >= 0) == is_up else turned(row)
