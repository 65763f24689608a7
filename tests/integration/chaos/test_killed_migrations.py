"""Migrating processes are killed at any moment: the next one finishes, and the store is usable."""

import subprocess
import sys
import time
from random import Random

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from biaswatch.shared.contracts import Features
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.engine import engine_of
from biaswatch.shared.store.tables import metadata
from tests.support.records import make_features

PROGRAM = "import sys; from biaswatch.shared.store import migrate; migrate(sys.argv[1])"
PROCESS_S = 4.0
"""Duration of a migrating process, including imports."""


@pytest.mark.parametrize("kills", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_a_store_is_migrated_whole_however_often_its_migration_is_killed(
    empty_store_url: str, kills: int
) -> None:
    random = Random(5)
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, empty_store_url])
        time.sleep(random.uniform(0.2, PROCESS_S))
        process.kill()
        process.wait()
    migrate(empty_store_url)
    engine = engine_of(empty_store_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    features = make_features(1)
    with Store.open(empty_store_url) as store:
        store.records.write([features])
        assert list(store.records.get(Features, [features.id])) == [features]
