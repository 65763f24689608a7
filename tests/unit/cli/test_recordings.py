"""Recorded answers are copied to the one folder that a platform on this machine reads."""

from pathlib import Path

import pytest

from biaswatch.readers.targets import recordings_folder, sent_target
from biaswatch.shared.errors import UsageError
from biaswatch.shared.llm.replay import path_within

LINE = '{"key": "a", "text": "x"}\n'


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("BIASWATCH_GENERATOR_RECORDINGS_DIR", raising=False)
    return tmp_path / "state"


def written(path: Path, text: str = LINE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_copy_has_a_name_of_file_and_content_and_is_what_a_generator_here_reads(
    tmp_path: Path, state: Path
) -> None:
    file = written(tmp_path / "my answers\u202e.jsonl")
    first = sent_target(f"replay:{file}", None)
    assert first == sent_target(f"replay:{file}", None)
    kept = path_within(recordings_folder(state), first.removeprefix("replay:"))
    assert kept.read_text() == LINE
    assert kept.name.startswith("my-answers-")
    file.write_text(LINE * 2)
    assert sent_target(f"replay:{file}", None) != first
    assert len(list(recordings_folder(state).iterdir())) == 2


@pytest.mark.parametrize("name", ["/etc/passwd", "../../../../etc/passwd", "elsewhere.jsonl"])
def test_a_generator_here_opens_no_other_file(tmp_path: Path, state: Path, name: str) -> None:
    sent_target(f"replay:{written(tmp_path / 'a.jsonl')}", None)
    with pytest.raises(UsageError, match="names no file of recorded answers"):
        path_within(recordings_folder(state), name)


def test_for_another_machine_the_name_stays(tmp_path: Path, state: Path) -> None:
    file = written(tmp_path / "a.jsonl")
    assert sent_target(f"replay:{file}", "https://b.example") == f"replay:{file}"
    assert sent_target("replay:there.jsonl", None) == "replay:there.jsonl"
    assert sent_target("simulator:biased", None) == "simulator:biased"
    assert not state.exists()


def test_a_folder_that_the_operator_names_is_the_one_that_is_read(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASWATCH_GENERATOR_RECORDINGS_DIR", str(tmp_path / "own"))
    file = written(tmp_path / "own" / "deep" / "a.jsonl")
    assert sent_target(f"replay:{file}", None) == "replay:deep/a.jsonl"
    assert not state.exists()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path, state: Path) -> None:
    written(state)  # a file where the folder would be
    with pytest.raises(UsageError, match="cannot be copied to"):
        sent_target(f"replay:{written(tmp_path / 'a.jsonl')}", None)
