"""Every file in shared/contracts/providers is a provider that can be named, asked and looked up."""

import re
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest

from biaswatch.services.generator.handlers.endpoints import connection_to, endpoint_of
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Target, parse_target
from biaswatch.shared.contracts.providers import PROVIDERS, key_variables
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.llm.port import HOST_KEY_SOURCE
from tests.support.records import make_target

DOCS = Path(__file__).parents[3] / "docs" / "targets.md"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in key_variables():
        monkeypatch.setenv(variable, "k")


def target_of(name: str) -> Target:
    """Return the target that a provider's own example names."""
    [written, *_] = re.findall(rf"{name}:[^ ,]+", PROVIDERS[name].example)
    if PROVIDERS[name].request_model:
        written += (
            "?" + Application(url="https://a.example/", request={}, answer="").as_parameters()
        )
    return parse_target(written)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_example_of_every_provider_is_a_target_of_it_and_stands_in_the_docs(name: str) -> None:
    assert target_of(name).provider == name
    assert f"| `{name}:" in DOCS.read_text()


class StartedModels:
    """The models of a generator, all of which run already."""

    runs = True

    def model(self, name: str) -> "StartedModels":
        return self

    def address(self) -> str:
        return "http://127.0.0.1:1"


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_has_an_adapter(name: str) -> None:
    target = target_of(name)
    connection = replace(connection_to(target, GeneratorSettings()), local_models=StartedModels())
    model = resolve_name(f"biaswatch.shared.{PROVIDERS[name].adapter}")(target, connection)
    assert callable(model.ask)


def test_an_unknown_provider_is_a_poisoned_record() -> None:
    with pytest.raises(PoisonError, match="no provider nobody"):
        endpoint_of(make_target(provider="nobody"), GeneratorSettings(), {}, lambda: 0.0)


def test_only_the_simulator_is_told_the_repeat_and_only_own_servers_are_held_to_a_schema() -> None:
    settings = GeneratorSettings()
    own, other, simulated = (
        connection_to(parse_target(written), settings)
        for written in ("openai:m", "openai:m@http://localhost:1/v1", "simulator:biased")
    )
    assert (own.structured, other.structured, simulated.structured) == (True, False, True)
    assert (own.tell_repeat, other.tell_repeat, simulated.tell_repeat) == (False, False, True)
    assert (own.url, other.url) == ("https://api.openai.com/v1", "http://localhost:1/v1")
    assert (own.key, other.key) == ("k", None)
    assert "OPENAI_API_KEY" in own.key_source
    assert other.key_source == HOST_KEY_SOURCE
