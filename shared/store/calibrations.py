"""What extractors make of the names of groups by themselves: their own gaps, kept for findings."""

import json
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, Engine, delete, insert, select

from shared.contracts import OwnGap
from shared.store.engine import reading, writing
from shared.store.tables import CALIBRATIONS


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
        with writing(self._engine) as connection:
            connection.execute(delete(CALIBRATIONS).where(*_which(extractor, version)))
            connection.execute(insert(CALIBRATIONS).values(**row))

    def find(self, extractor: str, version: str) -> list[OwnGap]:
        """Return the gaps of an extractor at a version; none where it was never calibrated."""
        query = select(CALIBRATIONS.c.body).where(*_which(extractor, version))
        with reading(self._engine) as connection:
            body = connection.execute(query).scalar()
        return [OwnGap.model_validate(each) for each in json.loads(body)] if body else []


def _which(extractor: str, version: str) -> tuple[ColumnElement[bool], ...]:
    return CALIBRATIONS.c.extractor == extractor, CALIBRATIONS.c.version == version
