"""A small disk of its own, to be filled and freed by a test."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from biaswatch.local.supervision import LOW_BYTES, free_bytes

SIZE_BYTES = 3 * LOW_BYTES


class SmallDisk:
    """A mounted disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self, left_bytes: int = 0) -> None:
        """Take all the space but so much, also while somebody else writes."""
        with self._ballast.open("ab") as file:
            while (more := free_bytes(self.folder) - left_bytes) > 0:
                size = os.fstat(file.fileno()).st_size
                with suppress(OSError):  # somebody has just taken a part of it
                    os.posix_fallocate(file.fileno(), size, more)

    def free(self) -> None:
        """Give it back."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def mounted_disk(folder: Path, size_bytes: int = SIZE_BYTES) -> Iterator[SmallDisk]:
    """Mount a disk of memory at a folder while the context lasts; skip where nobody may."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)]
    try:
        mounting = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no small disk: there is no mount command")
    if mounting.returncode:
        pytest.skip(f"no small disk: {mounting.stderr.decode().strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Return a small disk that is empty."""
    with mounted_disk(tmp_path / "disk") as disk:
        yield disk
