"""A suite and the report beside it as text: the same bytes for the same content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from services.builder.domain.build_data import BuildLog, PromptItem
from services.builder.domain.plan import Plan
from services.builder.domain.quality import SuiteQuality
from shared.contracts.identity import derived_id, token_of
from shared.shown_text import isolated, on_one_line

PROBES_FILE = "probes.jsonl"
OF_HIT = ("keyword", "source_tag", "position", "licence")
Row = dict[str, Any]


def rows_of(items: Sequence[PromptItem], domain: str) -> list[Row]:
    """Return a line of the suite for each item: what the platform reads, then what the field does.

    Two prompts that are the same about the same concept would be one question asked twice; the
    second is left to the caller to refuse: keys are derived from the set and the concept.
    """
    return [
        {
            "key": f"{item.set_id}.{token_of(item.concept)}",
            "set": item.set_id,
            "groups": {"concept": item.concept},
            "prompt": item.prompt,
            "baseline": item.baseline,
            "domain": domain,
            "concept": item.concept,
            **{name: getattr(item.hit, name) for name in OF_HIT},
            "branched_from": item.branched_from,
        }
        for item in items
    ]


def header_of(plan: Plan, how: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Return the header; its version changes with anything in the suite."""
    header: dict[str, Any] = {
        "name": plan.name,
        "about": plan.about,
        "extractors": list(plan.extractors),
        **({"features": list(plan.features)} if plan.features else {}),
        "probes": PROBES_FILE,
        "made": dict(how),
    }
    return {**header, "version": version_of(header, rows)}


def version_of(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of a suite's content: header without its version, and every line."""
    rest = {key: value for key, value in header.items() if key != "version"}
    return derived_id("suite-files", rest, [dict(row) for row in rows])


def header_text(header: Mapping[str, Any]) -> str:
    """Return the header as it is written."""
    return yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True, width=100)


def rows_text(rows: Sequence[Row]) -> str:
    """Return the lines as they are written."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


EXAMPLES = 20


def report_json(quality: SuiteQuality, build_log: BuildLog) -> dict[str, Any]:
    """Return the report as data."""
    return {
        "quality": asdict(quality),
        "hits": build_log.hits,
        "zero_hits": zero_hits(build_log),
        "left_out": build_log.counts(),
        "examples_left_out": [asdict(each) for each in build_log.left[:EXAMPLES]],
        "notes": build_log.notes,
    }


def zero_hits(build_log: BuildLog) -> dict[str, list[str]]:
    """Return the keywords no sentence holds, by concept."""
    found = {
        c: [word for word, n in words.items() if n == 0] for c, words in build_log.hits.items()
    }
    return {concept: words for concept, words in found.items() if words}


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
    zero = [(concept, word) for concept, words in zero_hits(build_log).items() for word in words]
    if zero:
        yield "Keywords no sentence holds:\n"
        yield from _table(("concept", "keyword"), zero)
    left = [(step, why, n) for step, some in build_log.counts().items() for why, n in some.items()]
    if left:
        yield "## Left out\n"
        yield from _table(("step", "why", "how often"), left)
    for note in build_log.notes:
        yield f"- {_cell(note)}"


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(_cell(each) for each in row) + " |"
    yield ""


def _cell(value: object) -> str:
    """Return a value that cannot become a row, a link, an image or markup of its own."""
    text = " ".join(on_one_line(str(value)).split())
    for mark in "\\`*_[]<>|!#":
        text = text.replace(mark, f"&#{ord(mark)};")
    return isolated(text)
