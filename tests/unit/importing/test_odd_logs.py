"""No row of a log is a traceback: labels of any kind, texts in parts, rows without an id."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import write_table

from biaswatch.importing.log_files import LogFile
from biaswatch.importing.sent_answers import answers_in
from biaswatch.shared.conventions.answers import part_of, sent_fields
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.traffic import SentResponse
from tests.support.fuzzing import bounded, json_values, spoiled, succeeds_or_says_why
from tests.support.odd_logs import diagnosed_log, measured_log, written_lines
from tests.support.otlp import make_span

AT = "2026-05-01T10:00:00Z"
ROWS = 8
TEXT = "Ann is strong."
ONE_WORD, THREE_WORDS = 1.0, 3.0


def rows(**changed: Any) -> list[dict[str, Any]]:
    """Return rows of a log; a field that is given replaces that of each row."""
    return [
        {"id": f"r{n}", "at": AT, "unit": f"u{n}", "prompt": "Rate", "text": TEXT,
         "groups": {"grp": "ab"[n % 2]}, **changed}
        for n in range(ROWS)
    ]  # fmt: skip


def test_labels_that_differ_only_in_form_are_pointed_out(tmp_path: Path) -> None:
    lines = [{**row, "groups": {"grp": ("a", "A")[n % 2]}} for n, row in enumerate(rows())]
    warnings = measured_log(written_lines(tmp_path / "log.jsonl", lines)).warnings
    assert any("grp differ only in form" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        ((0, 1), ["0", "1"]),
        ((0.0, 1.5), ["0", "1.5"]),
        ((False, True), ["false", "true"]),
        ((2**60, 2**60 + 1), [str(2**60), str(2**60 + 1)]),
        ((" a ", "b"), ["a", "b"]),
        ((None, "b"), [None, "b"]),
        (("", "b"), [None, "b"]),
        ((float("nan"), "b"), [None, "b"]),
    ],
)
def test_a_label_may_be_any_scalar(tmp_path: Path, labels: Any, read: list[Any]) -> None:
    lines = [
        {**row, "groups": {"grp": labels[n % 2]}, "facts": {"topic": labels[n % 2]}}
        for n, row in enumerate(rows())
    ]
    path = written_lines(tmp_path / "log.jsonl", lines)
    result = measured_log(path).rows
    assert result.groups["grp"] == read * (ROWS // 2)
    assert result.values[:, 0].tolist() == [THREE_WORDS] * ROWS
    sent = list(answers_in(LogFile(path)))
    assert [SentResponse.model_validate(item).facts.get("topic") for item in sent] == read * 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"groups": {"grp": ["a"]}}, "line 1: groups.grp is a list. Write text"),
        ({"groups": {"grp": {"a": 1}}}, "line 1: groups.grp is an object. Write text"),
        ({"facts": {"topic": ["a"]}}, "line 1: facts.topic is a list. Write text"),
        ({"groups": "a"}, "line 1: groups is text. Write an object with a label"),
        ({"groups": ["a"]}, "line 1: groups is a list. Write an object with a label"),
        ({"groups": 3}, "line 1: groups is a single value. Write an object with a label"),
        ({"unit": ["u"]}, "line 1: unit is a list. Write text"),
        ({"id": {"a": 1}}, "line 1: id is an object. Write text"),
        ({"groups": None}, "has no field 'grp'"),
        ({"text": None}, "holds no answer: no row has a `text`, or a `reason`"),
    ],
)
def test_what_is_no_label_is_one_sentence(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        measured_log(written_lines(tmp_path / "log.jsonl", rows(**changed)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (3, ONE_WORD),
        (0, ONE_WORD),
        (2.0, ONE_WORD),
        (True, ONE_WORD),
        ([{"type": "text", "text": "Ann is"}, {"type": "text", "text": "strong."}], THREE_WORDS),
        (["Ann is", "strong."], THREE_WORDS),
        ({"role": "assistant", "content": TEXT}, THREE_WORDS),
        ([{"type": "image_url"}, {"type": "text", "text": TEXT}], THREE_WORDS),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_a_text_may_be_a_number_or_a_list_of_parts(
    tmp_path: Path, text: Any, words: float, mapped: bool
) -> None:
    path = written_lines(tmp_path / "log.jsonl", rows(text=text))
    result = measured_log(path, {"text": "text"} if mapped else None).rows
    assert result.values[:, 0].tolist() == [words] * ROWS
    assert {SentResponse.model_validate(answer).id for answer in answers_in(LogFile(path))}


def test_a_text_that_is_json_is_the_answer_itself(tmp_path: Path) -> None:
    texts = ['{"rating": 3}', "[1, 2]", "{'rating': 3}", "[a]"]
    path = written_lines(tmp_path / "log.jsonl", [{**rows()[0], "text": text} for text in texts])
    mapping = MappingFile.model_validate({"text": "text"})
    assert [answer["text"] for _, answer in LogFile(path, mapping=mapping).answers()] == texts
    assert [answer["text"] for _, answer in LogFile(path).answers()] == texts


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("absent", [{"id": None}, {"id": ""}, {"id": None, "unit": None}])
def test_rows_without_an_id_stay_separate(
    tmp_path: Path, absent: dict[str, Any], mapped: bool
) -> None:
    path = written_lines(tmp_path / "log.jsonl", rows(**absent))
    given = measured_log(path, {"text": "text"} if mapped else None)
    assert given.rows.rows == given.about["units"] == ROWS
    with pytest.raises(UsageError, match=r"line 1: this answer has no `id`\. .* --suggest-map"):
        list(answers_in(LogFile(path)))


def test_ids_and_units_of_any_kind_stay_separate(tmp_path: Path) -> None:
    ids = [0, 1, 2.5, "a", True, 2**60, 2**60 + 1, None]
    lines = [{**row, "id": id_, "unit": id_} for row, id_ in zip(rows(), ids, strict=True)]
    given = measured_log(written_lines(tmp_path / "log.jsonl", lines))
    assert given.about["units"] == ROWS
    assert given.rows.units is not None
    assert set(given.rows.units) > {"0", "1", "2.5", "a", "true", str(2**60), str(2**60 + 1)}


def test_an_id_with_another_text_is_another_answer_and_is_said(tmp_path: Path) -> None:
    lines = [*rows(), {**rows()[0], "text": "Another."}, rows()[1]]
    given = measured_log(path := written_lines(tmp_path / "log.jsonl", lines))
    assert given.rows.rows == ROWS + 1
    assert given.about["units"] == ROWS
    assert given.warnings[0].startswith("1 rows have the id of another row")
    assert "repeat" not in " ".join(measured_log(written_lines(path, rows() * 2)).warnings)


GENERATION = {"type": "GENERATION", "traceId": "t", "model": "m", "endTime": AT}
OBSERVATIONS = [
    {**GENERATION, "id": f"o{n}", "userId": n, "metadata": {"grp": n % 2},
     "input": [{"role": "user", "content": "Rate"}],
     "output": {"role": "assistant", "content": TEXT}}
    for n in range(ROWS)
]  # fmt: skip
SPANS = [
    {"context.span_id": f"s{n}", "span_kind": "LLM", "end_time": AT, "status_code": "OK",
     "attributes.llm.input_messages": [{"message.role": "system", "message.content": "It's\n1"},
                                       {"message.role": "user", "message.content": "Rate"}],
     "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": TEXT}],
     "attributes.user.id": n, "attributes.metadata": {"grp": n % 2}}
    for n in range(ROWS)
]  # fmt: skip
LISTS = ("attributes.llm.input_messages", "attributes.llm.output_messages")


def nested_spans() -> list[dict[str, Any]]:
    """Return the spans with objects in place of names with dots."""
    return [
        span
        | {
            name: [
                {"message": {key.removeprefix("message."): text for key, text in message.items()}}
                for message in span[name]  # type: ignore[attr-defined]
            ]
            for name in LISTS
        }
        for span in SPANS
    ]


def arrays(span: dict[str, Any]) -> dict[str, Any]:
    """Return a span with messages as pandas reads them from Parquet."""
    return span | {name: np.array(span[name], dtype=object) for name in LISTS}


def as_csv(path: Path, lines: list[dict[str, Any]]) -> Path:
    pd.DataFrame(lines).to_csv(path)
    return path


def as_parquet(path: Path, lines: list[dict[str, Any]]) -> Path:
    write_table(pa.Table.from_pylist(lines), path)
    return path


def as_array(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(lines, indent=1))
    return path


def json_cells(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in line.items()}
        for line in lines
    ]


@pytest.mark.parametrize(
    ("name", "write", "lines"),
    [
        ("l.jsonl", written_lines, OBSERVATIONS),
        ("l.jsonl", written_lines, json_cells(OBSERVATIONS)),
        ("l.json", as_array, OBSERVATIONS),
        ("l.csv", as_csv, OBSERVATIONS),
        ("l.csv", as_csv, json_cells(OBSERVATIONS)),
        ("l.parquet", as_parquet, OBSERVATIONS),
        ("s.jsonl", written_lines, SPANS),
        ("s.jsonl", written_lines, nested_spans()),
        ("s.csv", as_csv, SPANS),
        ("s.csv", as_csv, json_cells(SPANS)),
        ("s.csv", as_csv, nested_spans()),
        ("s.csv", as_csv, [arrays(span) for span in SPANS]),
        ("s.csv", as_csv, [arrays(span) for span in nested_spans()]),
        ("s.parquet", as_parquet, SPANS),
        ("s.parquet", as_parquet, nested_spans()),
    ],
)
def test_a_log_is_the_same_in_every_file_that_tools_write(
    tmp_path: Path, name: str, write: Any, lines: list[dict[str, Any]]
) -> None:
    attribute = "metadata.grp" if name.startswith("l") else "attributes.metadata.grp"
    path = write(tmp_path / name, lines)
    given = measured_log(path, {"groups": {"grp": attribute}})
    assert given.rows.groups["grp"] == ["0", "1"] * (ROWS // 2)
    assert given.rows.values[:, 0].tolist() == [THREE_WORDS] * ROWS
    assert given.about["units"] == ROWS
    assert all(warning.startswith("`ingest --history`") for warning in given.warnings)
    mapping = MappingFile.model_validate({"groups": {"grp": attribute}})
    contents = [
        answer["messages"][-1].content for _, answer in LogFile(path, mapping=mapping).answers()
    ]
    assert contents == ["Rate"] * ROWS


@pytest.mark.parametrize("written", [str, json.dumps])
def test_a_csv_of_plain_rows_by_pandas_is_read(tmp_path: Path, written: Any) -> None:
    parts = [{"type": "text", "text": TEXT}]
    lines = [{**row, "text": written(parts), "groups": written(row["groups"])} for row in rows()]
    given = measured_log(as_csv(tmp_path / "log.csv", lines))
    assert given.rows.groups["grp"] == ["a", "b"] * (ROWS // 2)
    assert given.rows.values[:, 0].tolist() == [THREE_WORDS] * ROWS


def test_results_of_lm_eval_are_read(tmp_path: Path) -> None:
    lines = [
        {"doc_id": n, "doc": {"grp": "ab"[n % 2]}, "resps": [[TEXT]], "filtered_resps": [TEXT]}
        for n in range(ROWS)
    ]
    path = written_lines(tmp_path / "samples.jsonl", lines)
    mapping = {"id": "doc_id", "text": "filtered_resps", "groups": {"grp": "doc.grp"}}
    assert measured_log(path, mapping).rows.values[:, 0].tolist() == [THREE_WORDS] * ROWS


@pytest.mark.parametrize(
    "moment", ["1790000000.5", "1e9", 10**400, "1e999999999", "nan", [1], True, "²", -1]
)
def test_a_moment_of_any_kind_is_read_or_one_sentence(tmp_path: Path, moment: Any) -> None:
    path = written_lines(tmp_path / "log.jsonl", rows(at=moment))
    succeeds_or_says_why(lambda: measured_log(path, {"text": "text"}))


SAMPLES: dict[LogFormat, dict[str, Any]] = {
    LogFormat.JSONL: {**rows()[0], "facts": {"t": 1}, "reason": None, "model": "m"},
    LogFormat.LANGFUSE: OBSERVATIONS[0],
    LogFormat.OPENINFERENCE: SPANS[0],
    LogFormat.OPENAI: {
        "id": "1", "request": {"messages": [{"role": "user", "content": "?"}], "user": "u"},
        "response": {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]},
    },
    LogFormat.OPENAI_BATCH: {
        "custom_id": "1", "error": None,
        "response": {"body": {"output": [{"type": "message", "content": [{"text": TEXT}]}]}},
    },
}  # fmt: skip
NAMES = st.sampled_from([*LogFormat, None])


@pytest.mark.parametrize("format_", SAMPLES)
@bounded
@given(data=st.data())
def test_any_row_of_a_log_is_numbers_or_one_sentence(
    tmp_path: Path, format_: LogFormat, data: st.DataObject
) -> None:
    lines = [data.draw(spoiled(SAMPLES[format_])), SAMPLES[format_], *rows()]
    path = written_lines(tmp_path / "log.jsonl", lines)
    succeeds_or_says_why(lambda: diagnosed_log(path))
    succeeds_or_says_why(lambda: measured_log(path, {"text": "text"}, data.draw(NAMES)))
    succeeds_or_says_why(lambda: list(answers_in(LogFile(path))))


@pytest.mark.parametrize("name", ["log.csv", "log.json"])
@bounded
@given(data=st.data())
def test_any_file_of_pandas_is_numbers_or_one_sentence(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    lines = [data.draw(spoiled({"id": 1, "text": "x", "groups": {"grp": "a"}})), *rows()]
    objects = [line for line in lines if isinstance(line, dict)]
    path = tmp_path / name
    text = pd.DataFrame(objects).to_csv() if name.endswith("csv") else json.dumps(lines)
    path.write_bytes(text.encode("utf-8", "replace"))
    succeeds_or_says_why(lambda: diagnosed_log(path))


@bounded
@given(value=json_values, text=json_values)
def test_any_mapped_attribute_of_a_span_is_read(value: Any, text: Any) -> None:
    mapping = MappingFile.model_validate(
        {"text": "t", "groups": {"grp": "g"}, "id": "g", "unit": "g", "prompt": "t"}
    )
    part = part_of(make_span(1, attributes={"g": value, "t": text}), mapping)
    if part is not None:
        assert set(map(type, part.groups.values())) <= {str}
        sent_fields(part)
