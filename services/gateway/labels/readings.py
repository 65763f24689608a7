"""What an instrument read in the answers of a run, or of a window, from the store."""

from collections.abc import Iterator
from itertools import islice
from math import isfinite

from services.gateway.labels.read_columns import ReadAnswer
from shared.contracts import Run, SuiteOutline, features_id_of, response_id_of
from shared.contracts.features import Features
from shared.store import PlannedProbes, Store

AT_ONCE = 500


def readings_of_window(
    store: Store, run: Run, extractor: str, feature: str
) -> Iterator[ReadAnswer]:
    """Return the answers of a window of production traffic that have a reading."""
    for response, features in store.window_readings.of(run, extractor):
        value = features.values.get(feature)
        if value is not None and isfinite(value):
            probe = response.probe
            yield ReadAnswer(
                response.id,
                probe.target.name,
                probe.scaffold,
                probe.groups,
                value,
                probe.set_id or probe.unit_id,
            )


def readings_of_run(
    store: Store, run: Run, outline: SuiteOutline, extractor: str, feature: str
) -> Iterator[ReadAnswer]:
    """Return the answers that have a reading."""
    version = next(pin.version for pin in run.extractors if pin.name == extractor)
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
