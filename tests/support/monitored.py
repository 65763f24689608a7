"""Rounds of a monitor without a bus: what a model would say is written straight into the store."""

from collections.abc import Callable
from datetime import datetime, timedelta

from biaswatch.shared.contracts import (
    ClosedBy,
    Completion,
    Ending,
    ExtractorPin,
    Features,
    Monitor,
    Probe,
    Purpose,
    Record,
    Response,
    Run,
)
from biaswatch.shared.store import PlannedProbes, Store
from tests.support.records import AT

Values = Callable[[Probe, int], dict[str, float | None] | None]
"""What an extractor reads from the answer to a probe in a round; None where it reads nothing."""

Watch = Callable[[Completion, Run], object]


def round_run(monitor: Monitor, number: int, version: str = "1") -> Run:
    """Make the run that is this round."""
    plan = monitor.plan
    return Run(
        purpose=Purpose.MONITOR,
        at=AT + timedelta(seconds=monitor.upkeep.cadence_s * number),
        suite=plan.suite,
        suite_hash=plan.suite_hash,
        targets=(plan.target,),
        repeats=plan.repeats,
        extractors=tuple(ExtractorPin(name=name, version=version) for name in plan.extractors),
        monitor_id=monitor.monitor_id,
        round=number,
        sets=plan.sets_per_round,
    )


def answered(store: Store, run: Run, values: Values, model: str = "m-1") -> list[Record]:
    """Answer every probe of a run and measure the answers; give the records, unwritten."""
    outline = store.suites.outline(run.suite_hash)
    if outline is None:
        raise LookupError("the suite is not in the store")
    result: list[Record] = []
    for probe in PlannedProbes(store.suites, outline, run).read(run.at):
        response = Response(
            purpose=Purpose.MONITOR,
            at=run.at,
            probe=probe,
            ending=Ending.ANSWERED,
            text=f"<b>{probe.key}</b>",
            model=model,
        )
        result.append(response)
        result.extend(
            _features(response, pin, values(probe, run.round or 0)) for pin in run.extractors
        )
    return result


def closing(run: Run, records: list[Record], at: datetime = AT) -> Completion:
    """Make the completion of a run for which these records came."""
    arrived = sum(isinstance(record, Features) for record in records)
    return Completion(
        purpose=Purpose.MONITOR,
        at=at,
        run_id=run.id,
        stage="features",
        closed_by=ClosedBy.ARRIVAL,
        expected=arrived,
        arrived=arrived,
    )


def play(
    store: Store, watch: Watch, monitor: Monitor, number: int, values: Values, model: str = "m-1"
) -> Run:
    """Ask, answer, measure and close one round."""
    run = round_run(monitor, number)
    records = answered(store, run, values, model)
    store.records.write([run, *records])
    watch(closing(run, records), run)
    return run


def _features(
    response: Response, pin: ExtractorPin, values: dict[str, float | None] | None
) -> Features:
    return Features(
        purpose=Purpose.MONITOR,
        at=response.at,
        run_id=response.probe.run_id,
        probe_id=response.probe.id,
        response_id=response.id,
        unit_id=response.probe.unit_id,
        extractor=pin.name,
        extractor_version=pin.version,
        values=values or {},
        unscorable=None if values is not None else "nothing to read",
    )
