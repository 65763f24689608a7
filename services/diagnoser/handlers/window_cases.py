"""The answers of a window of production traffic, as cases of instruments that labels correct."""

from collections.abc import Iterator, Sequence

from services.diagnoser.domain.findings import MeasuredResponse
from shared.contracts import LabelSample, Run
from shared.store import Store


def window_cases(
    store: Store, run: Run, samples: Sequence[LabelSample]
) -> Iterator[tuple[str, MeasuredResponse]]:
    """Return what was measured of a window's answers; a user is the unit, as in its evidence."""
    for extractor in sorted({each.extractor for each in samples}):
        for response, features in store.window_readings.of(run, extractor):
            probe = response.probe
            yield (
                response.id,
                MeasuredResponse(
                    target=probe.target.name,
                    scaffold=probe.scaffold,
                    unit=probe.set_id or probe.unit_id,
                    set=None,
                    groups=dict(probe.groups),
                    extractor=extractor,
                    values=dict(features.values),
                    why_missing=features.unscorable,
                ),
            )
