"""Files served as drop-ins by the command line: each under its name, none mixed with another."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.store import migrate
from tests.support.commands import CommandLine, RunningCommand
from tests.support.waiting import until

LETTERS = """VERSION = "{version}"
FEATURES = ("size",)
def measure(text):
    return {{"size": {size}}}
"""
Serve = Callable[..., RunningCommand]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[CommandLine]:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(store)
    with EmbeddedServer(tmp_path / "nats") as server:
        yield CommandLine(
            tmp_path / "state", BIASWATCH_NATS_URL=server.url, BIASWATCH_STORE_URL=store
        )


@pytest.fixture
def serve(command: CommandLine) -> Iterator[Serve]:
    """Serve a file until it says so; end it with the test."""
    processes: list[RunningCommand] = []

    def start(path: Path, *words: str) -> RunningCommand:
        process = command.start("extractors", "serve", str(path), *words)
        processes.append(process)
        until(lambda: "Serving" in process.printed() or process.poll() is not None)
        assert process.poll() is None, process.communicate()[1]
        return process

    yield start
    for process in processes:
        process.terminate()
        process.communicate()


def written(folder: Path, *, size: str = "len(text)", version: str = "1") -> Path:
    """Write the file that every drop-in on Kubernetes has."""
    folder.mkdir(exist_ok=True)
    path = folder / "extractor.py"
    path.write_text(LETTERS.format(size=size, version=version))
    return path


@pytest.mark.parametrize(
    "other", [{"size": "len(text) + 1"}, {"version": "2"}, {"size": "len(text) + 0"}]
)
def test_a_second_drop_in_of_a_name_with_other_code_is_refused(
    command: CommandLine, serve: Serve, tmp_path: Path, other: dict[str, str]
) -> None:
    serve(written(tmp_path / "one"))
    refused = command("extractors", "serve", str(written(tmp_path / "other", **other)))
    assert refused.returncode == 2
    assert "Another drop-in extractor is running" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert command("extractors", "test", "extractor").returncode == 0, "the first one goes on"


def test_copies_run_side_by_side_and_other_names_too(
    command: CommandLine, serve: Serve, tmp_path: Path
) -> None:
    path = written(tmp_path / "one")
    serve(path)
    serve(path)
    serve(written(tmp_path / "other", size="len(text) + 1"), "--name", "other")
    for name in ("extractor", "other"):
        assert command("extractors", "test", name).returncode == 0


def test_the_name_is_free_once_its_drop_in_has_ended(
    command: CommandLine, serve: Serve, tmp_path: Path
) -> None:
    first = serve(written(tmp_path / "one"))
    first.kill()
    first.communicate()
    serve(written(tmp_path / "other", size="len(text) + 1"))
    assert command("extractors", "test", "extractor").returncode == 0


def test_a_name_that_cannot_travel_is_refused(command: CommandLine, tmp_path: Path) -> None:
    refused = command("extractors", "serve", str(written(tmp_path / "one")), "--name", "a.b")
    assert refused.returncode == 2
    assert "The extractor a.b cannot be served: name" in refused.stderr
