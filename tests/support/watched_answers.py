"""Production answers as they are taken in, measured and stored, without a bus in between."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.shared.contracts import ExtractorStatus, Monitor, Record, Response
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor

AT_ONCE = 500


@contextmanager
def watched_store(folder: Path, *monitors: Monitor) -> Iterator[Store]:
    """Open a new store in which these monitors watch, or one that watches the system `support`."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        for monitor in monitors or (make_traffic_monitor(),):
            watch(store, monitor)
        yield store


def watch(store: Store, monitor: Monitor) -> None:
    """Store a monitor, and announce the extractors that it asks for."""
    now = datetime.now(UTC)
    for name, extractor in load(monitor.plan.extractors).items():
        store.extractors.announce(ExtractorStatus(name, "1", tuple(extractor.features), now))
    store.records.write([monitor])


def take_in(
    store: Store, source: str, answers: Iterable[dict[str, Any]], extractors: Sequence[str]
) -> list[Response]:
    """Take answers in as the gateway does, measure them, and store all of it.

    Raises
    ------
    ValueError
        One of the answers is refused.
    """
    ingestion = ExchangeIngestion(store, now=lambda: datetime.now(UTC))
    measure = MeasureResponses(load(extractors), store.baselines, now=lambda: datetime.now(UTC))
    all_answers, responses = list(answers), []
    for start in range(0, len(all_answers), AT_ONCE):
        exchanges, wrong = ingestion.exchanges_one_by_one(
            source, all_answers[start : start + AT_ONCE]
        )
        if wrong:
            raise ValueError(wrong[0])
        some = list(ingestion(exchanges))
        written: list[Record] = [*some, *measure(some)]
        store.records.write(written)
        responses += some
    return responses
