"""The answers of a window of production traffic, as cases of instruments that labels correct."""

from collections.abc import Iterator, Sequence

from biaswatch.shared.analysis.findings import MeasuredResponse
from biaswatch.shared.contracts import LabelSample, Run
from biaswatch.shared.store import Store


def window_cases(
    store: Store, run: Run, samples: Sequence[LabelSample]
) -> Iterator[tuple[str, MeasuredResponse]]:
    """Return what was measured of a window's answers; a user is the unit, as in its evidence."""
    for extractor in sorted({each.extractor for each in samples}):
        for each in store.window_readings.of(run, extractor):
            yield (
                each.response_id,
                MeasuredResponse(
                    target=each.target,
                    scaffold=each.scaffold,
                    unit=each.unit,
                    set=None,
                    groups=each.groups,
                    extractor=extractor,
                    values=each.values,
                    why_missing=each.unscorable,
                ),
            )
