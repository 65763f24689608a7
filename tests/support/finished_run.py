"""A complete run with one number for each answer, and its findings, written into a store."""

from collections.abc import Callable
from datetime import timedelta

from biaswatch.services.diagnoser.handlers import DiagnoseRun
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    RUN_GATHER,
    ClosedBy,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Probe,
    Record,
    Response,
    Run,
    Suite,
    parse_target,
    probes_of,
)
from biaswatch.shared.store import Store
from tests.support.records import AT, make_completion

EXTRACTOR = "judge"


def write_finished_run(
    store: Store, suite: Suite, value: Callable[[Probe], float | None], *, repeats: int = 1
) -> Run:
    """Write a run of a suite whose first feature has these values; None is a refusal."""
    [feature] = suite.features
    run = Run(
        at=AT, suite=suite.name, suite_hash=suite.hash, targets=(parse_target("simulator:m"),),
        repeats=repeats, extractors=(ExtractorPin(name=EXTRACTOR, version="1"),),
    )  # fmt: skip
    store.suites.keep(suite, AT)
    store.extractors.announce(ExtractorStatus(EXTRACTOR, "1", (feature,), AT))
    records: list[Record] = [run]
    for probe in probes_of(run, suite, AT):
        number = value(probe)
        response = Response(at=AT, probe=probe, ending="answered", text="Said.")
        measured = Features(
            at=AT, run_id=run.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor=EXTRACTOR, extractor_version="1",
            values={} if number is None else {feature: number},
            unscorable="refused" if number is None else None,
        )  # fmt: skip
        records += [response, measured]
    completion = make_completion(run_id=run.id, closed_by=ClosedBy.ARRIVAL)
    store.records.write([*records, completion])
    gathers, ids = store.gathers(RUN_GATHER), [r.id for r in records if isinstance(r, Features)]
    gathers.expect(run.id, ids, deadline=AT + timedelta(days=1), now=AT)
    gathers.arrive(ids, AT)
    diagnose = DiagnoseRun(store, now=lambda: AT, plan=AnalysisPlan())
    store.records.write(list(diagnose(completion, run)))
    return run
