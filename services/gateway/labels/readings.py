"""What an instrument read in the answers of a run, or of a window, from the store."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from tempfile import SpooledTemporaryFile

from biaswatch.shared.analysis.labels.read_columns import ReadAnswer, ReadColumns
from biaswatch.shared.contracts import Run, SuiteOutline, features_id_of, response_id_of
from biaswatch.shared.contracts.features import Features
from biaswatch.shared.contracts.judged_item import JUDGES
from biaswatch.shared.store import PlannedProbes, Store

AT_ONCE = 500
MOST_IN_MEMORY = 2**20
"""Bytes of readings: those of larger runs lie in a file while they are gone through."""


@contextmanager
def columns_of(
    store: Store, run: Run, outline: SuiteOutline | None, extractor: str, feature: str
) -> Iterator[ReadColumns]:
    """Read the answers, or what is judged, that have a reading of a number, into a file."""
    if outline is None:
        found: Iterable[ReadAnswer] = readings_of_window(store, run, extractor, feature)
    elif extractor in JUDGES:
        found = _readings_of_judges(store, run, extractor, feature)
    else:
        found = readings_of_run(store, run, outline, extractor, feature)
    with SpooledTemporaryFile(max_size=MOST_IN_MEMORY) as file:
        yield ReadColumns(found, file)


def readings_of_window(
    store: Store, run: Run, extractor: str, feature: str
) -> Iterator[ReadAnswer]:
    """Return the answers of a window of production traffic that have a reading."""
    for each in store.window_readings.of(run, extractor):
        value = each.values.get(feature)
        if value is not None and isfinite(value):
            yield ReadAnswer(
                each.response_id, each.target, each.scaffold, each.groups, value, each.unit
            )


def readings_of_run(
    store: Store, run: Run, outline: SuiteOutline, extractor: str, feature: str
) -> Iterator[ReadAnswer]:
    """Return the answers that have a reading."""
    version = run.version_of(extractor)
    probes = PlannedProbes(store.suites, outline, run).read(run.at)
    while some := list(islice(probes, AT_ONCE)):
        ids = {probe.id: features_id_of(probe, extractor, version) for probe in some}
        found = {each.id: each for each in store.records.get(Features, ids.values())}
        for probe in some:
            features = found.get(ids[probe.id])
            value = features.values.get(feature) if features else None
            if value is not None and isfinite(value):
                yield ReadAnswer(
                    response_id_of(probe),
                    probe.target.name,
                    probe.scaffold,
                    outline.header.groups_of(probe),
                    value,
                    probe.unit_id,
                )


def _readings_of_judges(
    store: Store, run: Run, instrument: str, feature: str
) -> Iterator[ReadAnswer]:
    for item in store.judged_items.of_run(run.id, instrument):
        if feature in item.readings:
            yield ReadAnswer(
                item.id,
                item.target,
                item.scaffold,
                item.groups,
                item.readings[feature],
                item.unit_id,
            )
