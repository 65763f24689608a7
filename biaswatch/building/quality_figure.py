"""Pictures of a suite's quality, where matplotlib is installed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biaswatch.building.quality import SuiteQuality
from biaswatch.building.quality_report import FAULTS
from biaswatch.building.suite_files import Row
from biaswatch.shared.errors import UsageError
from biaswatch.shared.shown_text import visible

INK, PALE = "#1f4e79", "#b8c9d9"
MOST_BARS = 40
LONGEST_LABEL = 32


def draw_quality(name: str, quality: SuiteQuality, rows: Sequence[Row], file: Path) -> Path:
    """Draw counts, lengths, readability and faults into one picture; return its file.

    Raise UsageError where matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "Pictures need matplotlib: install biaswatch with the extra `figures`, or build"
            " without --figures."
        ) from None
    bars = min(MOST_BARS, len(quality.by_concept))
    figure = Figure(figsize=(12, 5.5 + 0.24 * bars), layout="constrained")
    axes = figure.subplots(2, 2, height_ratios=[1.2 + 0.24 * bars, 3.2])
    figure.suptitle(f"The suite {name}: {quality.prompts} prompts", parse_math=False)
    _bars(axes[0][0], quality.by_concept, "prompts by concept")
    _dots(
        axes[0][1],
        quality.reading_ease,
        f"reading ease of {quality.reading_ease_of} (Flesch, higher is easier)",
    )
    _lengths(axes[1][0], [len(str(row["prompt"]).split()) for row in rows])
    faults = {said: quality.fault_counts.get(kind, 0) for kind, said in FAULTS.items()}
    _bars(axes[1][1], {**faults, "incomplete sets": quality.incomplete_sets}, "to look at")
    try:
        figure.savefig(file, dpi=110)
    except OSError as error:
        raise UsageError(f"The picture cannot be written to {file}: {error}.") from None
    return file


def _bars(axis: Any, counts: Mapping[str, int], title: str) -> None:
    shown = list(counts.items())[:MOST_BARS]
    rows = list(range(len(shown)))
    drawn = axis.barh(rows, [count for _, count in shown], color=INK, height=0.7)
    axis.bar_label(drawn, padding=3, fontsize=8)
    axis.set_xlim(0, max([count for _, count in shown] + [1]) * 1.12)
    _frame(axis, [label for label, _ in shown], title, len(counts))


def _dots(axis: Any, values: Mapping[str, float | None], title: str) -> None:
    shown = list(values.items())[:MOST_BARS]
    points = [(value, row) for row, (_, value) in enumerate(shown) if value is not None]
    axis.hlines(range(len(shown)), 0, 1, transform=axis.get_yaxis_transform(), color=PALE, lw=0.6)
    axis.plot([x for x, _ in points], [y for _, y in points], "o", color=INK, ms=5)
    _frame(axis, [label for label, _ in shown], title, len(values))


def _frame(axis: Any, labels: Sequence[str], title: str, total: int) -> None:
    seen = map(visible, labels)
    short = [x if len(x) <= LONGEST_LABEL else x[: LONGEST_LABEL - 1] + "…" for x in seen]
    # Labels come from plans and models: a dollar sign in them is not a formula.
    axis.set_yticks(range(len(short)), short, fontsize=8, parse_math=False)
    axis.set_ylim(len(short) - 0.4, -0.6)
    more = f" (the first {len(labels)} of {total})" if total > len(labels) else ""
    _plain(axis, title + more)


def _lengths(axis: Any, lengths: Sequence[int]) -> None:
    counted = Counter(lengths)
    axis.bar(list(counted), list(counted.values()), color=INK, width=0.85)
    axis.set_xlabel("words", fontsize=8)
    axis.set_ylabel("prompts", fontsize=8)
    _plain(axis, "words of a prompt")
    axis.set_ylim(0, max([*counted.values(), 1]) * 1.05)
    axis.yaxis.get_major_locator().set_params(integer=True)


def _plain(axis: Any, title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axis.set_title(title, fontsize=10, loc="left")
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
