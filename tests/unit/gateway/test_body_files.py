"""Bodies on disk: what they reserve is returned, also where no file can be made."""

import tempfile
from pathlib import Path

import pytest

from biaswatch.services.gateway.bodies import MEMORY_BYTES, BodyFile, DiskBudget
from biaswatch.shared.errors import TransientError

LARGE = b"x" * (MEMORY_BYTES + 1)


def test_a_body_without_a_temporary_file_reserves_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = DiskBudget()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "removed"))
    with BodyFile(budget) as body:
        body.write(LARGE[:-1])
        with pytest.raises(TransientError, match="temporary files takes no more"):
            body.write(LARGE[-1:])
    assert budget.used_bytes == 0


def test_a_closed_body_returns_what_it_reserved() -> None:
    budget = DiskBudget()
    with BodyFile(budget) as body:
        body.write(LARGE)
        assert budget.used_bytes == len(LARGE)
        assert body.read_at(MEMORY_BYTES, 10) == b"x"
    assert budget.used_bytes == 0
