"""Recorded answers are read as they were written, and every slip is a sentence."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import typer

from biaswatch.cli.ingest import MAX_BATCH_ANSWERS, answers_in, ingest
from biaswatch.importing.log_files import LogFile
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
    with pytest.raises(TransientError):
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
