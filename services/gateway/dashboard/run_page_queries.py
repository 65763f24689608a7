"""Reads what a run's page shows beside its findings: provenance, and some of the values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from zlib import crc32

from shared.contracts import (
    Diagnosis,
    Features,
    Probe,
    Response,
    Run,
    Suite,
    SuiteProbe,
    asked_of,
    features_id_of,
    probe_of,
    response_id_of,
)
from shared.contracts.expansion import set_of
from shared.store import Store

MOST_VALUES = 1200
"""Answers of which a spread is drawn; of a larger run, those of some sets drawn by their names."""
REPORTED_BY = 4
"""The first and as many of the last answers of a model say which versions answered."""


@dataclass(frozen=True)
class AnsweringModel:
    """A model under test, and what it called itself."""

    target: str
    versions: tuple[str, ...]
    parameters: str
    system_prompt: str | None


@dataclass(frozen=True)
class RunInstrument:
    """An extractor of a run at its version."""

    name: str
    version: str
    instrument: str


@dataclass(frozen=True)
class RunProvenance:
    """Where a run's numbers come from."""

    suite: str
    suite_hash: str | None
    about: str
    claim: str | None
    questions: int
    repeats: int
    scaffolds: tuple[str, ...]
    models: tuple[AnsweringModel, ...]
    instruments: tuple[RunInstrument, ...]
    seed: int | None
    begun: datetime
    concluded: datetime | None
    tokens: int | None
    cost: float | None
    software: str


@dataclass(frozen=True)
class GroupValues:
    """Values of one number by group, of so many answers among all."""

    values: dict[str, list[float]]
    answers: int
    of: int


class RunPageQueries:
    """Reads runs for their page; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def provenance(
        self, run: Run, suite: Suite | None, diagnoses: Sequence[Diagnosis]
    ) -> RunProvenance:
        """Return where a run's numbers come from."""
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        spent = self._store.calls.spending([run.id]).get(run.id)
        asked = asked_of(run, suite) if suite else ()
        return RunProvenance(
            suite=run.suite,
            suite_hash=run.suite_hash,
            about=suite.about if suite else "",
            claim=next((each.claim for each in diagnoses), None),
            questions=len(asked),
            repeats=run.repeats,
            scaffolds=run.scaffolds,
            models=tuple(self._models(run, suite, asked)),
            instruments=tuple(
                RunInstrument(pin.name, pin.version, status.instrument if status else "")
                for pin in run.extractors
                for status in [known.get((pin.name, pin.version))]
            ),
            seed=run.judging.seed if run.judging else None,
            begun=run.at,
            concluded=max((each.at for each in diagnoses), default=None),
            tokens=spent.tokens if spent else None,
            cost=spent.cost if spent else None,
            software=version("biaswatch"),
        )

    def values(self, run: Run, suite: Suite, diagnosis: Diagnosis) -> GroupValues:
        """Return values of a finding's number by group; never of more answers than are drawn."""
        about = [each for each in asked_of(run, suite) if diagnosis.dimension in each.groups]
        chosen = _some_sets(about, max(1, MOST_VALUES // run.repeats))
        pins = [pin for pin in run.extractors if pin.name == diagnosis.extractor]
        targets = [each for each in run.targets if each.name == diagnosis.target]
        probes = {
            features_id_of(probe, pin.name, pin.version): probe
            for pin in pins
            for target in targets
            for repeat in range(run.repeats)
            for item in chosen
            for probe in [probe_of(run, suite, item, target, diagnosis.scaffold, repeat, run.at)]
        }
        found: dict[str, list[float]] = {}
        for each in self._store.records.get(Features, probes):
            value = each.values.get(diagnosis.feature)
            if value is not None:
                group = probes[each.id].groups[diagnosis.dimension]
                found.setdefault(group, []).append(value)
        return GroupValues(found, len(probes), len(about) * run.repeats)

    def _models(
        self, run: Run, suite: Suite | None, asked: Sequence[SuiteProbe]
    ) -> Iterator[AnsweringModel]:
        for target in run.targets:
            probes = [
                probe_of(run, suite, item, target, scaffold, repeat, run.at)
                for suite in [suite]
                if suite
                for item in {each.key: each for each in _ends(asked)}.values()
                for scaffold in run.scaffolds[:1]
                for repeat in {0, run.repeats - 1}
            ]
            options = ", ".join(f"{name} {value}" for name, value in target.parameters.items())
            yield AnsweringModel(
                target.name, tuple(self._versions(probes)), options, target.system_prompt
            )

    def _versions(self, probes: Sequence[Probe]) -> list[str]:
        ids = [response_id_of(each) for each in probes]
        found = self._store.records.get(Response, ids)
        said = (
            f"{each.model} ({each.fingerprint})" if each.fingerprint else each.model
            for each in found
        )
        return sorted({each for each in said if each})


def _ends(asked: Sequence[SuiteProbe]) -> list[SuiteProbe]:
    return [*asked[:REPORTED_BY], *asked[-REPORTED_BY:]]


def _some_sets(items: Sequence[SuiteProbe], most: int) -> list[SuiteProbe]:
    """Return whole sets of questions, drawn by their names, until there are enough."""
    if len(items) <= most:
        return list(items)
    sets: dict[str, list[SuiteProbe]] = {}
    for each in items:
        sets.setdefault(set_of(each), []).append(each)
    chosen: list[SuiteProbe] = []
    for name in sorted(sets, key=lambda one: crc32(one.encode())):
        if chosen and len(chosen) + len(sets[name]) > most:
            break
        chosen += sets[name]
    return chosen
