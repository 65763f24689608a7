"""A run becomes its probes: the same plan always the same ones, each with an id of its own."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import product

from shared.contracts.probe import Probe
from shared.contracts.routes import features_id_of
from shared.contracts.run import Run
from shared.contracts.suite import Suite, SuiteProbe
from shared.contracts.target import Target


def probes_of(run: Run, suite: Suite, at: datetime) -> Iterator[Probe]:
    """Give every probe of a run: each question to each target, scaffold and repeat."""
    measure = tuple(pin.name for pin in run.extractors)
    repeats = range(run.repeats)
    for repeat, target, scaffold, item in product(
        repeats, run.targets, run.scaffolds, suite.probes
    ):
        variables = {**suite.variables, **item.variables} if item.variables else {}
        whole = item.model_copy(update={"variables": variables})
        yield _probe(run, whole, target, scaffold, repeat, measure, at)


def _probe(
    run: Run,
    item: SuiteProbe,
    target: Target,
    scaffold: str,
    repeat: int,
    measure: tuple[str, ...],
    at: datetime,
) -> Probe:
    return Probe(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        run_id=run.id,
        key=item.key,
        target=target,
        scaffold=scaffold,
        repeat=repeat,
        messages=item.said,
        variables=item.variables,
        groups=item.groups,
        set_id=item.set,
        unit_id=item.unit or item.key,
        baseline=item.baseline,
        expected=item.expected,
        measure=measure,
    )


def expected_of(run: Run, probes: Iterable[Probe]) -> dict[str, Probe]:
    """Give the id of every features record the run will have, and the probe it comes from."""
    return {
        features_id_of(probe, pin.name, pin.version): probe
        for probe in probes
        for pin in run.extractors
    }
