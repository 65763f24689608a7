"""Examples of findings: typical sets of twins, with their answers side by side."""

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from biaswatch.shared.contracts import Probe, Response, Run
from biaswatch.shared.contracts.search import AskedSet, SearchRound, SetPurpose
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.search_views import ExampleAnswer, TwinExample
from biaswatch.shared.requests.searches import SearchFinding
from biaswatch.shared.store import PlannedProbes, Store

Place = tuple[SearchRound, int]
"""A round, and the position of a set in it."""


def typical_sets(
    finding: SearchFinding, rounds: Sequence[SearchRound], groups: Sequence[str], most: int
) -> list[Place]:
    """Return the sets of a finding whose gaps are nearest to the median, confirmation first."""
    group = groups.index(finding.group)
    gaps: dict[SetPurpose, list[tuple[float, Place]]] = {
        SetPurpose.CONFIRMATION: [],
        SetPurpose.EVIDENCE: [],
    }
    for round_ in rounds:
        for place, set_ in enumerate(round_.sets):
            if set_.purpose in gaps and _is_of(finding, set_):
                gap = _gap(set_, group)
                if gap is not None:
                    gaps[set_.purpose].append((gap, (round_, place)))
    chosen: list[Place] = []
    for sets in gaps.values():
        middle = median(gap for gap, _ in sets) if sets else 0.0
        ordered = sorted(sets, key=lambda entry: abs(entry[0] - middle))
        chosen += [place for _, place in ordered]
    return chosen[:most]


def _is_of(finding: SearchFinding, set_: AskedSet) -> bool:
    in_topic = finding.topic in {None, set_.topic}
    return in_topic and finding.context in {None, set_.context}


def _gap(set_: AskedSet, group: int) -> float | None:
    """Return the value of a group minus the mean of the others; None if one is missing."""
    values = [value for value in set_.values if value is not None]
    if len(values) < len(set_.values):
        return None
    return values.pop(group) - fmean(values)


def example_of(store: Store, place: Place, groups: Sequence[str]) -> TwinExample:
    """Return a set of twins with the answers that the scope of the store may see."""
    round_, position = place
    set_, first = round_.sets[position], position * len(groups)
    answers = _answers(store, round_.run_id, first, len(groups))
    return TwinExample(
        topic=set_.topic,
        context=set_.context,
        run_id=round_.run_id,
        twins=[
            ExampleAnswer(
                group=group,
                value=value,
                prompt=probe.messages[-1].content if response is not None else None,
                text=response.text if response is not None else None,
            )
            for group, value, (probe, response) in zip(groups, set_.values, answers, strict=True)
        ],
    )


def _answers(
    store: Store, run_id: str, first: int, count: int
) -> Iterator[tuple[Probe, Response | None]]:
    """Yield some questions of a round, each with its response."""
    run = next(store.records.get(Run, [run_id]), None)
    outline = store.suites.outline(run.suite_hash) if run else None
    if run is None or outline is None:
        raise NotFoundError(f"The run {run_id} of the search is not in the store.")
    positions = range(first, first + count)
    plan = PlannedProbes(store.suites, outline, run, positions)
    probes = list(plan.read(run.at))
    responses = {
        response.id: response
        for response in store.records.get(Response, [probe.response_id for probe in probes])
    }
    for probe in probes:
        yield probe, responses.get(probe.response_id)
