"""Servers of local models: started when needed, restarted on the same port, stopped with us."""

import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from biaswatch.readers.targets import sent_target
from biaswatch.shared.bus.server import alive
from biaswatch.shared.contracts import Target, parse_target
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.llm import local_models
from biaswatch.shared.llm.local_chat import LocalChat
from biaswatch.shared.llm.local_models import LocalModel, LocalModels, gguf_file
from biaswatch.shared.llm.port import ModelEndpoint
from tests.support.waiting import until

SCRIPTED = "tests.support.scripted_llama_server"


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_models, "SERVER_MODULE", SCRIPTED)
    monkeypatch.setattr(local_models, "find_spec", lambda _: object())


@pytest.fixture
def models(tmp_path: Path) -> Iterator[LocalModels]:
    models = LocalModels(tmp_path / "logs")
    yield models
    models.close()


def model_file(folder: Path, text: str = "weights") -> Path:
    file = folder / "own model.gguf"
    file.write_text(text)
    return file


def status(address: str, method: str, path: str) -> int:
    connection = HTTPConnection(urlsplit(address).netloc)
    try:
        connection.request(method, path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_model_is_healthy_when_its_address_is_returned(
    tmp_path: Path, models: LocalModels
) -> None:
    model = models.model(str(model_file(tmp_path)))
    assert not model.runs
    assert status(model.address(), "GET", "/health") == 200
    assert models.model(str(model_file(tmp_path))) is model


def test_a_model_that_died_starts_again_on_its_port(tmp_path: Path, models: LocalModels) -> None:
    model = models.model(str(model_file(tmp_path)))
    address, pid = model.address(), model.pid
    with pytest.raises((HTTPException, ConnectionError)):
        status(address, "POST", "/die")
    until(lambda: not model.runs)
    assert model.address() == address
    assert model.pid != pid


def test_models_stop_with_their_owner(tmp_path: Path, models: LocalModels) -> None:
    model = models.model(str(model_file(tmp_path)))
    model.address()
    models.close()
    assert not model.runs


def test_a_model_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from biaswatch.shared.llm import local_models\n"
        f"local_models.SERVER_MODULE = {SCRIPTED!r}\n"
        "model = local_models.LocalModel(Path(sys.argv[1]), Path(sys.argv[2])); model.address()\n"
        "print(model.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", script, str(model_file(tmp_path)), str(tmp_path / "log")]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    until(lambda: not alive(int(printed)))


def test_a_file_that_cannot_be_served_is_a_sentence_with_the_log(tmp_path: Path) -> None:
    model = LocalModel(model_file(tmp_path, "broken"), tmp_path / "logs" / "model.log")
    with pytest.raises(ConfigurationError, match=r"cannot serve .*: the file is no GGUF .*\.log"):
        model.address()
    assert "no GGUF" in model.log_file.read_text()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("other", "is not a local model"),
        ("there.gguf", "There is no file"),
        ("a.txt", "is not a local"),
    ],
)
def test_another_name_is_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        gguf_file(name)


def test_what_is_not_installed_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_models, "SMOLLM2_DISTRIBUTION", "no-such-distribution")
    with pytest.raises(ConfigurationError, match=r"smollm2 is not installed\. Run `make llm`"):
        gguf_file("smollm2")
    monkeypatch.setattr(local_models, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"llama.cpp is not installed. Run `make llm`"):
        gguf_file(str(model_file(tmp_path)))


def test_a_deployed_generator_starts_no_model() -> None:
    target: Target = parse_target("local:smollm2?max_tokens=9")
    assert target.parameters == {"max_tokens": 9}
    with pytest.raises(ConfigurationError, match="starts no models"):
        LocalChat.connect(target, ModelEndpoint(url=""))


def test_a_file_is_sent_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sent_target("local:a.gguf?top_k=1", None) == f"local:{tmp_path}{os.sep}a.gguf?top_k=1"
    assert sent_target("local:smollm2", None) == "local:smollm2"
