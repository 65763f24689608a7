"""Report on a suite: contents, detectable gaps, faults to review."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaswatch.building.build_data import BuildLog
from biaswatch.building.prompts import Row, zero_hits
from biaswatch.building.quality import SuiteQuality
from biaswatch.shared.errors import UsageError
from biaswatch.shared.foreign_text import isolated, on_one_line, visible
from biaswatch.shared.formatting import counted

MARKUP = re.compile(r"[&\\`*_\[\]<>|!#]")
FAULTS = {
    "near_duplicate": "near-duplicates",
    "differs_in_more": "twins differing in more",
    "root_remains": "words of the root left",
    "names_another": "names another concept",
    "gives_away": "gives its baseline away",
    "one_sided": "mostly one keyword",
}
"""Label of each kind of fault."""


def report_markdown(name: str, quality: SuiteQuality, build_log: BuildLog) -> str:
    """Return the report for people."""
    return "\n".join(_lines(name, quality, build_log)) + "\n"


def _lines(name: str, quality: SuiteQuality, build_log: BuildLog) -> Iterator[str]:
    yield f"# The suite {_cell(name)}\n"
    yield (
        f"{quality.prompts} prompts about {counted(len(quality.by_concept), 'concept')} in"
        f" {quality.sets} counterfactual sets, {quality.incomplete_sets} of them incomplete.\n"
    )
    words = quality.words
    yield (
        f"Words of a prompt: least {words['least']}, median {words['median']}, mean"
        f" {words['mean']}, most {words['most']}.\n"
    )
    yield from _table(
        ("concept", "prompts", "words (median)", "reading ease"),
        [
            (c, n, quality.words_by_concept[c]["median"], _ease(quality, c))
            for c, n in quality.by_concept.items()
        ],
    )
    yield (
        f"Reading ease is Flesch's, of the {quality.reading_ease_of}, for English; syllables are"
        " counted by rule. Balance (prompts of the rarest concept for one of the most frequent):"
        f" {quality.balance}.\n"
    )
    yield from _power(quality)
    yield from _table(("source", "prompts"), list(quality.by_source.items()))
    yield "## To look at\n"
    if not quality.fault_counts:
        yield "Nothing: no near-duplicates, leaks, or twins that differ in more than the concept.\n"
    else:
        counts = [(FAULTS[kind], n) for kind, n in quality.fault_counts.items()]
        yield from _table(("fault", "how often"), counts)
        examples = [
            (FAULTS[fault.kind], ", ".join(fault.keys), fault.detail) for fault in quality.faults
        ]
        yield from _table(("fault", "where", "what"), examples)
    yield from _presupposed(quality)
    zero = [(concept, word) for concept, words in zero_hits(build_log).items() for word in words]
    if zero:
        yield "Keywords no sentence holds:\n"
        yield from _table(("concept", "keyword"), zero)
    omissions = [
        (step, why, n) for step, reasons in build_log.counts().items() for why, n in reasons.items()
    ]
    if omissions:
        yield "## Left out\n"
        yield from _table(("step", "why", "how often"), omissions)
        yield "Each of them, with its reason, is a line of `left_out.jsonl`.\n"
    for note in build_log.notes:
        yield f"- {_cell(note)}"


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_cell(cell) for cell in row) + " |"
    yield ""


def _ease(quality: SuiteQuality, concept: str) -> str:
    number = quality.reading_ease[concept]
    return f"none: {quality.reading_ease_reasons[concept]}" if number is None else f"{number:g}"


def _power(quality: SuiteQuality) -> Iterator[str]:
    yield "## What it can find\n"
    yield from _table(
        ("concept, against the others", "prompts", "sets", "smallest gap"),
        [
            (p.concept, p.prompts, p.paired_sets, f"{p.smallest_gap_sd} sd")
            if p.smallest_gap_sd is not None
            else (p.concept, p.prompts, p.paired_sets, f"none: {p.reason}")
            for p in quality.power
        ],
    )
    yield (
        "The smallest gap is found in 80 % of runs with one answer to each prompt, in standard"
        " deviations of an answer, at a level of 5 % over all comparisons; twins are taken to"
        " correlate by .5. `biaswatch plan` simulates a run for gaps in units of the feature.\n"
    )


def _presupposed(quality: SuiteQuality) -> Iterator[str]:
    if quality.presupposed:
        yield (
            "Things that prompts presuppose. If a concept lacks one, say so in the plan"
            " (`lacks`), and the prompt is left out for it:\n"
        )
        yield from _table(("taken for granted", "prompts"), list(quality.presupposed.items()))


def _cell(value: object) -> str:
    """Return a value that cannot become a row, a link, an image or markup of its own."""
    text = " ".join(on_one_line(str(value)).split())
    # In one pass: an entity contains characters that are themselves markup.
    return isolated(MARKUP.sub(lambda match: f"&#{ord(match[0])};", text))


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
    faults = {label: quality.fault_counts.get(kind, 0) for kind, label in FAULTS.items()}
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
