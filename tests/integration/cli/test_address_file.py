"""The file that says where the platform runs is there whole, or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from biaswatch.local.connections import AddressFile, RunningPlatform

TIMES = 60


def write_again_and_again(file: AddressFile, here: RunningPlatform) -> None:
    for _ in range(TIMES):
        file.write(here)


def test_who_reads_while_the_address_is_written_never_sees_half_of_it(tmp_path: Path) -> None:
    file = AddressFile(tmp_path)
    here = RunningPlatform("http://127.0.0.1:1", "nats://127.0.0.1:2", os.getpid())
    file.write(here)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_again_and_again, file, here)
        seen = [file.read()]
        while not writing.done():
            seen.append(file.read())
        writing.result()
    assert set(seen) == {here}
    assert [each.name for each in tmp_path.iterdir()] == ["platform.json"]


def test_a_platform_that_is_dead_is_not_found(tmp_path: Path) -> None:
    file = AddressFile(tmp_path)
    assert file.read() is None
    file.write(RunningPlatform("http://127.0.0.1:1", "nats://127.0.0.1:2", 2**22 + 1))
    assert file.read() is None
