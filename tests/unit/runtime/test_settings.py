"""Settings come from the environment, and a wrong one is named without its value."""

from pathlib import Path

import pytest

from biaswatch.services.notifier.settings import NotifierSettings
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.settings import Settings, load_settings


def test_a_wrong_variable_is_named_and_its_value_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIASWATCH_HEALTH_PORT", "hunter2")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(Settings)
    assert str(caught.value).startswith("The variable BIASWATCH_HEALTH_PORT is wrong: ")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["NATS_URL", "BIASWATCH_NATS_URL"])
def test_the_bus_may_be_named_either_way(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "nats://elsewhere:4222")
    assert load_settings(Settings).nats_url == "nats://elsewhere:4222"


def test_the_store_is_a_file_in_the_state_directory_unless_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path))
    assert load_settings(Settings).store == f"sqlite:///{tmp_path}/store.db"
    monkeypatch.setenv("BIASWATCH_STORE_URL", "postgresql://db/biaswatch")
    assert load_settings(Settings).store == "postgresql://db/biaswatch"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASWATCH_STORE_URL", "")
    assert load_settings(Settings).store_url is None


def test_what_must_be_no_variable_may_lie_in_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "biaswatch_store_url").write_text("postgresql://somebody:hunter2@db/biaswatch\n")
    monkeypatch.setenv("BIASWATCH_SECRETS_DIR", str(tmp_path))
    assert load_settings(Settings).store == "postgresql://somebody:hunter2@db/biaswatch"
    monkeypatch.setenv("BIASWATCH_STORE_URL", "postgresql://other/biaswatch")
    assert load_settings(Settings).store == "postgresql://other/biaswatch"


def test_a_folder_of_secrets_that_is_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BIASWATCH_SECRETS_DIR", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="does not exist"):
        load_settings(Settings)


def test_a_list_that_is_no_json_is_explained_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIASWATCH_NOTIFIER_PRIVATE_HOSTS", "hunter2")
    with pytest.raises(ConfigurationError, match="BIASWATCH_NOTIFIER_PRIVATE_HOSTS is wrong") as it:
        load_settings(NotifierSettings)
    assert """'["first", "second"]'""" in str(it.value)
    assert "hunter2" not in str(it.value)
