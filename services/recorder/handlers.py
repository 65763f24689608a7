"""Writes records: the store's keys make a second writing of the same record do nothing."""

from collections.abc import Callable, Sequence

from shared.contracts import Record
from shared.store import Records


def recording(records: Records) -> Callable[[Sequence[Record]], Sequence[Record]]:
    """Return the handler that writes a batch; it computes and blocks, so it runs in a thread."""

    def record(batch: Sequence[Record]) -> Sequence[Record]:
        records.write(batch)
        return ()

    return record
