"""Status, baselines and calibrations of extractors."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, insert, select

from biaswatch.shared.contracts import ExtractorPin, ExtractorStatus, OwnGap, derived_id
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.tables import BASELINES, CALIBRATIONS, EXTRACTORS

Numbers = Mapping[str, float | None]
MAX_EXTRACTOR_AGE = timedelta(seconds=60)
"""Age of the last sign of life of a running extractor."""


@dataclass(eq=False)
class Extractors:
    """The status of each extractor and version."""

    db: Database

    def announce(self, *statuses: ExtractorStatus) -> None:
        """Record in one transaction that extractors are running, or why one is refused."""
        self.db.upsert(
            EXTRACTORS,
            [{**vars(row), "features": json.dumps(list(row.features))} for row in statuses],
        )

    def running(self, since: datetime) -> list[ExtractorStatus]:
        """Return the extractors seen since a time, the latest version of each first."""
        return [status for status in self.ever() if status.seen_at >= since and not status.refused]

    def pins(self, names: Iterable[str], now: datetime) -> dict[str, ExtractorPin]:
        """Return the latest running versions of these extractors, as far as they run, by name."""
        versions: dict[str, str] = {}
        for status in self.running(now - MAX_EXTRACTOR_AGE):
            versions.setdefault(status.name, status.version)
        return {
            name: ExtractorPin(name=name, version=versions[name])
            for name in names
            if name in versions
        }

    def ever(self) -> list[ExtractorStatus]:
        """Return every known extractor, the latest version of each first."""
        query = select(EXTRACTORS).order_by(EXTRACTORS.c.name, EXTRACTORS.c.seen_at.desc())
        return [
            ExtractorStatus(**row._asdict() | {"features": tuple(json.loads(row.features))})
            for row in self.db.rows(query)
        ]


def text_hash(text: str) -> str:
    """Return the key of a text."""
    return derived_id("text", text)


@dataclass(eq=False)
class Baselines:
    """Measurements of baseline texts by extractor, version and text."""

    db: Database

    def find(self, extractor: str, version: str, texts: Iterable[str]) -> dict[str, Numbers]:
        """Return the numbers of the measured texts; an unscorable text has none."""
        by_hash = {text_hash(text): text for text in texts}
        columns = BASELINES.c
        query = select(columns.text_hash, columns.body).where(
            columns.extractor == extractor, columns.version == version
        )
        rows = self.db.rows_in(query, columns.text_hash, by_hash)
        return {by_hash[row.text_hash]: json.loads(row.body) for row in rows}

    def keep(
        self, extractor: str, version: str, measured: Mapping[str, Numbers], now: datetime
    ) -> None:
        """Keep the numbers of texts without any."""
        by_hash = {text_hash(text): numbers for text, numbers in measured.items()}
        rows = [
            {
                "extractor": extractor,
                "version": version,
                "text_hash": hash_,
                "body": json.dumps(dict(by_hash[hash_])),
                "at": now,
            }
            for hash_ in sorted(by_hash)
        ]
        self.db.insert_new(BASELINES, rows)


@dataclass(eq=False)
class Calibrations:
    """The latest calibration of each extractor and version."""

    db: Database

    def keep(self, extractor: str, version: str, gaps: Iterable[OwnGap], now: datetime) -> None:
        """Keep the gaps of the measured dimensions; those of other dimensions stay."""
        measured = list(gaps)
        dimensions = {gap.dimension for gap in measured}
        kept = [gap for gap in self.find(extractor, version) if gap.dimension not in dimensions]
        body = json.dumps([gap.model_dump(mode="json") for gap in (*measured, *kept)])
        row = {"extractor": extractor, "version": version, "body": body, "at": now}
        self.db.execute(
            delete(CALIBRATIONS).where(*_of_version(extractor, version)),
            insert(CALIBRATIONS).values(**row),
        )

    def find(self, extractor: str, version: str) -> list[OwnGap]:
        """Return the gaps of an extractor and version; empty if it was never calibrated."""
        query = select(CALIBRATIONS.c.body).where(*_of_version(extractor, version))
        body = self.db.scalar(query)
        return [OwnGap.model_validate(gap) for gap in json.loads(body)] if body else []


def _of_version(extractor: str, version: str) -> tuple[ColumnElement[bool], ...]:
    return CALIBRATIONS.c.extractor == extractor, CALIBRATIONS.c.version == version
