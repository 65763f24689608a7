"""A suite as files: a YAML header and a JSONL of probes, the same bytes for the same content."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from services.builder.domain.material import Item
from services.builder.domain.plan import Plan
from shared.contracts.identity import derived_id, token_of

PROBES_FILE = "probes.jsonl"
Row = dict[str, Any]


def rows_of(items: Sequence[Item], domain: str) -> list[Row]:
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
            "keyword": item.hit.keyword,
            "source_tag": item.hit.source_tag,
            "position": item.hit.position,
            "licence": item.hit.licence,
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
