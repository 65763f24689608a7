"""Serialises a suite and its report deterministically."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from biaswatch.building.build_data import BuildLog, Omission, PromptItem
from biaswatch.building.plan import Plan
from biaswatch.building.quality import SuiteQuality
from biaswatch.shared.contracts.identity import derived_id, token_of

PROBES_FILE = "probes.jsonl"
OF_HIT = ("keyword", "source_tag", "position", "licence")
Row = dict[str, Any]


def rows_of(items: Sequence[PromptItem], domain: str) -> list[Row]:
    """Return a line of the suite for each item.

    Keys are derived from set and concept, so the caller drops repeated prompts of a concept.
    """
    return [
        {
            "key": f"{item.set_id}.{token_of(item.concept)}",
            "set": item.set_id,
            "groups": {"concept": item.concept},
            "prompt": item.prompt,
            "stimuli": {"text": item.set_id},
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
        "random": ["text"],
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
        "examples_left_out": [_omission(omission) for omission in build_log.left[:EXAMPLES]],
        "notes": build_log.notes,
    }


def left_out_text(build_log: BuildLog) -> str:
    """Return all omissions as JSON lines: step, what, why, keyword."""
    lines = (json.dumps(_omission(omission), ensure_ascii=False) for omission in build_log.left)
    return "".join(line + "\n" for line in lines)


def _omission(omission: Omission) -> dict[str, str]:
    return {name: value for name, value in asdict(omission).items() if value is not None}


def zero_hits(build_log: BuildLog) -> dict[str, list[str]]:
    """Return the keywords without a sentence, by concept."""
    words_by_concept = {
        c: [word for word, n in words.items() if n == 0] for c, words in build_log.hits.items()
    }
    return {concept: words for concept, words in words_by_concept.items() if words}
