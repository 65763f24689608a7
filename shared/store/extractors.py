"""What the store knows of extractors: their status, measured baselines, and calibrations."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, select, update

from biaswatch.shared.contracts import ExtractorStatus, OwnGap, derived_id
from biaswatch.shared.store.engine import chunks, insert_new, read_transaction, write_transaction
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import BASELINES, CALIBRATIONS, EXTRACTORS


class Extractors:
    """The status of each extractor and version."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def announce(self, *told: ExtractorStatus) -> None:
        """Note in one transaction that extractors are running, or why one is refused."""
        with write_transaction(self._engine) as connection:
            for each in told:
                row: dict[str, Any] = {**vars(each), "features": json.dumps(list(each.features))}
                mine = and_(EXTRACTORS.c.name == each.name, EXTRACTORS.c.version == each.version)
                if not insert_new(connection, EXTRACTORS, [row]):
                    connection.execute(update(EXTRACTORS).where(mine).values(**row))

    def running(self, since: datetime) -> list[ExtractorStatus]:
        """Return the extractors heard of since a moment, the latest version of each first."""
        return [each for each in self.ever() if each.seen_at >= since and not each.refused]

    def ever(self) -> list[ExtractorStatus]:
        """Return every extractor that was ever heard of, the latest version of each first."""
        query = select(EXTRACTORS).order_by(EXTRACTORS.c.name, EXTRACTORS.c.seen_at.desc())
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query).mappings().all()
        return [
            ExtractorStatus(**{**row, "features": tuple(json.loads(row["features"]))})
            for row in rows
        ]


Numbers = Mapping[str, float | None]


def text_hash(text: str) -> str:
    """Return the key of a text."""
    return derived_id("text", text)


class Baselines:
    """Measurements of baseline texts by extractor, version and text."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, extractor: str, version: str, texts: Iterable[str]) -> dict[str, Numbers]:
        """Return the numbers of the texts that were measured; an unscorable text has none."""
        by_hash = {text_hash(text): text for text in texts}
        query = select(BASELINES.c.text_hash, BASELINES.c.body).where(
            BASELINES.c.extractor == extractor, BASELINES.c.version == version
        )
        with read_transaction(self._engine) as connection:
            return {
                by_hash[row.text_hash]: json.loads(row.body)
                for some in chunks(by_hash)
                for row in connection.execute(query.where(among(BASELINES.c.text_hash, some)))
            }

    def keep(
        self, extractor: str, version: str, measured: Mapping[str, Numbers], now: datetime
    ) -> None:
        """Keep the numbers of texts that have none yet."""
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
        with write_transaction(self._engine) as connection:
            insert_new(connection, BASELINES, rows)


class Calibrations:
    """The latest calibration of each extractor at each version."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, extractor: str, version: str, gaps: Iterable[OwnGap], now: datetime) -> None:
        """Keep the gaps of the dimensions that were measured; those of other dimensions stay."""
        kept = list(gaps)
        measured = {gap.dimension for gap in kept}
        kept += [each for each in self.find(extractor, version) if each.dimension not in measured]
        body = json.dumps([gap.model_dump(mode="json") for gap in kept])
        row = {"extractor": extractor, "version": version, "body": body, "at": now}
        with write_transaction(self._engine) as connection:
            connection.execute(delete(CALIBRATIONS).where(*_which(extractor, version)))
            connection.execute(insert(CALIBRATIONS).values(**row))

    def find(self, extractor: str, version: str) -> list[OwnGap]:
        """Return the gaps of an extractor at a version; none where it was never calibrated."""
        query = select(CALIBRATIONS.c.body).where(*_which(extractor, version))
        with read_transaction(self._engine) as connection:
            body = connection.execute(query).scalar()
        return [OwnGap.model_validate(each) for each in json.loads(body)] if body else []


def _which(extractor: str, version: str) -> tuple[ColumnElement[bool], ...]:
    return CALIBRATIONS.c.extractor == extractor, CALIBRATIONS.c.version == version
