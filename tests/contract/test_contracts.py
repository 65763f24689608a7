"""What is committed about the contracts is true, and what was committed before still decodes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from biaswatch.shared.contracts import ROUTES, Record, record_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "shared" / "contracts"
SAMPLES = sorted((FOLDER / "samples").glob("*.json"))
KINDS = [route.record for route in ROUTES]


def test_the_committed_schemas_are_current() -> None:
    command = [sys.executable, "-m", "tools.schemas", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"run `make contracts`, and read its diff: {result.stdout}"


@pytest.mark.parametrize("record", KINDS, ids=lambda r: r.kind)
def test_every_field_is_described(record: type[Record]) -> None:
    schema = record.model_json_schema(mode="serialization")
    for part in [schema, *schema.get("$defs", {}).values()]:
        for name, field in part.get("properties", {}).items():
            assert "description" in field or "$ref" in field, f"{part['title']}.{name}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_every_sample_ever_committed_still_decodes_to_the_same_id(path: Path) -> None:
    kind = record_of(path.name.split(".")[0])
    sample = json.loads(path.read_text())
    record = kind.decode(path.read_bytes())
    assert record.id == sample["id"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_every_sample_fits_its_schema(path: Path) -> None:
    schema = json.loads((FOLDER / "schemas" / path.name).read_text())
    jsonschema.validate(json.loads(path.read_text()), schema)


def test_every_record_has_a_sample_of_its_version() -> None:
    wanted = {f"{record.kind}.v{record.version}.json" for record in KINDS}
    assert wanted <= {path.name for path in SAMPLES}


@pytest.mark.parametrize("name", ["monitor", "traffic"])
def test_the_examples_of_monitors_fit_the_committed_schema(name: str) -> None:
    committed = json.loads((ROOT / "docs" / "monitor.schema.json").read_text())
    example = yaml.safe_load((ROOT / "examples" / f"{name}.yaml").read_text())
    jsonschema.validate(example, committed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**example, "cadense": "1h"}, committed)


def suite_examples() -> list[Any]:
    """Return the headers of our suites, and the suites that the documentation shows."""
    headers = [yaml.safe_load(path.read_text()) for path in ROOT.glob("suites/*/suite.yaml")]
    pages = [(ROOT / "docs" / f"{page}.md").read_text() for page in ("conversations", "agents")]
    blocks = re.findall(r"```yaml\n(name:.*?)```", "".join(pages), re.DOTALL)
    return [*headers, *map(yaml.safe_load, blocks)]


def test_suites_and_documented_suites_fit_the_committed_schema() -> None:
    committed = json.loads((ROOT / "docs" / "suite.schema.json").read_text())
    examples = suite_examples()
    assert len(examples) > 15
    for example in examples:
        jsonschema.validate(example, committed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**examples[-1], "most_steps": 0}, committed)
