"""The operator's verbs as a person types them, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biaswatch.shared.bus.dead_letters import AT, ATTEMPTS, DURABLE, ERROR, REASON, SUBJECT
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import AuditAnchor, Response
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.commands import CommandLine
from tests.support.records import make_response
from tests.support.waiting import PATIENCE_S

HERE: dict[str, Path] = {}
HEADERS = (AT, ATTEMPTS, DURABLE, ERROR, REASON, SUBJECT)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    HERE["folder"] = tmp_path


def biaswatch(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return CommandLine(HERE["folder"] / "state", **{"COLUMNS": "160", **environment})(*words)


def recorder(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "biaswatch.services.recorder.app"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, "BIASWATCH_HEALTH_PORT": "0", **environment},
    )


def refusing_stage(seen: ReceivedRecords) -> Stage[Response]:
    async def refuse(response: Response) -> list[Response]:
        seen.note(response)
        raise PoisonError("This [red]text[/red] cannot be measured.")

    return Stage("extractor", Response, refuse)


async def test_dead_letters_can_be_listed_replayed_and_discarded(
    bus: ProvisionedBus, kept_store: str
) -> None:
    seen = ReceivedRecords()
    worker = bus.work(refusing_stage(seen))
    await bus.publish(make_response(0), make_response(1))
    await bus.settled(refusing_stage(seen))
    await worker.stop()
    where = {"NATS_URL": bus.server.url, "BIASWATCH_STORE_URL": kept_store}
    listed = biaswatch("admin", "dead-letters", "list", **where)
    assert "This [red]text[/red] cannot be measured." in listed.stdout
    letters = json.loads(biaswatch("admin", "dead-letters", "list", "--json", **where).stdout)
    assert [letter["durable"] for letter in letters] == ["extractor-response"] * 2
    assert "quiet" not in json.dumps(letters)  # no words of the answer
    first, second = (str(letter["number"]) for letter in letters)
    assert biaswatch("admin", "dead-letters", "replay", first, **where).returncode == 0
    assert biaswatch("admin", "dead-letters", "discard", second, **where).returncode == 0
    mended = ReceivedRecords()
    bus.work(Stage("extractor", Response, mended.handle))
    await mended.wait_for(1)
    assert (
        biaswatch("admin", "dead-letters", "list", **where).stdout == "There are no dead letters.\n"
    )
    assert mended.records == [make_response(0)]
    with Store.open(kept_store) as store:
        entries = store.audit.latest(10)
    assert [(entry.action, entry.subject) for entry in entries] == [
        ("dead_letter.discard", second),
        ("dead_letter.replay", first),
    ]
    assert await bus.count(AuditAnchor) == 2
    verified = biaswatch("admin", "audit", "verify", "--json", **where)
    assert (verified.returncode, json.loads(verified.stdout)["faults"]) == (0, [])


async def test_what_cannot_be_audited_is_not_done(bus: ProvisionedBus, tmp_path: Path) -> None:
    await bus.publisher.publish_copy("dead.v1.evaluator.evaluator-response", b"{}", {})
    where = {"NATS_URL": bus.server.url, "BIASWATCH_STORE_URL": f"sqlite:///{tmp_path / 'no.db'}"}
    refused = biaswatch("admin", "dead-letters", "discard", "1", **where)
    assert (refused.returncode, "not prepared" in refused.stderr) == (2, True)
    assert (
        len(json.loads(biaswatch("admin", "dead-letters", "list", "--json", **where).stdout)) == 1
    )


@pytest.mark.parametrize("words", [("replay",), ("replay", "1", "--all"), ("discard", "99")])
async def test_a_slip_with_dead_letters_is_one_sentence_and_changes_nothing(
    bus: ProvisionedBus, words: tuple[str, ...]
) -> None:
    result = biaswatch("admin", "dead-letters", *words, NATS_URL=bus.server.url)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


@pytest.fixture
def kept_store(store_url: str) -> str:
    migrate(store_url)
    return store_url


FOREIGN = {
    "an acknowledgement of a stream": {},
    "headers that cannot be read": dict.fromkeys(HEADERS, "?"),
    "a record that its service does not read": {
        **dict.fromkeys(HEADERS, "1"),
        AT: "2026-01-01T00:00:00+00:00",
        SUBJECT: "bias.v1.verdict.default.measure.x",
    },
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_what_does_not_belong_among_dead_letters_is_shown_and_stops_no_command(
    bus: ProvisionedBus, kept_store: str, headers: dict[str, str]
) -> None:
    await bus.publisher.publish_copy("dead.v1.evaluator.evaluator-response", b"{}", headers)
    where = {"NATS_URL": bus.server.url, "BIASWATCH_STORE_URL": kept_store}
    [letter] = json.loads(biaswatch("admin", "dead-letters", "list", "--json", **where).stdout)
    assert (letter["error"], letter["durable"]) == ("ForeignMessage", "")
    purged = biaswatch("admin", "purge", "--before", "2026-01-01", "--yes", "--json", **where)
    assert json.loads(purged.stdout)["unreadable_dead_letters"] == 1
    named = biaswatch("admin", "dead-letters", "replay", str(letter["number"]), **where)
    assert (named.returncode, named.stderr.count("\n")) == (2, 1)
    replayed = biaswatch("admin", "dead-letters", "replay", "--all", **where)
    assert (replayed.returncode, "1 did not come from a service" in replayed.stdout) == (0, True)
    assert biaswatch("admin", "dead-letters", "discard", "1", **where).returncode == 0
    assert (
        biaswatch("admin", "dead-letters", "list", **where).stdout == "There are no dead letters.\n"
    )


async def test_provision_prepares_the_bus_and_the_store_and_the_recorder_starts_on_them(
    bus: ProvisionedBus, empty_store_url: str
) -> None:
    where = {"NATS_URL": bus.server.url, "BIASWATCH_STORE_URL": empty_store_url}
    for _ in range(2):
        result = biaswatch("admin", "provision", **where)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("The bus has its streams and durables; the store is at")


def test_keys_are_made_for_every_service(tmp_path: Path) -> None:
    result = biaswatch("admin", "keys", str(tmp_path / "keys"))
    assert result.returncode == 0
    names = {path.name for path in (tmp_path / "keys").iterdir()}
    assert {"generator.seed", "operator.seed", "authorization.conf"} <= names


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"BIASWATCH_STORE_URL": "oracle://x"}, "must begin with sqlite:/// or postgresql://"),
        ({"BIASWATCH_HEALTH_PORT": "http"}, "BIASWATCH_HEALTH_PORT is wrong"),
        ({"BIASWATCH_STATE_DIR": "/dev/null/x"}, "The folder /dev/null/x for the store"),
        ({"BIASWATCH_RECORDER_BATCH": "0"}, "BIASWATCH_RECORDER_BATCH is wrong"),
        ({"BIASWATCH_NATS_SEED_FILE": "/nowhere/key"}, "The key file /nowhere/key cannot be read"),
    ],
)
async def test_a_service_that_cannot_work_ends_with_one_sentence_and_code_2(
    bus: ProvisionedBus, tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    store = {"BIASWATCH_STATE_DIR": str(tmp_path), "NATS_URL": bus.server.url}
    assert biaswatch("admin", "provision", **store).returncode == 0
    result = recorder(**{**store, **environment})
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 2
    assert last.startswith("biaswatch: ")
    assert sentence in last
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"NATS_URL": "nats://127.0.0.1:1"}, "No NATS server answers at 127.0.0.1:1."),
        ({"BIASWATCH_STORE_URL": "postgresql://u@127.0.0.1:1/x"}, "does not answer: connection"),
    ],
)
async def test_a_service_whose_bus_or_store_is_away_ends_with_a_code_to_start_it_again(
    bus: ProvisionedBus, tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    store = {"BIASWATCH_STATE_DIR": str(tmp_path), "NATS_URL": bus.server.url}
    assert biaswatch("admin", "provision", **store).returncode == 0
    result = recorder(**{**store, **environment})
    assert result.returncode == 1
    assert sentence in result.stderr.strip().splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_a_wrong_variable_of_any_service_is_a_sentence_without_its_value(tmp_path: Path) -> None:
    wrong = {"BIASWATCH_STATE_DIR": str(tmp_path), "BIASWATCH_RECORDER_FILE_S": "hunter2"}
    outcome = biaswatch("runs", **wrong)
    assert outcome.returncode == 2
    assert "The variable BIASWATCH_RECORDER_FILE_S is wrong" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "hunter2" not in outcome.stderr + outcome.stdout


def test_a_typo_is_answered_with_what_there_is() -> None:
    result = biaswatch("diagnos")
    assert result.returncode == 2
    assert "Did you mean 'diagnose'" in result.stderr


def test_a_tenants_key_for_sending_in_answers_is_made_once_and_stays(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    assert biaswatch("admin", "keys", str(folder), "--ingest", "hiring").returncode == 0
    seed = (folder / "ingest-hiring.seed").read_text()
    assert biaswatch("admin", "keys", str(folder)).returncode == 0
    assert (folder / "ingest-hiring.seed").read_text() == seed
    allowed = (folder / "authorization.conf").read_text()
    assert "bias.v1.exchange.hiring.production.*" in allowed
    assert "bias.v1.exchange.default.production.*" in allowed
    refused = biaswatch("admin", "keys", str(folder), "--ingest", "a.b")
    assert refused.returncode == 2
    assert "'a.b': the name of a drop-in or a tenant has at most 64 letters" in refused.stderr
