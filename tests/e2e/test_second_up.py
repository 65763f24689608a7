"""A second `up` on a state directory names the first at once; after a kill `up` starts again."""

from pathlib import Path

from biaswatch.shared.bus.server import alive
from tests.support.commands import CommandLine
from tests.support.waiting import until


def test_a_second_up_names_the_process_of_the_first_and_loads_nothing(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    with command.up() as first:
        assert "Starting the bus ..." in first.complained()
        second = command("up", "--port", "0")
        assert second.returncode == 2
        assert f"is in use by process {first.pid}" in second.stderr
        assert second.stdout == ""
        assert first.poll() is None


def test_up_starts_again_after_it_was_killed(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    with command.up() as first:
        first.kill()
        until(lambda: not alive(first.pid))
    (tmp_path / "state" / "platform.json").unlink()
    with command.up() as second:
        assert second.pid != first.pid
