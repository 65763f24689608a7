"""The report beside a suite: what is in it, what was left out, what a person should look at."""

from collections.abc import Iterator
from typing import Any

from services.builder.domain.material import Ledger
from services.builder.domain.quality import Quality

EXAMPLES = 20


def report_json(quality: Quality, ledger: Ledger) -> dict[str, Any]:
    """Return the report as data."""
    return {
        "quality": quality.as_json(),
        "hits": ledger.hits,
        "zero_hits": zero_hits(ledger),
        "left_out": ledger.counts(),
        "examples_left_out": [
            {"step": each.step, "what": each.what, "why": each.why}
            for each in ledger.left[:EXAMPLES]
        ],
        "notes": ledger.notes,
    }


def zero_hits(ledger: Ledger) -> dict[str, list[str]]:
    """Return the keywords no sentence holds, by concept."""
    found = {c: [word for word, n in words.items() if n == 0] for c, words in ledger.hits.items()}
    return {concept: words for concept, words in found.items() if words}


def report_markdown(name: str, quality: Quality, ledger: Ledger) -> str:
    """Return the report for people."""
    return "\n".join(_lines(name, quality, ledger)) + "\n"


def _lines(name: str, quality: Quality, ledger: Ledger) -> Iterator[str]:
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
        ("concept", "prompts", "reading ease"),
        [(c, n, quality.reading_ease[c]) for c, n in quality.by_concept.items()],
    )
    yield f"Reading ease is Flesch's: {quality.reading_ease_reason}.\n"
    yield from _table(("source", "prompts"), list(quality.by_source.items()))
    yield "## To look at\n"
    if not quality.fault_counts:
        yield "No near-duplicates, and no twins that differ in more than the concept.\n"
    else:
        yield from _table(("fault", "how often"), list(quality.fault_counts.items()))
    zero = [(concept, word) for concept, words in zero_hits(ledger).items() for word in words]
    if zero:
        yield "Keywords no sentence holds:\n"
        yield from _table(("concept", "keyword"), zero)
    left = [(step, why, n) for step, some in ledger.counts().items() for why, n in some.items()]
    if left:
        yield "## Left out\n"
        yield from _table(("step", "why", "how often"), left)
    for note in ledger.notes:
        yield f"- {_cell(note)}"


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_cell(each) for each in row) + " |"
    yield ""


def _cell(value: object) -> str:
    """Return a value that cannot become a row, a link, an image or markup of its own."""
    text = " ".join(str(value).split())
    for mark in "\\`*_[]<>|!#":
        text = text.replace(mark, f"&#{ord(mark)};")
    return text
