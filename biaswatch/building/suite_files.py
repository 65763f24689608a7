"""A suite and the report beside it as text: the same bytes for the same content."""

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
        "examples_left_out": [_omission(each) for each in build_log.left[:EXAMPLES]],
        "notes": build_log.notes,
    }


def left_out_text(build_log: BuildLog) -> str:
    """Return everything that was left out, a line each: step, what, why, keyword."""
    lines = (json.dumps(_omission(each), ensure_ascii=False) for each in build_log.left)
    return "".join(line + "\n" for line in lines)


def _omission(each: Omission) -> dict[str, str]:
    return {name: value for name, value in asdict(each).items() if value is not None}


def zero_hits(build_log: BuildLog) -> dict[str, list[str]]:
    """Return the keywords no sentence holds, by concept."""
    found = {
        c: [word for word, n in words.items() if n == 0] for c, words in build_log.hits.items()
    }
    return {concept: words for concept, words in found.items() if words}
