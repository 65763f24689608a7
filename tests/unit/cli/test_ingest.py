"""Recorded answers are read as they were written, and every slip is a sentence."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import typer

from biaswatch.cli.ingest import MAX_BATCH_ANSWERS, ingest
from biaswatch.importing.log_files import LogFile
from biaswatch.importing.sent_answers import answers_in
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.traffic import AcceptedBatch

AT = "2026-01-02T03:04:05Z"


def test_a_text_may_hold_separators_that_end_no_line(tmp_path: Path) -> None:
    texts = ["one\u2028two", "three\x85four", "five\r\nsix"]
    lines = [json.dumps({"id": t, "at": AT, "text": t}, ensure_ascii=False) for t in texts]
    file = tmp_path / "answers.jsonl"
    file.write_bytes("\r\n".join([*lines, ""]).encode())
    assert [answer["text"] for answer in answers_in(LogFile(file))] == texts


def test_who_stops_it_is_told_that_the_same_command_may_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("biaswatch.cli.ingest._send", stopped)
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"id": "1", "at": AT, "text": "Yes."}))
    with pytest.raises(typer.Exit) as ended:
        ingest("support", file)
    assert ended.value.exit_code == 3
    assert "goes on here; each answer counts once" in capsys.readouterr().err


def test_a_file_that_is_missing_or_no_text_or_empty_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    with pytest.raises(UsageError, match=r"cannot be read \(No such file or directory\)\.$"):
        list(answers_in(LogFile(file)))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        list(answers_in(LogFile(file)))
    file.write_text("\n\n")
    with pytest.raises(UsageError, match="holds no answer"):
        ingest("support", file)


@pytest.mark.parametrize("name", ["text", "prompt"])
def test_an_answer_beyond_the_limit_is_refused_with_file_line_and_limit(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / "answers.jsonl"
    large = {"id": "2", "at": AT, "text": "Yes.", name: "x" * 5 * 1024 * 1024}
    file.write_text("\n".join(map(json.dumps, [{"id": "1", "at": AT, "text": "Yes."}, large])))
    with pytest.raises(UsageError, match=r"answers\.jsonl, line 2: .* limit is 448 KiB"):
        ingest("support", file)


def test_a_missing_time_or_id_names_the_field_of_the_map_or_suggests_one(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"key": "1", "when": AT, "text": "Yes."}))
    with pytest.raises(UsageError, match=r"line 1: .* no `at`, .*--suggest-map .*answers\.jsonl"):
        list(answers_in(LogFile(file)))
    mapping = MappingFile.model_validate({"time": "meta.finished", "id": "key"})
    with pytest.raises(UsageError, match=r"no `meta\.finished`, which the map names as its time"):
        list(answers_in(LogFile(file, mapping=mapping)))
    mapping = MappingFile.model_validate({"time": "when", "id": ["request", "trace"]})
    with pytest.raises(UsageError, match="no `request` or `trace`, which the map names as its id"):
        list(answers_in(LogFile(file, mapping=mapping)))


class Gateway:
    """Takes batches in, and is gone when it has taken so many answers."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken: list[str] = []

    async def ingest(
        self, source: str, answers: list[dict[str, str]], *, history: bool
    ) -> AcceptedBatch:
        if len(self.taken) + len(answers) > self.room:
            raise TransientError("The gateway does not answer.")
        self.taken += [answer["id"] for answer in answers]
        return AcceptedBatch(accepted=len(answers), late={"coasts": 1})


def test_what_broke_off_goes_on_where_it_stopped_and_a_changed_file_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    gateway = Gateway(room=2 * MAX_BATCH_ANSWERS)

    @asynccontextmanager
    async def connected(*_: object, **__: object) -> AsyncIterator[Gateway]:
        yield gateway

    monkeypatch.setattr("biaswatch.local.connections.connected", connected)
    file = tmp_path / "answers.jsonl"
    ids = [str(n) for n in range(2 * MAX_BATCH_ANSWERS + 7)]
    lines = [json.dumps({"id": id_, "at": AT, "text": "Yes."}) for id_ in ids]
    file.write_text("\n".join(lines))
    sentences = r"not answer\. 1,000 of 1,007 answers were sent\. The same command goes on"
    with pytest.raises(TransientError, match=sentences):
        ingest("support", file)
    gateway.room = 10 * MAX_BATCH_ANSWERS
    ingest("support", file)
    assert gateway.taken == ids
    captured = capsys.readouterr()
    assert "1,000 of its answers were sent before" in captured.err
    assert "3 of them are late for the monitor coasts, or were sent before:" in captured.out
    gateway.taken.clear()
    ingest("support", file)  # all of it had arrived: again is again
    assert gateway.taken == ids
    gateway.room = len(ids) + MAX_BATCH_ANSWERS
    with pytest.raises(TransientError):
        ingest("support", file)
    file.write_text("\n".join([*lines, lines[0]]))
    gateway.room, gateway.taken = 10 * MAX_BATCH_ANSWERS, []
    ingest("support", file)
    assert gateway.taken == [*ids, ids[0]]


def test_an_id_that_comes_with_another_text_is_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def sent(*_: object) -> None:
        return None

    monkeypatch.setattr("biaswatch.cli.ingest._send", sent)
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    file = tmp_path / "answers.jsonl"
    lines = [{"id": id_, "at": AT, "text": text} for id_, text in ((1, "a"), ("1", "b"), (1, "a"))]
    file.write_text("\n".join(map(json.dumps, lines)))
    ingest("support", file)
    assert capsys.readouterr().err.startswith("1 answers have the id of another answer")
