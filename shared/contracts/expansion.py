"""The probes of a run: the same plan always has the same probes, with the same ids."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice, product

from biaswatch.shared.contracts.identity import derived_id
from biaswatch.shared.contracts.probe import Probe
from biaswatch.shared.contracts.routes import features_id_of
from biaswatch.shared.contracts.run import Run
from biaswatch.shared.contracts.suite import Suite, SuiteHeader, SuiteOutline, SuiteProbe
from biaswatch.shared.contracts.target import Target
from biaswatch.shared.contracts.tools import with_results


def probes_of(run: Run, suite: Suite, at: datetime, *, first: int = 0) -> Iterator[Probe]:
    """Return every probe of a run, from the `first` on, counted from 0.

    Each question is put to each target under each scaffold, repeat after repeat.
    """
    questions = questions_of(run, suite)
    combinations = product(range(run.repeats), run.targets, run.scaffolds, questions)
    for repeat, target, scaffold, (position, item) in islice(combinations, first, None):
        yield probe_of(run, suite, item, target, scaffold, repeat, at, position=position)


def probe_of(
    run: Run,
    suite: SuiteHeader,
    item: SuiteProbe,
    target: Target,
    scaffold: str,
    repeat: int,
    at: datetime,
    *,
    position: int,
) -> Probe:
    """Return one question of a suite, and of its position there, as it is put to a target."""
    return Probe(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        run_id=run.id,
        key=item.key,
        target=target,
        scaffold=scaffold,
        repeat=repeat,
        messages=item.as_messages,
        variables={**suite.variables, **item.variables} if item.variables else {},
        groups=item.groups,
        set_id=item.set,
        unit_id=item.unit_id,
        baseline=item.baseline,
        expected=item.expected,
        stimuli=item.stimuli,
        facts=item.facts,
        requested=suite.requested,
        tools=with_results(suite.tools, item.results),
        most_steps=suite.most_steps,
        measure=tuple(pin.name for pin in run.extractors),
        user=_user_of(run, suite, item, target),
        position=position if run.ids_in_order else None,
    )


def _user_of(run: Run, suite: SuiteHeader, item: SuiteProbe, target: Target) -> Target | None:
    """Return the simulated user of a probe, if it has one; the persona is that of all twins."""
    if not any(message.simulated for message in item.messages):
        return None
    fields = (run.user or target).model_dump() | {"system_prompt": suite.persona}
    return Target.model_validate(fields)


def questions_of(run: Run, suite: Suite) -> tuple[tuple[int, SuiteProbe], ...]:
    """Return what a run asks, with its positions: the whole suite, or the sets of its round."""
    if run.sets is None:
        return tuple(enumerate(suite.probes))
    drawn = drawn_sets(run, map(set_of, suite.probes))
    return tuple((n, probe) for n, probe in enumerate(suite.probes) if set_of(probe) in drawn)


def drawn_sets(run: Run, names: Iterable[str]) -> set[str]:
    """Return which of the sets with these names fall to this round of a monitor.

    The monitor shuffles the sets once, by their names and its own id, and every round takes the
    next ones; so no set is ever drawn twice, and no record of draws is needed.
    """
    monitor_id, drawn = run.monitor_id or "", run.sets or 0
    shuffled = sorted(set(names), key=lambda name: derived_id("draw", monitor_id, name))
    first = (run.round or 0) * drawn
    return set(shuffled[first : first + drawn])


def set_of(probe: SuiteProbe) -> str:
    """Return the probe's set; one without twins is a set by itself."""
    return probe.set or probe.unit or probe.key


def expected_of(run: Run, probes: Iterable[Probe]) -> dict[str, Probe]:
    """Return the id of every features record the run will have, and the probe it comes from."""
    return {
        features_id_of(probe, pin.name, pin.version): probe
        for probe in probes
        for pin in run.extractors
    }


def verdicts_expected(run: Run, suite: Suite | SuiteOutline | None) -> int:
    """Return how many verdicts a run will have: one a pair, and one for each judge's controls."""
    if run.judging is None or suite is None:
        return 0
    pairs = suite.pairs * len(run.targets) * len(run.scaffolds) * run.repeats
    if not run.judging.controls:
        return pairs
    return pairs + len({judge.lane for judge in run.judging.judges or run.targets})
