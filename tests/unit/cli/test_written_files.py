"""A file that a command writes is whole, or as it was before."""

import os
import stat
from pathlib import Path

import pytest

from biaswatch.shared.errors import UsageError
from biaswatch.written_files import atomic_file, write_atomically


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def stopped_while_writing(path: Path, stopped_by: type[BaseException]) -> None:
    with atomic_file(path) as part:
        part.write_text("half")
        raise stopped_by


def test_a_file_is_replaced_only_once_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("before")
    with atomic_file(path) as part:
        part.write_text("half")
        assert path.read_text() == "before"
    assert path.read_text() == "half"
    assert names_in(tmp_path) == ["report.md"]


@pytest.mark.parametrize("stopped_by", [KeyboardInterrupt, ValueError])
def test_who_is_stopped_while_writing_leaves_what_was_there(
    tmp_path: Path, stopped_by: type[BaseException]
) -> None:
    (path := tmp_path / "report.md").write_text("before")
    with pytest.raises(stopped_by):
        stopped_while_writing(path, stopped_by)
    assert path.read_text() == "before"
    assert names_in(tmp_path) == ["report.md"]


def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    full = OSError("Error writing bytes to file. Detail: [errno 28] No space left on device")
    full.errno = 28
    text = r"answers.csv cannot be written \(No space left on device\)\.$"
    with pytest.raises(UsageError, match=text), atomic_file(path):
        raise full
    assert names_in(tmp_path) == []


def test_what_is_no_plain_file_is_written_as_it_comes() -> None:
    with pytest.raises(UsageError, match=r"/dev/full cannot be written \(No space left on device"):
        write_atomically(Path("/dev/full"), "report")
    write_atomically(Path(os.devnull), "report")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_is_not_there_or_a_folder_itself_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"r.md cannot be written \(No such file or directory\)"):
        write_atomically(tmp_path / "nowhere" / "r.md", "report")
    with pytest.raises(UsageError, match=r"cannot be written \(Is a directory\)"):
        write_atomically(tmp_path, "report")


def test_a_link_leads_to_the_same_file_after_writing_and_rights_stay(tmp_path: Path) -> None:
    (real := tmp_path / "real.md").write_text("before")
    real.chmod(0o640)
    (link := tmp_path / "link.md").symlink_to(real)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert real.read_text() == "after"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
