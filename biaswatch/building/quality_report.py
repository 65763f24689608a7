"""The report beside a suite, for people: what it holds, what it can find, what to look at."""

import re
from collections.abc import Iterator
from typing import Any

from biaswatch.building.build_data import BuildLog
from biaswatch.building.quality import SuiteQuality
from biaswatch.building.suite_files import zero_hits
from biaswatch.shared.shown_text import isolated, on_one_line

MARKUP = re.compile(r"[&\\`*_\[\]<>|!#]")
FAULTS = {
    "near_duplicate": "near-duplicates",
    "differs_in_more": "twins differing in more",
    "root_remains": "words of the root left",
    "names_another": "names another concept",
    "gives_away": "gives its baseline away",
    "one_sided": "mostly one keyword",
}
"""What a report calls each kind of fault."""


def report_markdown(name: str, quality: SuiteQuality, build_log: BuildLog) -> str:
    """Return the report for people."""
    return "\n".join(_lines(name, quality, build_log)) + "\n"


def _lines(name: str, quality: SuiteQuality, build_log: BuildLog) -> Iterator[str]:
    yield f"# The suite {_cell(name)}\n"
    yield (
        f"{quality.prompts} prompts about {len(quality.by_concept)} concepts in {quality.sets}"
        f" counterfactual sets, {quality.incomplete_sets} of them incomplete.\n"
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
        told = [(FAULTS[kind], n) for kind, n in quality.fault_counts.items()]
        yield from _table(("fault", "how often"), told)
        shown = [(FAULTS[each.kind], ", ".join(each.keys), each.detail) for each in quality.faults]
        yield from _table(("fault", "where", "what"), shown)
    yield from _presupposed(quality)
    zero = [(concept, word) for concept, words in zero_hits(build_log).items() for word in words]
    if zero:
        yield "Keywords no sentence holds:\n"
        yield from _table(("concept", "keyword"), zero)
    left = [(step, why, n) for step, some in build_log.counts().items() for why, n in some.items()]
    if left:
        yield "## Left out\n"
        yield from _table(("step", "why", "how often"), left)
        yield "Each of them, with its reason, is a line of `left_out.jsonl`.\n"
    for note in build_log.notes:
        yield f"- {_cell(note)}"


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_cell(each) for each in row) + " |"
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
            "What prompts take a concept to have. Where a concept lacks it, say so in the plan"
            " (`lacks`), and the prompt is left out for it:\n"
        )
        yield from _table(("taken for granted", "prompts"), list(quality.presupposed.items()))


def _cell(value: object) -> str:
    """Return a value that cannot become a row, a link, an image or markup of its own."""
    text = " ".join(on_one_line(str(value)).split())
    # In one pass: what stands for one character holds others.
    return isolated(MARKUP.sub(lambda found: f"&#{ord(found[0])};", text))
