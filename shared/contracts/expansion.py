"""The probes of a run: the same plan always has the same probes, with the same ids."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice, product

from shared.contracts.identity import derived_id
from shared.contracts.probe import Probe
from shared.contracts.routes import features_id_of
from shared.contracts.run import Run
from shared.contracts.suite import Suite, SuiteProbe
from shared.contracts.target import Target


def probes_of(run: Run, suite: Suite, at: datetime, *, first: int = 0) -> Iterator[Probe]:
    """Return every probe of a run, from the `first` on, counted from 0.

    Each question is put to each target under each scaffold, repeat after repeat.
    """
    asked = asked_of(run, suite)
    every = product(range(run.repeats), run.targets, run.scaffolds, asked)
    for repeat, target, scaffold, item in islice(every, first, None):
        yield probe_of(run, suite, item, target, scaffold, repeat, at)


def probe_of(
    run: Run,
    suite: Suite,
    item: SuiteProbe,
    target: Target,
    scaffold: str,
    repeat: int,
    at: datetime,
) -> Probe:
    """Return the probe that puts one question of a suite to one target of a run."""
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
        variables={**suite.variables, **item.variables} if item.variables else {},
        groups=item.groups,
        set_id=item.set,
        unit_id=item.unit_id,
        baseline=item.baseline,
        expected=item.expected,
        facts=item.facts,
        measure=tuple(pin.name for pin in run.extractors),
    )


def asked_of(run: Run, suite: Suite) -> tuple[SuiteProbe, ...]:
    """Return what a run asks: the whole suite, or the sets that fall to this round of a monitor.

    The monitor shuffles the sets once, by their names and its own id, and every round takes the
    next ones; so no set is ever drawn twice, and no record of draws is needed.
    """
    if run.sets is None:
        return suite.probes
    shuffled = shuffled_sets(suite, run.monitor_id or "")
    first = (run.round or 0) * run.sets
    drawn = set(shuffled[first : first + run.sets])
    return tuple(probe for probe in suite.probes if set_of(probe) in drawn)


def set_of(probe: SuiteProbe) -> str:
    """Return the probe's set; one without twins is a set by itself."""
    return probe.set or probe.unit or probe.key


def shuffled_sets(suite: Suite, monitor_id: str) -> list[str]:
    """Return the sets in the order in which a monitor draws them."""
    names = {set_of(probe) for probe in suite.probes}
    return sorted(names, key=lambda name: derived_id("draw", monitor_id, name))


def expected_of(run: Run, probes: Iterable[Probe]) -> dict[str, Probe]:
    """Return the id of every features record the run will have, and the probe it comes from."""
    return {
        features_id_of(probe, pin.name, pin.version): probe
        for probe in probes
        for pin in run.extractors
    }


def verdicts_expected(run: Run, suite: Suite | None) -> int:
    """Return how many verdicts a run will have: one a pair, and one for each judge's controls."""
    if run.judging is None or suite is None:
        return 0
    pairs = suite.pairs * len(run.targets) * len(run.scaffolds) * run.repeats
    return pairs + len({judge.lane for judge in run.judging.judges or run.targets})
