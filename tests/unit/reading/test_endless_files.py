"""YAML and JSON lines that nest, repeat or go on without end are refused with a sentence."""

import gzip
from pathlib import Path

import pytest
import yaml

from biaswatch.shared import files
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import (
    json_lines,
    json_lines_of_file,
    json_rows_of_file,
    read_text,
    yaml_mapping,
)
from biaswatch.shared.parsing import yaml_values
from biaswatch.shared.parsing.json_objects import MAX_LEVELS, is_too_deep
from biaswatch.shared.parsing.yaml_values import parse_yaml

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "more than 1,000,000 values"),
        (MERGES, "more than 1,000,000 values"),
        ("a: " + "[" * 100_000, "nested too deeply"),
        ("a: " + "{b: " * 5_000, "nested too deeply"),
        ("a:\n" + "".join(" " * n + "- \n" for n in range(1, 300)), "nested too deeply"),
        ("a: &a [*a]", "contains it"),
        ("a: &a {b: *a}", "contains it"),
        ("a: " + "1:" * 400_000 + "1", "put it in quotes"),
        ("a: 1" + "0" * 5_000, "put it in quotes"),
        ("a: 2026-13-45", "put it in quotes"),
        ("a: !!timestamp x", "put it in quotes"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("? [a]\n: b", "found unhashable key"),
    ],
)
def test_yaml_without_end_or_sense_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        yaml_mapping(text, Path("plan.yaml"), "a plan is a mapping")
    assert str(refused.value).startswith("plan.yaml")


def test_yaml_that_people_write_is_read_with_its_aliases_and_merges() -> None:
    text = "base: &base {a: 1, b: [x, y]}\nother: {<<: *base, c: 1:30}\nagain: [*base, *base]\n"
    assert parse_yaml(text) == yaml.safe_load(text)


def test_yaml_has_a_bound_on_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "MAX_CHARACTERS", 10)
    with pytest.raises(yaml.YAMLError, match=r"put many probes into a \.jsonl file"):
        parse_yaml("a: " + "x" * 20)


def test_what_lies_deeper_than_anybody_writes_is_told_apart() -> None:
    def nested(levels: int) -> object:
        value: object = 1
        for _ in range(levels):
            value = {"a": [value]} if levels % 2 else [value]
        return value

    assert not is_too_deep(nested(MAX_LEVELS))
    assert is_too_deep(nested(MAX_LEVELS + 2))
    assert not is_too_deep("text")


@pytest.mark.parametrize("depth", [101, 900, 100_000])
def test_a_line_of_nested_json_is_refused_with_its_place(depth: int) -> None:
    with pytest.raises(UsageError, match=r"rows\.jsonl, line 2: this is"):
        list(json_lines("1\n" + "[" * depth + "]" * depth, Path("rows.jsonl")))


def test_a_file_or_line_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT_BYTES", 1024)
    monkeypatch.setattr(files, "LARGEST_LINE_BYTES", 100)
    path = tmp_path / "long.jsonl"
    path.write_text('"' + "x" * 5_000 + '"')
    with pytest.raises(UsageError, match="it holds more than"):
        read_text(path, "suite")
    with pytest.raises(UsageError, match="line 1: a line holds at most"):
        list(json_lines_of_file(path, "answers"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":\n1}', "is JSON with objects over several lines of more than 0 MiB"),
        ('{"a": 1}\n{"a": 1} {"a": 2}', "line 2: these are several values; write each on a line"),
        ('{"a": 1}\n{"a"', "line 2: this is not JSON"),
    ],
)
def test_json_that_is_not_in_lines_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr(files, "LARGEST_WHOLE_JSON_BYTES", 3)
    (path := tmp_path / "rows.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        list(json_rows_of_file(path, "table"))


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_large_array_is_read_item_by_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(files, "LARGEST_WHOLE_JSON_BYTES", 3)
    text = '\ufeff [ {"a": 1},\n {"a": "\\ud800"},{"a": "ä"}\n]\n'.encode()
    (path := tmp_path / f"rows{suffix}").write_bytes(
        gzip.compress(text) if suffix.endswith("gz") else text
    )
    rows = list(json_rows_of_file(path, "answers"))
    assert [row["a"] for _, row in rows] == [1, "\ufffd", "ä"]
    assert rows[2][0] == f"{path}, item 3"


@pytest.mark.parametrize("limit", [3, 64 << 20])
@pytest.mark.parametrize("text", ['[{"a": 1}', '[{"a": 1} {"a": 2}]', '{"a":\n', '[{"a":' * 5_000])
def test_broken_json_over_several_lines_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    monkeypatch.setattr(files, "LARGEST_WHOLE_JSON_BYTES", limit if text[0] == "[" else 64 << 20)
    (path := tmp_path / "rows.json").write_text(text)
    with pytest.raises(UsageError, match=r"rows\.json.*: this is not JSON"):
        list(json_rows_of_file(path, "table"))


def test_a_name_that_no_file_can_have_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_text(Path("a\0b"), "suite")
