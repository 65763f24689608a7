"""Write the JSON Schemas of records, plans, suites and monitors, and the AsyncAPI document."""

import json
import sys
from pathlib import Path
from typing import Any

from biaswatch.building.plan import Plan
from biaswatch.integrations.dataset_schema import schema_document
from biaswatch.shared.contracts import ROUTES, Suite
from biaswatch.shared.requests.monitors import MONITOR_REQUEST
from tools.asyncapi import asyncapi_document

RECORDS = Path("shared/contracts/schemas")


def monitor_schema() -> dict[str, Any]:
    """Return the schema of a monitor's file, which names its suite by a path."""
    schema = MONITOR_REQUEST.json_schema()
    request = schema["$defs"]["MonitorRequest"]
    del request["properties"]["suite_hash"]
    path = {"type": "string", "description": "The path of the suite, from the file's folder."}
    request["properties"]["suite"] = path
    request["required"] = [name.replace("suite_hash", "suite") for name in request["required"]]
    return schema


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite's file, which may name a file of probes, and `truth`."""
    schema = Suite.model_json_schema()
    probes = schema["properties"]["probes"]
    path = {"type": "string", "description": "The path of a file of probes, from the folder."}
    schema["properties"]["probes"] = {"anyOf": [probes, path]}
    schema["properties"]["truth"] = {
        "type": "object",
        "additionalProperties": {"type": "object"},
        "description": "The right answer for each value of a fact: `{label: {spam: 1}}`.",
    }
    return schema


def schemas() -> dict[Path, str]:
    """Return the text of every schema by its path."""
    documents = {
        Path("docs/asyncapi.json"): asyncapi_document(),
        Path("docs/dataset.schema.json"): schema_document(),
        Path("docs/plan.schema.json"): Plan.model_json_schema(),
        Path("docs/monitor.schema.json"): monitor_schema(),
        Path("docs/suite.schema.json"): suite_schema(),
    }
    for route in ROUTES:
        path = RECORDS / f"{route.record.kind}.v{route.record.version}.json"
        documents[path] = route.record.model_json_schema(mode="serialization")
    return {
        path: json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        for path, document in documents.items()
    }


def main() -> int:
    """Write the documents that differ and print their paths; with --check, only print them."""
    differing = {
        path: text for path, text in schemas().items()
        if not path.exists() or path.read_text() != text
    }  # fmt: skip
    for path, text in differing.items():
        print(path)
        if "--check" not in sys.argv:
            path.write_text(text)
    return int("--check" in sys.argv and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
