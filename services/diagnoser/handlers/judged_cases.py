"""What judges said of pairs and reports, as cases of an instrument that labels correct."""

from collections.abc import Collection, Iterator, Sequence

from biaswatch.shared.analysis.findings import MeasuredResponse
from biaswatch.shared.contracts import LabelSample
from biaswatch.shared.contracts.judged_item import EVERY, JUDGES, JudgedItem
from biaswatch.shared.store import Store

Case = tuple[str, MeasuredResponse]
MOST_JUDGES = 500
"""Characters of the names of judges in a correction."""


def judged_cases(store: Store, run_id: str, samples: Sequence[LabelSample]) -> Iterator[Case]:
    """Return the judged items of a run that samples were drawn from.

    Groups are those of the samples' dimensions alone: what else is known of a pair may differ for
    each.
    """
    for instrument in JUDGES:
        mine = [each for each in samples if each.extractor == instrument]
        if mine:
            wanted = {EVERY, *(each.dimension for each in mine)}
            for item in store.judged_items.of_run(run_id, instrument):
                yield item.id, _case(item, instrument, wanted)


def judges_of(store: Store, run_id: str, instrument: str) -> str:
    """Return who judged, as the version of the instrument."""
    items = store.judged_items.of_run(run_id, instrument)
    names = sorted({name for item in items for name in item.judges})
    return ", ".join(names)[:MOST_JUDGES] or instrument


def _case(item: JudgedItem, instrument: str, wanted: Collection[str]) -> MeasuredResponse:
    return MeasuredResponse(
        target=item.target,
        scaffold=item.scaffold,
        unit=item.unit_id,
        set=None,
        groups={name: group for name, group in item.groups.items() if name in wanted},
        extractor=instrument,
        values=dict(item.readings),
        why_missing=None,
    )
