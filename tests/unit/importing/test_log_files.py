"""Logs of other tools are recognised and read; what is no answer is counted, a slip is named."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biaswatch.importing.log_files import LogFile
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.traffic import SentResponse
from tests.support.otlp import json_of, make_event, make_span

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECONDS = int(AT.timestamp())
ASKED = [{"role": "user", "content": "Where is it?"}]
CHAT = {
    "id": "chatcmpl-1", "created": SECONDS, "model": "gpt", "system_fingerprint": "fp",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "There."},
                 "finish_reason": "stop"}],
}  # fmt: skip
GROUPS = {"groups": {"gender": "metadata.gender"}}
LINES: dict[LogFormat, dict[str, Any]] = {
    LogFormat.OPENAI: {"request": {"messages": ASKED, "user": "u-1"}, "response": CHAT,
                       "metadata": {"gender": "female"}},
    LogFormat.OPENAI_BATCH: {"custom_id": "chatcmpl-1", "response": {"body": CHAT}, "error": None,
                             "user": "u-1", "metadata": {"gender": "female"}},
    LogFormat.LANGFUSE: {"id": "chatcmpl-1", "traceId": "t", "type": "GENERATION", "model": "gpt",
                         "input": ASKED, "output": {"role": "assistant", "content": "There."},
                         "endTime": "2026-01-02T03:04:05Z", "userId": "u-1",
                         "metadata": json.dumps({"gender": "female"})},
    LogFormat.OPENINFERENCE: {
        "context.span_id": "chatcmpl-1", "span_kind": "LLM", "end_time": "2026-01-02T03:04:05Z",
        "attributes.llm.model_name": "gpt", "attributes.user.id": "u-1",
        "attributes.llm.input_messages": [{"message.role": "user",
                                           "message.content": "Where is it?"}],
        "attributes.llm.output_messages": [{"message.role": "assistant",
                                            "message.content": "There."}],
        "metadata": {"gender": "female"}},
    LogFormat.JSONL: {"id": "chatcmpl-1", "at": SECONDS * 1000, "prompt": "Where is it?",
                      "text": "There.", "unit": "u-1", "model": "gpt",
                      "metadata": {"gender": "female"}},
}  # fmt: skip


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def read(path: Path, **fields: Any) -> list[dict[str, Any]]:
    mapping = MappingFile.model_validate(fields.pop("mapping", GROUPS))
    return [answer for _, answer in LogFile(path, mapping=mapping, **fields).answers()]


@pytest.mark.parametrize("format_", LINES)
def test_every_format_is_recognised_and_read(format_: LogFormat, tmp_path: Path) -> None:
    path = written(tmp_path, LINES[format_])
    (answer,) = read(path)
    assert (answer["id"], answer["at"], answer["text"]) == ("chatcmpl-1", AT, "There.")
    assert (answer["unit"], answer["model"]) == ("u-1", "gpt")
    assert answer["groups"] == {"gender": "female"}
    if format_ is not LogFormat.OPENAI_BATCH:
        assert [message.content for message in answer["messages"]] == ["Where is it?"]
    SentResponse.model_validate(answer)  # as the API takes it
    assert read(path, format=format_) == [answer]


def test_csv_and_parquet_hold_the_same_answers(tmp_path: Path) -> None:
    row = {"id": "1", "at": "2026-01-02T03:04:05+00:00", "text": "There.", "unit": "u-1",
           "groups.gender": "female", "facts.topic": "refund"}  # fmt: skip
    with (tmp_path / "log.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    pd.DataFrame([row]).to_parquet(tmp_path / "log.parquet")
    wanted = {"id": "1", "at": AT, "text": "There.", "unit": "u-1", "groups": {"gender": "female"},
              "facts": {"topic": "refund"}}  # fmt: skip
    assert read(tmp_path / "log.csv") == read(tmp_path / "log.parquet") == [wanted]


def test_the_file_of_a_collector_joins_spans_with_events_anywhere_in_it(tmp_path: Path) -> None:
    nothing = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}
    event = make_event(3, "gen_ai.choice", {"index": 0, "message": {"content": "There."}})
    other = make_span(9, attributes={"gen_ai.operation.name": "execute_tool"})
    path = written(
        tmp_path,
        json_of([event]),
        json_of([make_span(1, at_ns=SECONDS * 10**9), other]),
        json_of([make_span(3, at_ns=SECONDS * 10**9, attributes=nothing)]),
        json_of([make_span(5, attributes=nothing)]),
    )
    left_out = LeftOut()
    answers = [answer for _, answer in LogFile(path).answers(left_out)]
    assert [(answer["text"], answer["unit"]) for answer in answers] == [
        ("Answer 1.", "u-1"),
        ("There.", "u-3"),
    ]
    assert sorted(left_out.counts.values()) == [1, 1]


def test_a_call_without_a_text_is_left_out_and_one_that_failed_is_not(tmp_path: Path) -> None:
    silent = {"custom_id": "1", "response": {"body": {"choices": [{"message": {}}]}}}
    failed = {"custom_id": "2", "response": None, "error": {"code": "server_error"}}
    left_out = LeftOut()
    answers = [answer for _, answer in LogFile(written(tmp_path, silent, failed)).answers(left_out)]
    assert [(item["id"], item["reason"]) for item in answers] == [("2", "server_error")]
    assert left_out.counts.total() == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"id": "1", "text": "x", "at": "yesterday"}, "line 1: the time is not like 2026"),
        ({"resourceSpans": 3}, "line 1: this is not OTLP's JSON"),
    ],
)
def test_a_slip_is_named_with_its_line(line: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=why):
        read(written(tmp_path, line))


@pytest.mark.parametrize("factor", [1, 10**3, 10**6, 10**9])
def test_unix_time_is_read_in_any_unit(factor: int, tmp_path: Path) -> None:
    path = written(tmp_path, {"id": "1", "text": "x", "at": SECONDS * factor})
    assert read(path)[0]["at"] == AT


def test_no_group_is_inferred_from_a_name_or_a_text(tmp_path: Path) -> None:
    line = {"id": "1", "text": "She is kind.", "name": "Maria", "user": "Mr Smith"}
    assert "groups" not in read(written(tmp_path, line), mapping={})[0]
