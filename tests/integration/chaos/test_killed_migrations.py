"""Whoever migrates is killed at any moment: the next one finishes, and nothing is lost."""

import subprocess
import sys
import time
from random import Random

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from biaswatch.shared.contracts import Features
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.engine import engine_of
from biaswatch.shared.store.store import _config
from biaswatch.shared.store.tables import metadata
from tests.support.records import RUN_ID

OLD = "0012"
PROGRAM = "import sys; from biaswatch.shared.store import migrate; migrate(sys.argv[1])"
WHOLE_S = 4.0
"""About as long as a process that migrates lasts, its loading included."""


@pytest.mark.parametrize("kills", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_a_store_is_migrated_whole_however_often_its_migration_is_killed(
    empty_store_url: str, kills: int
) -> None:
    old_store(empty_store_url)
    luck = Random(5)
    for _ in range(kills):
        migrating = subprocess.Popen([sys.executable, "-c", PROGRAM, empty_store_url])
        time.sleep(luck.uniform(0.2, WHOLE_S))  # killed at a random moment of its work
        migrating.kill()
        migrating.wait()
    migrate(empty_store_url)
    engine = engine_of(empty_store_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    with Store.open(empty_store_url) as store:
        assert store.records.count(Features, run_id=RUN_ID) == 1


def old_store(url: str) -> None:
    """Make a store of an older version, with a record in it."""
    engine = engine_of(url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, OLD)
        connection.exec_driver_sql(
            "INSERT INTO features (id, tenant, purpose, lane, run_id, unit_id, at, probe_id,"
            " response_id, extractor, extractor_version, body) VALUES ('f', 'default', 'study',"
            f" 'x', '{RUN_ID}', 'u', '2026-01-01 00:00:00', 'p', 'r', 'words', '1', '{{}}')"
        )
    engine.dispose()
