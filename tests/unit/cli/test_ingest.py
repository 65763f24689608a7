"""Recorded answers are read as they were written, and every slip is a sentence."""

import json
from pathlib import Path

import pytest
import typer

from biaswatch.cli.ingest import answers_in, ingest
from biaswatch.importing.log_files import LogFile
from shared.errors import UsageError

AT = "2026-01-02T03:04:05Z"


def test_a_text_may_hold_separators_that_end_no_line(tmp_path: Path) -> None:
    texts = ["one\u2028two", "three\x85four", "five\r\nsix"]
    lines = [json.dumps({"id": t, "at": AT, "text": t}, ensure_ascii=False) for t in texts]
    file = tmp_path / "answers.jsonl"
    file.write_bytes("\r\n".join([*lines, ""]).encode())
    assert [each["text"] for each in answers_in(LogFile(file))] == texts


def test_who_stops_it_is_told_that_the_same_command_may_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("biaswatch.cli.ingest._send", stopped)
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"id": "1", "at": AT, "text": "Yes."}))
    with pytest.raises(typer.Exit) as ended:
        ingest("support", file)
    assert ended.value.exit_code == 3
    assert "sends all; each still counts once" in capsys.readouterr().err


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
