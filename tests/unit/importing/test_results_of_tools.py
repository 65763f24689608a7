"""Results of evaluation tools and compressed logs are read; a map is suggested for other logs."""

import gzip
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.exporting.answers import rows_of_page
from biaswatch.importing import inspect_files
from biaswatch.importing.log_files import LogFile, suggested_map_of
from biaswatch.importing.times import moment_in
from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.contracts.tools import ToolStep
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import ExportedAnswer
from biaswatch.shared.requests.traffic import SentResponse

TEXT, QUESTION = "She is strong.", "Rate her."
CREATED = "2026-05-01T10:00:00+00:00"


def sample(number: int, **changed: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "Hm."},
                                                {"type": "text", "text": TEXT}]}  # fmt: skip
    choices = [{"message": message, "stop_reason": "stop"}]
    return {
        "id": number, "epoch": 1, "input": QUESTION, "target": "", "metadata": {"gender": "f"},
        "output": {"model": "m", "choices": choices}, **changed,
    }  # fmt: skip


INSPECT = {"version": 2, "eval": {"created": CREATED}, "samples": [sample(1), sample(2)]}
PROMPTFOO = {"id": "r1", "testIdx": 0, "promptIdx": 0, "vars": {"gender": "f"},
             "provider": {"id": "m"}, "prompt": {"raw": QUESTION},
             "response": {"output": TEXT}}  # fmt: skip
HELM_STATE = {
    "instance": {"id": "id7", "input": {"text": QUESTION}, "extra": {"gender": "f"}},
    "train_trial_index": 0, "request": {"model": "m", "prompt": QUESTION},
    "result": {"success": True, "completions": [{"text": TEXT}], "request_datetime": 1714550400},
}  # fmt: skip
ANTHROPIC = {"custom_id": "a1", "gender": "f", "result": {"type": "succeeded", "message": {
    "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": TEXT}]}}}  # fmt: skip
RESULTS: dict[str, tuple[LogFormat, Any, str, int]] = {
    "inspect": (LogFormat.INSPECT, INSPECT, "metadata.gender", 2),
    "promptfoo": (LogFormat.PROMPTFOO, {"evalId": "e", "config": {}, "results": {
        "timestamp": CREATED, "results": [PROMPTFOO]}}, "vars.gender", 1),
    "promptfoo lines": (LogFormat.PROMPTFOO, PROMPTFOO, "vars.gender", 1),
    "helm": (LogFormat.HELM, {"adapter_spec": {}, "request_states": [HELM_STATE]},
             "instance.extra.gender", 1),
    "deepeval": (LogFormat.DEEPEVAL, {"testCases": [
        {"name": "t1", "input": QUESTION, "actualOutput": TEXT, "tag": {"gender": "f"}}]},
        "tag.gender", 1),
    "deepeval cases": (LogFormat.DEEPEVAL, [
        {"name": "t1", "input": QUESTION, "actual_output": TEXT, "gender": "f"}], "gender", 1),
    "lm-eval": (LogFormat.LM_EVAL, {"doc_id": 3, "doc": {"gender": "f"}, "resps": [[TEXT]],
                "arguments": {"gen_args_0": {"arg_0": QUESTION, "arg_1": {}}},
                "filtered_resps": ["strong"]}, "doc.gender", 1),
    "anthropic's batch": (LogFormat.ANTHROPIC_BATCH, ANTHROPIC, "gender", 1),
}  # fmt: skip


def read(path: Path, group: str = "gender", left_out: LeftOut | None = None) -> list[Any]:
    mapping = MappingFile.model_validate({"groups": {"gender": group}})
    return [answer for _, answer in LogFile(path, mapping=mapping).answers(left_out)]


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_results_are_recognised_and_read(name: str, indent: int | None, tmp_path: Path) -> None:
    _, document, group, count = RESULTS[name]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document, indent=indent))
    answers = read(path, group)
    assert [(answer["text"], answer["groups"]) for answer in answers] == [
        (TEXT, {"gender": "f"})
    ] * count
    assert len({answer["id"] for answer in answers}) == count
    assert {answer.get("model", "m") for answer in answers} == {"m"}
    for answer in answers:
        SentResponse.model_validate(answer)
        if name != "anthropic's batch":
            assert answer["messages"][0].content == QUESTION


def test_epochs_of_a_sample_are_answers_of_one_unit(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**INSPECT, "samples": [sample(1), sample(1, epoch=2)]}))
    answers = read(path, "metadata.gender")
    assert [(answer["id"], answer["unit"]) for answer in answers] == [
        ("1 epoch 1", "1"), ("1 epoch 2", "1"),
    ]  # fmt: skip


def eval_archive(path: Path, *samples: Any, header: Any = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header or {"eval": {"created": CREATED}}))
        for number, written in enumerate(samples):
            text = written if isinstance(written, str) else json.dumps(written)
            archive.writestr(f"samples/{number}_epoch_1.json", text)
    return path


def test_an_archive_of_inspect_is_read(tmp_path: Path) -> None:
    failed = sample(2, output={}, error={"message": "It failed.", "traceback": "..."})
    answers = read(eval_archive(tmp_path / "log.eval", sample(1), failed), "metadata.gender")
    assert [(answer.get("text"), answer.get("reason")) for answer in answers] == [
        (TEXT, None), (None, "error"),
    ]  # fmt: skip
    assert answers[0]["at"] == datetime(2026, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: eval_archive(path), "has no samples"),
        (lambda path: eval_archive(path, "{"), "samples/0_epoch_1.json: this is not JSON"),
        (lambda path: eval_archive(path, "[]"), "0_epoch_1.json: a sample must be an object"),
        (lambda path: eval_archive(path, json.dumps({"x": "y" * 999})), "holds at most"),
        (lambda path: path.write_bytes(b"PK\x03\x04 not a zip"), "is not a zip archive"),
    ],
)
def test_an_odd_archive_is_one_sentence(
    make: Callable[[Path], object], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_files, "LARGEST_SAMPLE_BYTES", 500)
    make(tmp_path / "log.eval")
    with pytest.raises(UsageError, match=why):
        read(tmp_path / "log.eval")


def test_log_likelihoods_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps({"doc_id": 1, "doc": {}, "resps": [[[-1.5, False]]],
                                "filtered_resps": [[-1.5, False]]}))  # fmt: skip
    left_out = LeftOut()
    assert read(path, left_out=left_out) == []
    assert left_out.counts == {OmissionReason.NO_TEXT: 1}


ROW = {"id": "1", "at": "2026-05-01T10:00:00Z", "text": TEXT, "unit": "u", "gender": "f"}
COMPRESSED = {
    "log.jsonl.gz": json.dumps(ROW), "log.json.gz": json.dumps([ROW], indent=1),
    "log.csv.gz": f"{','.join(ROW)}\n{','.join(ROW.values())}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_log_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(COMPRESSED[name].encode()))
    (answer,) = read(tmp_path / name)
    assert (answer["text"], answer["groups"]) == (TEXT, {"gender": "f"})


@pytest.mark.parametrize(
    "content",
    [b"hello", gzip.compress(json.dumps(ROW).encode(), mtime=0)[:-9]],
    ids=["text", "cut off"],
)
def test_a_log_that_cannot_be_unpacked_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.gz").write_bytes(content)
    with pytest.raises(UsageError, match="it is not gzip, or it is cut off"):
        read(tmp_path / "log.jsonl.gz")


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-01T10:00:00Z", "2026-05-01 10:00:00", "2026-05-01T12:00:00+02:00",
        "2026-05-01 10:00:00 UTC", "20260501T100000Z", "Fri, 01 May 2026 10:00:00 GMT",
        "Fri, 1 May 2026 12:00:00 +0200", 1777629600, "1777629600.0", 1777629600000,
        1777629600000000, "1777629600000000000", datetime(2026, 5, 1, 10),  # noqa: DTZ001
    ],
)  # fmt: skip
def test_a_time_is_read_in_every_usual_form(written: Any) -> None:
    assert moment_in("log", written) == datetime(2026, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("written", ["yesterday", True, "2026-13-01", "inf", -5])
def test_what_is_no_time_names_its_place(written: Any) -> None:
    with pytest.raises(UsageError, match=r"^log, line 3: the time"):
        moment_in("log, line 3", written)


def test_a_map_is_suggested_from_names_and_values(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    rows = [
        {"request_id": f"r{n}", "ts": 1777629600000 + n, "user_message": QUESTION,
         "llm_answer": f"{TEXT} {n}", "topic": "ab"[n % 2], "name": "Maria",
         "customer": json.dumps({"id": f"c{n % 5}", "gender": "fm"[n % 2]})}
        for n in range(20)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    suggested = suggested_map_of(path, None)
    assert suggested.fields == {
        "id": "request_id", "time": "ts", "text": "llm_answer", "prompt": "user_message",
        "unit": "customer.id", "groups": {"gender": "customer.gender"},
        "strata": {"topic": "topic"},
    }  # fmt: skip
    assert "groups.gender: customer.gender, with f (10), m (10)." in suggested.remarks
    mapping = MappingFile.model_validate(suggested.fields)
    answers = [answer for _, answer in LogFile(path, mapping=mapping).answers()]
    assert (answers[1]["text"], answers[1]["groups"]) == (f"{TEXT} 1", {"gender": "m"})


def test_a_known_format_needs_no_names_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(json.dumps(sample(n, metadata={"gender": "fm"[n % 2]}))
                              for n in range(8)))  # fmt: skip
    suggested = suggested_map_of(path, None)
    assert suggested.fields == {"groups": {"gender": "metadata.gender"}}
    assert suggested.remarks[0] == "The format is inspect."


WRITTEN: dict[str, list[str]] = {
    "inspect.eval": ["Answer 0.", "Answer 1.", "Answer 2.", "Answer 3."],
    "inspect_tools.eval": ["Eva is 9."] * 2,
    "lm_eval.jsonl": ["Eva is a strong applicant."] * 2,
    "helm.json": [" Eva is strong.", " Adam is strong.", "rate_limit"],
    "deepeval.json": ["Eva is strong.", "Adam is strong."],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_that_the_tools_wrote_are_read(name: str) -> None:
    """Read files of inspect_ai, lm_eval 0.4, crfm-helm and deepeval, with models that mock."""
    left_out = LeftOut()
    answers = [
        answer for _, answer in LogFile(Path(__file__).parent / "results" / name).answers(left_out)
    ]
    assert [answer.get("text", answer.get("reason")) for answer in answers] == WRITTEN[name]
    assert all(answer["messages"] and answer["unit"] for answer in answers)
    assert not left_out.counts


@pytest.mark.parametrize("change", ["cut", "damaged", "bomb"])
def test_a_damaged_or_huge_archive_of_inspect_is_one_sentence(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray((Path(__file__).parent / "results" / "inspect.eval").read_bytes())
    if change == "bomb":
        monkeypatch.setattr(inspect_files, "LARGEST_SAMPLE_BYTES", 500)
    else:
        start = data.index(b"samples/")
        data[start + 60 : start + 90] = bytes(30)
    path = tmp_path / "log.eval"
    path.write_bytes(data[: len(data) // 2] if change == "cut" else data)
    with pytest.raises(UsageError) as error:
        list(LogFile(path).answers())
    reason = "at most" if change == "bomb" else "not a zip archive, or it is damaged"
    assert reason in str(error.value)
    assert "log.eval" in str(error.value)


def test_a_map_of_short_names_is_guessed_by_values(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    rows = [
        {"q": QUESTION, "a": f"{TEXT} She is number {n}.", "g": "fm"[n % 2],
         "when": f"2026-05-01T10:00:{n:02}Z"}
        for n in range(20)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    suggested = suggested_map_of(path, None)
    assert suggested.fields == {"time": "when", "text": "a", "groups": {"g": "g"}}
    assert any(
        remark.startswith("text: a (a guess by its values; also possible: q)")
        for remark in suggested.remarks
    )


@pytest.mark.parametrize("id_field", ["req_no", "dispatch"])
def test_an_id_by_its_values_and_a_nested_user_are_suggested(tmp_path: Path, id_field: str) -> None:
    path = tmp_path / "calls.jsonl"
    rows = [
        {"shift": f"s{n % 3}", id_field: f"A-{n:04}", "acct": {"uid": f"u{n % 8}"},
         "a": f"{TEXT} {n}"}
        for n in range(20)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    fields = suggested_map_of(path, None).fields
    assert (fields["id"], fields["unit"]) == (id_field, "acct.uid")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"x": n, "y": 2 * n} for n in range(20)], "no field holds texts. Its fields: x, y."),
        ([sample(n, metadata={}) for n in range(4)], "none looks like a group"),
    ],
)
def test_a_log_without_texts_or_groups_has_no_map(
    tmp_path: Path, rows: list[dict[str, Any]], reason: str
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(UsageError, match="No map is written for") as error:
        suggested_map_of(path, None)
    assert reason in str(error.value)


def test_exported_answers_are_read_without_a_map(tmp_path: Path) -> None:
    answer = ExportedAnswer(
        response_id="a" * 32, run_id="b" * 32, key="k1", target="traffic:support",
        scaffold="direct", repeat=0, groups={"gender": "f"}, facts={"topic": "x"},
        stimuli={}, unit="u1", set="", text=TEXT, at=datetime(2026, 5, 1, tzinfo=UTC),
        messages=(Message(role=Role.USER, content=QUESTION),), said={"turn:1": "Yes."},
        tool_steps=(ToolStep(step=1, name="refund", result="done"),),
    )  # fmt: skip
    path = tmp_path / "export.jsonl"
    [row] = rows_of_page([answer], [])
    assert json.loads(row["said"]) == {"turn:1": "Yes."}
    assert json.loads(row["tool_steps"])[0]["result"] == "done"
    path.write_text(json.dumps(row))
    [(_, read)] = LogFile(path).answers()
    assert (read["id"], read["text"], read["unit"]) == ("k1", TEXT, "u1")
    assert (read["groups"], read["facts"]) == ({"gender": "f"}, {"topic": "x"})
    assert read["messages"] == answer.messages
    SentResponse.model_validate(read)
