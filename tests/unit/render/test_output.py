"""Output of verbs: printed or written, with a sentence for a file that cannot be written."""

import json
from pathlib import Path

import pytest

from biaswatch.render.terminal import print_rows, write_document
from biaswatch.shared.errors import UsageError

ROWS = [{"median_delay": 3, "p": None}]


def test_a_document_is_printed_or_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_document("words", None)
    write_document("words", tmp_path / "out.md")
    captured = capsys.readouterr()
    assert (captured.out, (tmp_path / "out.md").read_text()) == ("words\n", "words")
    assert captured.err == f"Wrote {tmp_path / 'out.md'}.\n"


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.out\.md cannot be written \(No such file"):
        write_document("words", tmp_path / "nowhere" / "out.md")


def test_rows_are_json_alone_or_a_table_and_its_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_rows(ROWS, "Delays are rounds.", as_json=True)
    assert json.loads(capsys.readouterr().out) == ROWS
    print_rows(ROWS, "Delays are rounds.", as_json=False)
    shown = capsys.readouterr().out
    assert {"median", "delay", "3"} <= set(shown.split())
    assert "Delays are rounds." in shown
