"""What people see of archived runs: by the command line, by the API, on pages; and on S3."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random

import httpx2
import pytest

from biaswatch.archiving.moving import archived_run, check_files, move_run, restore_run
from biaswatch.shared.contracts import MonitoredWindow, Response, SentAnswer, Window
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.archived_runs import ArchivableRun
from tests.support.answer_files import (
    answers_for,
    batches_of,
    check_each_is_there_once,
    open_with_files,
    run_of,
)
from tests.support.api import api_on
from tests.support.archived import CLOSED, LATER, answers_in, end_run, files_below, keep_ended_run
from tests.support.commands import CommandLine, RunningCommand
from tests.support.measured_runs import make_measured_run, make_suite, write_measured_run
from tests.support.records import AT, make_diagnosis, make_probe, make_response
from tests.support.waiting import until

MOTO = Path(__file__).parents[3] / ".venv-engines" / "bin" / "moto_server"
SUITE = make_suite(sets=4)
RUN = make_measured_run(SUITE)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    migrate(f"sqlite:///{state / 'store.db'}")
    return state


def opened(state: Path) -> Store:
    return Store.open(f"sqlite:///{state / 'store.db'}")


def test_a_person_archives_lists_verifies_purges_and_restores(state: Path, tmp_path: Path) -> None:
    biaswatch, lake = CommandLine(state), str(tmp_path / "lake")
    with opened(state) as store:
        run_id = keep_ended_run(store)
        before = answers_in(store, run_id)
    result = biaswatch("admin", "archive", "move", "--before", "2026-02-01", "--to", lake)
    assert "Archived 7 answers and 7 measurements of 1 runs" in result.stdout, result.stderr
    assert biaswatch(
        "admin", "archive", "move", "--before", "2026-02-01", "--to", lake
    ).stdout.startswith("No run")
    [listed] = json.loads(biaswatch("admin", "archive", "list", "--json").stdout)
    assert (listed["run_id"], listed["state"], listed["answers"]) == (run_id, "archived", 7)
    assert "6 files of 1 runs are unchanged" in biaswatch("admin", "archive", "verify").stdout
    restored = biaswatch("admin", "archive", "restore", run_id)
    assert restored.stdout == f"Restored the 7 answers of the run {run_id}.\n", restored.stderr
    with opened(state) as store:
        assert answers_in(store, run_id) == before
        acts = [entry.action for entry in store.audit.latest(10)]
    assert acts == ["answers.restore", "answers.archive"]
    assert files_below(tmp_path / "lake") == []


def test_a_purge_by_the_command_line_reaches_the_archive(state: Path, tmp_path: Path) -> None:
    biaswatch = CommandLine(state)
    with opened(state) as store:
        keep_ended_run(store)
    biaswatch("admin", "provision")
    biaswatch("admin", "archive", "move", "--before", "2026-02-01", "--to", str(tmp_path / "lake"))
    result = biaswatch("admin", "purge", "--unit", "prompt-3", "--yes", "--json")
    assert json.loads(result.stdout)["archived_texts"] == 3, result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["move"], "Write `biaswatch admin archive move --before DATE --to URI`"),
        (["move", "--before", "2999-01-01", "--to", "x"], "is in the future"),
        (["move", "--before", "2026-01-01", "--to", "ftp://x/y"], "does not begin with"),
        (
            ["move", "--before", "2026-01-01", "--retention", "x.yaml", "--to", "x"],
            "instead of --before",
        ),
        (["move", "--retention", "x.yaml", "--to", "x"], "cannot be read"),
        (["restore", "0" * 32], "is not archived"),
    ],
)
def test_a_slip_is_a_sentence(state: Path, words: list[str], sentence: str) -> None:
    result = CommandLine(state)("admin", "archive", *words)
    assert result.returncode == 2
    assert sentence in " ".join(result.stderr.split())


def test_a_killed_archive_is_taken_up_by_the_same_command(state: Path, tmp_path: Path) -> None:
    biaswatch, lake = CommandLine(state), tmp_path / "lake"
    with opened(state) as store:
        run_id = keep_ended_run(store, answers=600)
        before = answers_in(store, run_id)
    for wait_s in (0.0, 0.2, 0.5):
        process = biaswatch.start(
            "admin", "archive", "move", "--before", "2026-02-01", "--to", str(lake)
        )
        until(partial(_writes, process, lake))
        time.sleep(wait_s)  # each time somewhere else
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert (
        biaswatch(
            "admin", "archive", "move", "--before", "2026-02-01", "--to", str(lake)
        ).returncode
        == 0
    )
    with opened(state) as store:
        assert answers_in(store, run_id) == []
        folder = ParquetFolder(str(lake))
        check_files(store, folder, run_id)
        restore_run(store, folder, archived_run(store, run_id), lambda: LATER)
        assert answers_in(store, run_id) == before
    assert files_below(lake) == []


def _writes(process: RunningCommand, lake: Path) -> bool:
    return any(lake.rglob("*")) or process.poll() is not None


async def test_findings_stay_and_answers_say_where_they_are(state: Path, tmp_path: Path) -> None:
    with opened(state) as store:
        store.suites.keep(SUITE, AT)
        write_measured_run(store, RUN, SUITE)
        end_run(store, RUN.id)
        store.records.write([make_diagnosis(run_id=RUN.id)])
        [due] = store.archived_runs.due(LATER)
        async with _client(store) as api:
            before = (await api.get(f"/v1/runs/{RUN.id}")).json()
            move_run(store, ParquetFolder(str(tmp_path / "lake")), due, lambda: LATER)
            after = (await api.get(f"/v1/runs/{RUN.id}")).json()
            assert "were archived on 2027-01-01" in after.pop("archived")
            assert before.pop("archived") is None
            assert after == before  # counts and state are those of before
            assert len((await api.get(f"/v1/runs/{RUN.id}/diagnoses")).json()) == 1
            for path in ("responses", "features", "measurements", "analysis", "impact-ratios"):
                reply = await api.get(f"/v1/runs/{RUN.id}/{path}")
                assert reply.status_code == 409, path
                assert "biaswatch admin archive restore" in reply.json()["detail"]
            assert (await api.get(f"/v1/runs/{RUN.id}/studies")).json()["scores"] == []
            page = await api.get(f"/runs/{RUN.id}")
            assert page.status_code == 200
            assert "archived" in page.text
            answers = await api.get(f"/runs/{RUN.id}/answers")
            assert answers.status_code == 409
            assert "were archived on" in answers.text


def _client(store: Store) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=api_on(store))
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Start a server that speaks S3; return the address of an archive on it."""
    if not MOTO.exists():
        pytest.skip("no engines: `make .venv-engines/.installed` installs them")
    keys = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "nothing"}
    port = 20_000 + os.getpid() % 20_000
    server = subprocess.Popen(
        [MOTO, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    try:
        until(lambda: _answers(port))
        httpx2.put(f"http://127.0.0.1:{port}/lake").raise_for_status()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in keys.items():
                patch.setenv(name, value)
            query = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
            yield f"s3://lake/archive?{query}"
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/").status_code == 200
    except httpx2.TransportError:
        return False


def test_an_archive_lies_on_a_server_that_speaks_s3(s3: str, state: Path) -> None:
    with opened(state) as store:
        run_id = keep_ended_run(store)
        before = answers_in(store, run_id)
        folder = ParquetFolder(s3)
        [due] = store.archived_runs.due(LATER)
        move_run(store, folder, due, lambda: CLOSED)
        assert answers_in(store, run_id) == []
        assert check_files(store, folder, run_id) == 6
        biaswatch = CommandLine(state)
        biaswatch("admin", "provision")
        purged = biaswatch("admin", "purge", "--unit", "prompt-1", "--yes", "--json")
        assert json.loads(purged.stdout)["archived_texts"] == 3, purged.stderr
        assert "are unchanged" in biaswatch("admin", "archive", "verify").stdout
        numbers = s3.replace("/archive?", "/archive/numbers?")
        asked = ("--group", "groups.race", "--feature", "words.words", "--json")
        diagnosed = biaswatch("diagnose", numbers, *asked)
        assert diagnosed.returncode == 0, diagnosed.stderr
        assert json.loads(diagnosed.stdout)["about"]["rows"] == 7
        restore_run(store, folder, archived_run(store, run_id), lambda: LATER)
        texts = {r.probe.unit_id: r.text for r in store.records.read(Response, run_id=run_id)}
        assert texts["prompt-1"] is None
        assert len(answers_in(store, run_id)) == len(before)
        listed = folder._files.get_file_info(_everything())
        assert [item.path for item in listed if item.is_file] == []


def test_answers_as_they_come_lie_on_a_server_that_speaks_s3(s3: str, state: Path) -> None:
    live = s3.replace("/archive?", "/live?")
    with opened(state):
        url = f"sqlite:///{state / 'store.db'}"
    with open_with_files(url, live) as store:
        records = answers_for(store)
        for batch in batches_of(records, Random(1)):
            store.records.write(batch)
        check_each_is_there_once(store, records)
        biaswatch = CommandLine(state)
        biaswatch("admin", "provision")
        purged = biaswatch("admin", "purge", "--unit", "user-1", "--yes", "--json")
        assert json.loads(purged.stdout)["archived_texts"] == 2, purged.stderr
        assert "of answers of live systems" in biaswatch("admin", "archive", "verify").stdout
        listed = biaswatch("admin", "archive", "list").stdout
        assert "has 40 answers of live systems, written at intake." in listed
        content = store.records.read(Response, run_id=run_of(records))
        assert [item.unit for item in content if item.text is None] == ["user-1"]
        run = ArchivableRun(run_of(records), "default", "support")
        move_run(store, ParquetFolder(s3), run, lambda: CLOSED)
        assert (
            biaswatch("admin", "purge", "--unit", "user-2", "--yes").returncode == 0
        )  # and sweeps
        listed = ParquetFolder(live)._files.get_file_info(_everything())
        assert [item.path for item in listed if item.is_file and "live" in item.path] == []


def _everything() -> object:
    import pyarrow.fs

    return pyarrow.fs.FileSelector("lake", recursive=True)


def test_an_unread_window_of_traffic_is_archived_by_its_source(state: Path, tmp_path: Path) -> None:
    run_id, window = "e" * 32, Window(begins=AT, ends=AT + timedelta(hours=1))
    with opened(state) as store:
        probe = make_probe(1, run_id=run_id)
        response = make_response(1, probe=probe)
        store.records.write([response])
        of = MonitoredWindow(run_id, "f" * 32, window)
        store.window_answers.take([SentAnswer(of, response.id, response.id, "1")])
        assert store.archived_runs.due(LATER) == []  # somebody may still read it
        store.window_answers.pass_over("f" * 32, LATER, LATER)
        [due] = store.archived_runs.due(LATER)
        assert (due.run_id, due.tenant, due.source) == (run_id, "default", probe.target.lane)
        move_run(store, ParquetFolder(str(tmp_path / "lake")), due, lambda: LATER)
        assert answers_in(store, run_id) == []
