"""The verbs of tokens and of the audit trail as a person types them, in processes of their own."""

import json
import re
from pathlib import Path

import pytest
import yaml
from sqlalchemy import text

from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.contracts.access import TokensFile, verifier_of
from biaswatch.shared.store import Store
from biaswatch.shared.store.engine import engine_of
from tests.support.bus import ProvisionedBus
from tests.support.commands import CommandLine
from tests.support.records import make_response


@pytest.fixture
def biaswatch(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "state", COLUMNS="200")


def test_a_token_is_printed_once_and_the_file_does_not_know_it(
    biaswatch: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "tokens.yaml"
    where = ("--file", str(file))
    words = (
        "admin",
        "tokens",
        "add",
        "anna",
        "--role",
        "run",
        "--tenant",
        "hiring",
        "--texts",
        *where,
    )
    made = biaswatch(*words)
    token = made.stdout.strip()
    assert (made.returncode, re.fullmatch(r"bw_[\w-]{43}", token) is not None) == (0, True)
    assert token not in file.read_text()
    [grant] = TokensFile.model_validate(yaml.safe_load(file.read_text())).tokens
    assert (grant.verifier, grant.in_words()) == (verifier_of(token), "run of hiring, with texts")
    second = biaswatch("admin", "tokens", "add", "anna", "--role", "run", *where).stdout.strip()
    listed = json.loads(biaswatch("admin", "tokens", "list", "--json", *where).stdout)["tokens"]
    assert [item["name"] for item in listed] == ["anna", "anna"]
    assert " on " in listed[0]["made_by"]
    id_ = verifier_of(token)[:8]
    assert biaswatch("admin", "tokens", "remove", "anna", "--id", id_, *where).returncode == 0
    [left] = json.loads(biaswatch("admin", "tokens", "list", "--json", *where).stdout)["tokens"]
    assert left["verifier"] == verifier_of(second)
    assert biaswatch("admin", "tokens", "remove", "anna", *where).returncode == 0
    assert "all requests are refused" in biaswatch("admin", "tokens", "list", *where).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "x"), "--role"),
        (("add", "x", "--role", "run", "--proxy"), "--role"),
        (("add", "x", "--role", "ingest", "--texts"), "reads nothing"),
        (("add", "x", "--role", "run", "--tenant", "not a word"), "tenant"),
        (("add", "x", "--role", "run", "--until", "soon"), "cannot be read"),
        (("remove", "nobody"), "no such token"),
    ],
)
def test_a_slip_is_one_sentence_and_writes_nothing(
    biaswatch: CommandLine, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    file = tmp_path / "tokens.yaml"
    result = biaswatch("admin", "tokens", *words, "--file", str(file))
    assert (result.returncode, result.stderr.count("\n"), file.exists()) == (2, 1, False)
    assert sentence in result.stderr


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE audit_entry SET actor = 'nobody' WHERE number = 1",
        "DELETE FROM audit_entry WHERE number = 1",
        "DELETE FROM audit_entry WHERE number = 2",
        "DELETE FROM audit_entry",
    ],
)
async def test_a_trail_that_somebody_changed_is_found(
    bus: ProvisionedBus, store_url: str, biaswatch: CommandLine, damage: str
) -> None:
    biaswatch.set(NATS_URL=bus.server.url, BIASWATCH_STORE_URL=store_url)
    for unit in ("user-7", "user-8"):
        unknown = biaswatch("admin", "purge", "--unit", unit, "--yes")
        assert (unknown.returncode, f"No record has the unit {unit}" in unknown.stderr) == (2, True)
    sound = biaswatch("admin", "audit", "verify")
    assert (sound.returncode, "the trail is unchanged. Record its head" in sound.stdout) == (
        0,
        True,
    )
    engine = engine_of(store_url)
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("DROP TRIGGER audit_entry_no_update"))
            connection.execute(text("DROP TRIGGER audit_entry_no_delete"))
        else:
            connection.execute(text("DROP TRIGGER audit_entry_append_only ON audit_entry"))
        connection.execute(text(damage))
    engine.dispose()
    result = biaswatch("admin", "audit", "verify")
    assert (result.returncode, "was changed" in result.stdout) == (1, True)


async def test_a_purge_here_is_of_one_tenant_and_in_the_trail_without_the_users_name(
    bus: ProvisionedBus, store: Store, store_url: str, biaswatch: CommandLine
) -> None:
    biaswatch.set(NATS_URL=bus.server.url, BIASWATCH_STORE_URL=store_url)
    store.records.write([make_response(1)])
    words = ("admin", "purge", "--unit", "prompt-1", "--yes", "--json")
    assert biaswatch(*words, "--tenant", "hiring").returncode == 2
    assert json.loads(biaswatch(*words).stdout)["texts"] == 3
    shown = json.loads(biaswatch("admin", "audit", "show", "--action", "texts", "--json").stdout)
    assert [item["tenant"] for item in shown] == [None, "hiring"]
    assert {item["action"] for item in shown} == {AuditAction.TEXTS_PURGE}
    assert "prompt-1" not in json.dumps(shown)
    assert (
        biaswatch("admin", "audit", "show", "--about", "nothing").stdout
        == "There is no such entry.\n"
    )


def test_new_keys_are_in_the_trail_where_there_is_one(
    store_url: str, tmp_path: Path, biaswatch: CommandLine
) -> None:
    bare = biaswatch("admin", "keys", str(tmp_path / "first"))
    assert (bare.returncode, "not in an audit trail" in bare.stderr) == (0, True)
    biaswatch.set(BIASWATCH_STORE_URL=store_url)
    assert biaswatch("admin", "keys", str(tmp_path / "keys"), "--drop-in", "mine").returncode == 0
    shown = json.loads(biaswatch("admin", "audit", "show", "--json").stdout)
    assert {item["action"] for item in shown} == {AuditAction.KEY_CREATE}
    assert {"generator", "operator", "dropin-mine"} <= {item["subject"] for item in shown}
