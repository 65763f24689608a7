"""Keys reach the server they are for, and no other."""

from pathlib import Path

import pytest

from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.errors import ConfigurationError


@pytest.fixture(autouse=True)
def no_keys_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_key_comes_from_the_providers_own_variable_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    (tmp_path / "key").write_text("sk-2\n")
    monkeypatch.setenv("BIASWATCH_ANTHROPIC_API_KEY_FILE", str(tmp_path / "key"))
    settings = GeneratorSettings()
    assert settings.key_for("openai", None) == "sk-1"
    assert settings.key_for("openai-responses", None) == "sk-1"
    assert settings.key_for("anthropic", None) == "sk-2"


def test_another_server_never_gets_the_providers_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    (tmp_path / "api.deepseek.com").write_text("ds-1")
    settings = GeneratorSettings(keys_dir=tmp_path)
    assert settings.key_for("openai", "https://api.deepseek.com/v1") == "ds-1"
    assert settings.key_for("openai", "http://elsewhere.example/v1") is None
    assert settings.key_for("openai", "http://../v1") is None


def test_a_missing_or_empty_key_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="Set ANTHROPIC_API_KEY"):
        GeneratorSettings().key_for("anthropic", None)
    (tmp_path / "key").write_text("\n")
    monkeypatch.setenv("BIASWATCH_OPENAI_API_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ConfigurationError, match="is empty"):
        GeneratorSettings().key_for("openai", None)


def test_no_key_is_shown_with_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert "very-secret" not in repr(GeneratorSettings())


@pytest.mark.parametrize("text", ["m: 3", "m: {read: 1}", "m: {read: -1, written: 1}", "[1]", "{"])
def test_a_wrong_price_table_is_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"prices\.yaml"):
        GeneratorSettings(prices_file=path).prices()


def test_prices_are_read_by_model(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("gpt-5-mini: {read: 0.25, written: 2}\n")
    assert GeneratorSettings(prices_file=path).prices()["gpt-5-mini"].written == 2
