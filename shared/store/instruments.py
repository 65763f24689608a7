"""The extractors that are running: they say so themselves, and say so again while they live."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, and_, select, update

from shared.store.engine import reading, writing
from shared.store.keyed import insert_new
from shared.store.tables import EXTRACTORS


@dataclass(frozen=True)
class Instrument:
    """One extractor at one version, and when it was last heard of."""

    name: str
    version: str
    features: tuple[str, ...]
    seen_at: datetime


class Instruments:
    """Who measures, at which version."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def announce(self, name: str, version: str, features: Sequence[str], now: datetime) -> None:
        """Say that an extractor is running."""
        row = {"name": name, "version": version, "features": json.dumps(list(features))}
        mine = and_(EXTRACTORS.c.name == name, EXTRACTORS.c.version == version)
        with writing(self._engine) as connection:
            if not insert_new(connection, EXTRACTORS, [{**row, "seen_at": now}]):
                connection.execute(update(EXTRACTORS).where(mine).values(**row, seen_at=now))

    def running(self, since: datetime) -> list[Instrument]:
        """Give the extractors heard of since a moment, the latest version of each first."""
        return [each for each in self.ever() if each.seen_at >= since]

    def ever(self) -> list[Instrument]:
        """Give every extractor that was ever heard of, the latest version of each first."""
        query = select(EXTRACTORS).order_by(EXTRACTORS.c.name, EXTRACTORS.c.seen_at.desc())
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        return [
            Instrument(row.name, row.version, tuple(json.loads(row.features)), row.seen_at)
            for row in rows
        ]
