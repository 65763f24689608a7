"""A store whose disk is full."""

from pathlib import Path

import pytest
from sqlalchemy import event

from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_response


def test_a_full_disk_is_told_with_what_to_do_and_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    kept = make_response(0)
    with Store.open(url) as store:
        store.records.write([kept])
        store.engine.dispose()
        event.listen(store.engine, "connect", _full)
        with pytest.raises(TransientError, match=r"full\. Make room on its disk"):
            store.records.write(make_response(n) for n in range(1, 5000))
        assert list(store.records.get(type(kept), [kept.id])) == [kept]


def _full(connection: object, _: object) -> None:
    connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]
