"""What extractors read from baseline texts: measured once for each text and version."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Engine, select

from shared.contracts import derived_id
from shared.store.engine import reading, writing
from shared.store.keyed import insert_new
from shared.store.tables import BASELINES

AT_ONCE = 500
"""Texts in one query: below every database's limit on parameters."""

Numbers = Mapping[str, float | None]


def text_hash(text: str) -> str:
    """Return the key of a text."""
    return derived_id("text", text)


class Baselines:
    """Measurements of baseline texts by extractor, version and text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, extractor: str, version: str, texts: Iterable[str]) -> dict[str, Numbers]:
        """Return the numbers of those texts that were measured; none at all where unscorable."""
        by_hash = {text_hash(text): text for text in texts}
        hashes = sorted(by_hash)
        found: dict[str, Numbers] = {}
        for start in range(0, len(hashes), AT_ONCE):
            query = select(BASELINES.c.text_hash, BASELINES.c.body).where(
                BASELINES.c.extractor == extractor,
                BASELINES.c.version == version,
                BASELINES.c.text_hash.in_(hashes[start : start + AT_ONCE]),
            )
            with reading(self._engine) as connection:
                rows = connection.execute(query).all()
            found.update({by_hash[row.text_hash]: json.loads(row.body) for row in rows})
        return found

    def keep(
        self, extractor: str, version: str, measured: Mapping[str, Numbers], now: datetime
    ) -> None:
        """Keep the numbers of texts; the first to be kept stay."""
        rows = [
            {
                "extractor": extractor,
                "version": version,
                "text_hash": text_hash(text),
                "body": json.dumps(dict(numbers)),
                "at": now,
            }
            for text, numbers in sorted(measured.items(), key=lambda item: text_hash(item[0]))
        ]
        with writing(self._engine) as connection:
            insert_new(connection, BASELINES, rows)
