"""Suites whose probes lie in files of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from biaswatch.readers.suite_names import SHIPPED
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

ROWS = [
    {"key": "a", "set": "s", "groups.race": "x", "groups.gender": "y", "prompt": "Is it, so?"},
    {"key": "b", "set": "s", "groups.race": "z", "groups.gender": "y", "prompt": 'Is "it"?\nYes?'},
]


def suite(folder: Path, probes: str) -> Suite:
    header = f"name: trial\nextractors: [words]\nprobes: {probes}\n"
    (folder / "suite.yaml").write_text(header)
    return load_suite(folder)


def write_csv(file: Path, rows: list[dict[str, str]]) -> None:
    import csv

    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(file: Path, rows: list[dict[str, str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)


def test_a_folder_of_other_files_does_not_hide_a_shipped_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lending").mkdir()
    assert load_suite(Path("lending")).name == "lending"
    suite(tmp_path / "lending", "[{key: a, prompt: Why}]")
    assert load_suite(Path("lending")).name == "trial"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_probes_come_from_tables(tmp_path: Path, ending: str) -> None:
    {"csv": write_csv, "parquet": write_parquet}[ending](tmp_path / f"p.{ending}", ROWS)
    one, two = suite(tmp_path, f"p.{ending}").probes
    assert (one.key, one.set, one.prompt) == ("a", "s", "Is it, so?")
    assert two.groups == {"race": "z", "gender": "y"}
    assert two.prompt == 'Is "it"?\nYes?'


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"feature": ["words"]}, r"suite.json: there is no field 'feature'. Is 'features' meant"),
        ({"probes": [{"key": "a", "promt": "x"}]}, r"probes.0: there is no field 'promt'"),
        ({"tools": [{"name": "t", "results": [{"wen": {}, "result": "x"}]}]}, "tools.0.results.0"),
        (
            {"probes": [{"key": "a", "messages": [{"role": "user", "when": {"refuse": True}}]}]},
            "probes.0.messages.0.when: there is no field 'refuse'. Is 'refused' meant",
        ),
    ],
)
def test_a_misspelt_field_is_named_with_its_place(
    tmp_path: Path, fields: dict[str, Any], sentence: str
) -> None:
    whole = {"name": "t", "extractors": ["words"], "probes": [{"key": "a", "prompt": "x"}]}
    (tmp_path / "suite.json").write_text(json.dumps({**whole, **fields}))
    with pytest.raises(UsageError, match=sentence):
        load_suite(tmp_path / "suite.json")


def test_columns_of_ones_own_are_no_misspelt_fields(tmp_path: Path) -> None:
    own = {"key": "a", "prompt": "x", "region": "north", "notes": "y", "age": "3"}
    write_csv(tmp_path / "p.csv", [own])
    assert [probe.key for probe in suite(tmp_path, "p.csv").probes] == ["a"]


def test_a_table_of_the_field_has_the_concept_as_its_dimension(tmp_path: Path) -> None:
    write_csv(
        tmp_path / "p.csv",
        [{"domain": "lands", "concept": "Peru", "keyword": "k", "source_tag": "t",
          "prompt": "Is it?", "baseline": ""}],
    )  # fmt: skip
    [probe] = suite(tmp_path, "p.csv").probes
    assert (probe.key, probe.groups, probe.baseline) == ("row-1", {"concept": "Peru"}, None)
    assert probe.facts == {"domain": "lands", "keyword": "k", "source": "t"}


def test_facts_of_a_probe_come_from_tables_and_lines_and_its_own_word_counts(
    tmp_path: Path,
) -> None:
    write_csv(tmp_path / "p.csv", [{"prompt": "Is it?", "facts.length": "short", "licence": "own"}])
    assert suite(tmp_path, "p.csv").probes[0].facts == {"length": "short"}
    line = {"key": "a", "prompt": "Is it?", "keyword": "k", "source_tag": "t", "position": 1}
    line |= {"facts": {"source": "mine"}, "category": ""}
    (tmp_path / "p.jsonl").write_text(json.dumps(line) + "\n")
    assert suite(tmp_path, "p.jsonl").probes[0].facts == {"keyword": "k", "source": "mine"}


def test_the_countries_can_be_grouped_by_keyword_and_source() -> None:
    facts = [probe.facts for probe in load_suite(SHIPPED / "countries").probes]
    assert all({"domain", "keyword", "source"} == fact.keys() for fact in facts)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.txt", "", "must end in one of"),
        ("p.csv", "key,prompt\na,b,c\n", "row 1: the number of cells differs"),
        ("p.csv", "key,prompt\na\n", "row 1: the number of cells differs"),
        ("p.csv", "key,baseline\na,b\n", r"probe 1 \(a\): .*prompt"),
        ("p.parquet", "no parquet", "this is not Parquet"),
        ("p.jsonl", '{"key": "a", "prompt": "x"}\n{', "line 2: this is not JSON"),
        ("missing.csv", None, "cannot be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_a_sentence(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=message):
        suite(tmp_path, name)


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"key": "a", "prompt": "one\u2028two"}\n')
    assert suite(tmp_path, "p.jsonl").probes[0].prompt == "one\u2028two"


PROBES = "probes: [{key: a, groups: {race: x}, prompt: Is it so}]\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: a\nname: b\n" + PROBES.encode(), r"line 2: .*'name' occurs twice"),
        (b"name: a\nprobes: [{key: a, prompt: x, prompt: y}]", "line 2: .*'prompt' occurs twice"),
        (b"a: " + b"[" * 4000, "nested too deeply"),
        (b"name: \x01", "special characters are not allowed"),
        (b"name: \xff\xfe", "it is not text in UTF-8"),
        (b"name: 12\nextractors: [words]\n" + PROBES.encode(), "name: this must be text"),
        (b"name: a\nextractors: [words]\n", "probes: this is missing"),
        (b"name: a\nextractors: [words]\nprobes: []", "probes: this must not be empty"),
        (b"name: a\nextractors: [words]\nprobes: 5", "probes: this must be a list"),
        (b"name: a\nextractors: [words]\nprobes: [{key: a}]", r"\(a\): a probe has either"),
    ],
)
def test_what_is_wrong_in_a_suite_is_said_in_plain_words(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "suite.yaml").write_bytes(content)
    with pytest.raises(UsageError, match=message) as refused:
        load_suite(tmp_path)
    assert "Errno" not in str(refused.value)
    assert "Value error" not in str(refused.value)


@pytest.mark.parametrize(("begin", "end"), [("\ufeff", "\n"), ("", "\r\n")])
def test_a_suite_written_on_windows_is_the_same_suite(tmp_path: Path, begin: str, end: str) -> None:
    text = f"name: a\nextractors: [words]\n{PROBES}"
    (tmp_path / "one.yaml").write_text(text)
    (tmp_path / "two.yaml").write_bytes((begin + text.replace("\n", end)).encode())
    assert load_suite(tmp_path / "one.yaml").hash == load_suite(tmp_path / "two.yaml").hash


def test_what_a_yaml_anchor_merges_in_may_be_overridden(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "name: a\nextractors: [words]\nprobes:\n"
        "  - &first {key: a, prompt: Is it so}\n  - {<<: *first, key: b}\n"
    )
    assert [probe.key for probe in load_suite(tmp_path).probes] == ["a", "b"]
