"""Write the JSON Schema of every record, and a sample of each version that has none yet."""

import json
from pathlib import Path

from biaswatch.building.plan import Plan
from biaswatch.shared.contracts import ROUTES, Record
from biaswatch.shared.requests.monitors import MONITOR_REQUEST
from tests.support.records import one_of_each_kind

FOLDER = Path("shared/contracts")
PLAN_SCHEMA = Path("docs/plan.schema.json")
MONITOR_SCHEMA = Path("docs/monitor.schema.json")


def schema_text(record: type[Record]) -> str:
    """Return the schema of what travels, as it is committed."""
    schema = record.model_json_schema(mode="serialization")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def plan_schema_text() -> str:
    """Return the schema of a plan of the builder, as it is committed."""
    return json.dumps(Plan.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def monitor_schema_text() -> str:
    """Return the schema of a monitor's file: there, a suite is named by its path."""
    schema = MONITOR_REQUEST.json_schema()
    asking = schema["$defs"]["MonitorRequest"]
    del asking["properties"]["suite_hash"]
    path = {"type": "string", "description": "The path of the suite, from the file's folder."}
    asking["properties"]["suite"] = path
    asking["required"] = [each.replace("suite_hash", "suite") for each in asking["required"]]
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write schemas anew; leave samples alone: an old one must decode for ever."""
    for route in ROUTES:
        name = f"{route.record.kind}.v{route.record.version}.json"
        (FOLDER / "schemas" / name).write_text(schema_text(route.record))
        print(FOLDER / "schemas" / name)
    PLAN_SCHEMA.write_text(plan_schema_text())
    MONITOR_SCHEMA.write_text(monitor_schema_text())
    print(PLAN_SCHEMA, MONITOR_SCHEMA)
    for sample in one_of_each_kind():
        path = FOLDER / "samples" / f"{sample.kind}.v{sample.version}.json"
        if not path.exists():
            path.write_text(json.dumps(json.loads(sample.encode()), indent=2) + "\n")
            print(path)


if __name__ == "__main__":
    main()
