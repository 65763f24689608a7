"""Logs of gateways and runs of LangSmith are read; a suggested map finds users and groups."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from biaswatch.importing.log_files import LogFile, suggested_map_of
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import UsageError
from tests.support.odd_logs import written_lines

TEXT = "Ann is a strong applicant."
PARTS = ("Ann is ", "a strong applicant.")
ROWS = 12
REPLY = {"id": "c", "choices": [{"message": {"role": "assistant", "content": TEXT}}]}
QUESTION = {"messages": [{"role": "user", "content": "Rate Ann."}]}


def rows(**fields: Any) -> list[dict[str, Any]]:
    """Return rows with a user, a gender and a technical field with few values."""
    return [
        {"request_id": f"r{n}", "uid": f"u{n}", "ts": 1790000000 + n, "status_code": 200 + n % 2,
         "account": "ours", "gender": "fm"[n % 2], **fields}
        for n in range(ROWS)
    ]  # fmt: skip


SUGGESTED = {"id": "request_id", "time": "ts", "unit": "uid", "groups": {"gender": "gender"}}
CALLS: dict[str, tuple[str, Any]] = {
    "body": ("response_body", REPLY),
    "encoded twice": ("response", json.dumps(json.dumps(REPLY))),
    "Gemini's": ("response", {"candidates": [{"content": {"parts": [{"text": TEXT}]}}]}),
    "Bedrock's": ("output", [{"text": "Ann is"}, {"text": "a strong applicant."}]),
    "conversation": ("messages", [*QUESTION["messages"], {"role": "tool", "content": "42 is it"},
                                  {"role": "assistant", "content": TEXT}]),
}  # fmt: skip


def texts_in(log: LogFile, left_out: LeftOut | None = None) -> set[str | None]:
    """Return the different texts of a log."""
    return {answer.get("text") for _, answer in log.answers(left_out)}


@pytest.mark.parametrize("form", CALLS)
def test_a_map_is_suggested_for_calls_in_any_field(tmp_path: Path, form: str) -> None:
    name, value = CALLS[form]
    path = tmp_path / "calls.json.gz"
    path.write_bytes(gzip.compress(json.dumps(rows(**{name: value})).encode()))
    suggested = suggested_map_of(path, None)
    assert suggested.fields == {**SUGGESTED, "text": name}
    mapping = MappingFile.model_validate(suggested.fields)
    (text,) = texts_in(LogFile(path, mapping=mapping))
    assert str(text).split() == TEXT.split()


def test_a_status_is_no_group(tmp_path: Path) -> None:
    without_gender = [{**row, "gender": "f"} for row in rows(answer=TEXT)]
    suggested = suggested_map_of(written_lines(tmp_path / "log.jsonl", without_gender), None)
    assert "groups" not in suggested.fields
    assert "groups: no field found. Fields with few values: status_code." in suggested.remarks


@pytest.mark.parametrize("end", [{}, {"tool_calls": [{"id": "t"}]}])
def test_a_stream_of_chunks_is_one_answer(tmp_path: Path, end: dict[str, Any]) -> None:
    deltas = [*({"content": part} for part in PARTS), end]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    path = written_lines(tmp_path / "log.jsonl", rows(request=QUESTION, response=chunks))
    assert texts_in(LogFile(path)) == {TEXT}


def run(key: str, kind: str, outputs: Any, parent: str | None = None) -> dict[str, Any]:
    """Return a run of LangSmith, with its objects as JSON text like in a bulk export."""
    return {
        "id": key, "run_type": kind, "parent_run_id": parent, "trace_id": "t",
        "end_time": "2026-05-01T10:00:00.5", "inputs": json.dumps(QUESTION),
        "outputs": json.dumps(outputs), "error": None,
        "extra": json.dumps({"metadata": {"user_id": "u1", "gender": "f"}}),
    }  # fmt: skip


GENERATION = {"generations": [[{"text": TEXT, "message": {"kwargs": {"content": TEXT}}}]]}
ROOT = {"messages": [{"type": "human", "content": "Rate"}, {"type": "ai", "content": TEXT}]}
STEP = {"generations": [[{"text": "A step."}]]}


def test_calls_below_a_trace_of_langsmith_are_its_steps(tmp_path: Path) -> None:
    tree = [
        run("root", "chain", ROOT),
        run("node", "chain", {}, "root"),
        run("call", "llm", STEP, "node"),
        run("tool", "tool", {"output": "42"}, "root"),
    ]
    path = written_lines(tmp_path / "runs.jsonl", tree)
    left_out = LeftOut()
    mapping = MappingFile(groups={"gender": ("extra.metadata.gender",)})
    (answer,) = [answer for _, answer in LogFile(path, mapping=mapping).answers(left_out)]
    assert (answer["id"], answer["text"], answer["unit"]) == ("root", TEXT, "u1")
    assert (answer["groups"], answer["messages"][0].content) == ({"gender": "f"}, "Rate Ann.")
    assert left_out.counts == {OmissionReason.STEPS: 3}


def test_calls_of_langsmith_without_their_trace_are_answers(tmp_path: Path) -> None:
    calls = [run(f"c{n}", "llm", GENERATION, "elsewhere") for n in range(3)]
    left_out = LeftOut()
    path = written_lines(tmp_path / "runs.jsonl", [*calls, run("p", "prompt", ROOT, "elsewhere")])
    assert texts_in(LogFile(path), left_out) == {TEXT}
    assert left_out.counts == {OmissionReason.NO_ANSWER: 1}


@pytest.mark.parametrize(("likelihoods", "choice"), [((-1.2, -3.1), "yes"), ((-5, -3.1), "no")])
def test_the_likeliest_choice_of_a_harness_is_the_answer(
    tmp_path: Path, likelihoods: tuple[float, ...], choice: str
) -> None:
    arguments = {"gen_args_0": {"arg_0": "Q", "arg_1": " yes"},
                 "gen_args_1": {"arg_0": "Q", "arg_1": " no"}}  # fmt: skip
    filtered = [[str(likelihood), "False"] for likelihood in likelihoods]
    sample = {"doc_id": 0, "arguments": arguments, "resps": [[pair] for pair in filtered],
              "filtered_resps": filtered}  # fmt: skip
    assert texts_in(LogFile(written_lines(tmp_path / "samples.jsonl", [sample]))) == {choice}


def test_a_single_likelihood_is_no_text(tmp_path: Path) -> None:
    sample = {"doc_id": 0, "arguments": [["Q", " yes"]], "resps": [[["-1.2", "False"]]]}
    left_out = LeftOut()
    assert not texts_in(LogFile(written_lines(tmp_path / "samples.jsonl", [sample])), left_out)
    assert left_out.counts == {OmissionReason.NO_TEXT: 1}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("log.jsonl.gz", gzip.compress(gzip.compress(b"{}")), "compressed twice"),
        ("log.csv", b"id;answer\n1;yes\n", "not separated by commas"),
        ("log.jsonl", b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too deeply"),
    ],
)
def test_an_unusual_file_is_one_sentence(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=reason):
        list(LogFile(path).answers())
