import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from biaswatch.building.build_files import load_plan
from biaswatch.building.plan import Plan
from biaswatch.shared.errors import UsageError

ROOT = Path(__file__).parents[3]
GOOD = """\
name: trial
domain: trades
extractors: [words]
concepts:
  - name: baker
    keywords: {by_hand: [baker]}
    sources: [{kind: files, path: texts}]
prompts: {kind: continuations}
"""


def wrong(tmp_path: Path, text: str) -> str:
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_plan(file)
    return str(caught.value).removeprefix(str(file))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("path: texts", "path: ''", ", line 7, concepts.0.sources.0.files.path: "),
        ("kind: files", "kind: floppy", ", line 7, concepts.0.sources.0: name the kind of source"),
        ("kind: files, ", "", ", line 7, concepts.0.sources.0: name the kind of source"),
        (
            "domain: trades",
            "domian: trades",
            ", line 1, domain: this is missing, and there is no field domian.",
        ),
        ("{by_hand: [baker]}", "{}", ", line 6, concepts.0.keywords: name a way to keywords"),
        ("continuations}", "questions}", ": prompts of the kind `questions` asks a model"),
        ("continuations}", "templates}", ", line 8, prompts: `template` is given with"),
        ("continuations}", "continuations, most_words: 1}", ", line 8, prompts.most_words: "),
        ("extractors: [words]", "extractors: [words", "this is not YAML"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_field(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in wrong(tmp_path, GOOD.replace(old, new))


def test_a_key_nobody_knows_is_a_mistake(tmp_path: Path) -> None:
    assert wrong(tmp_path, GOOD + "colour: red\n").startswith(", line 9, colour: there is no such")


def test_a_branching_without_its_root_is_refused(tmp_path: Path) -> None:
    branching = "branching: {root: cook, to: [{concept: nurse}]}\n"
    assert "the root 'cook' is not a concept" in wrong(tmp_path, GOOD + branching)


def test_a_plan_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_plan(tmp_path / "none.yaml")


def test_the_published_schema_accepts_what_the_platform_accepts() -> None:
    schema = json.loads((ROOT / "docs" / "plan.schema.json").read_text())
    assert schema == Plan.model_json_schema()
    jsonschema.validate(yaml.safe_load(GOOD), schema)
    shipped = yaml.safe_load((ROOT / "suites" / "countries" / "plan.yaml").read_text())
    jsonschema.validate(shipped, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(GOOD + "colour: red\n"), schema)
