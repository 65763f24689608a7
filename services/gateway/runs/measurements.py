"""What was measured of a run's answers, answer by answer, as statistics need it: no texts."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from services.gateway.runs.queries import RunQueries
from shared.contracts import Claim, Features, Probe, Run, Suite, asked_of, features_id_of, probes_of
from shared.errors import UsageError
from shared.store import Store

AT_ONCE = 500
"""Answers that are in memory at the same time."""
NOT_ARRIVED = "did not arrive"


class Described(BaseModel):
    """A body whose fields are described in OpenAPI."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class PinnedExtractor(Described):
    """An extractor of a run, and what it measures."""

    name: str
    version: str
    features: list[str]


class DeclaredAnalysis(Described):
    """What a run's suite declares of its analysis, and what there is to analyse."""

    run_id: str
    suite: str
    claim: Claim
    """What conclusions are about."""
    features: list[str]
    """Which features are diagnosed; all that are measured, where none is named."""
    selected_at_least: dict[str, float]
    """From which value of a feature on an answer counts as a selection."""
    extractors: list[PinnedExtractor]
    targets: list[str]
    scaffolds: list[str]
    answers: int
    """How many answers are asked for; so many measurements there are."""
    alpha: float | None
    """The level of the run's findings; null while there are none."""
    tolerance: float | None
    """Their largest difference that does not matter."""


class Measurement(Described):
    """What one extractor read from an answer."""

    values: dict[str, float | None] = {}
    """The value of each feature; null where it is undefined for this answer."""
    baseline: dict[str, float | None] = {}
    """The same features of the probe's baseline text, where it has one."""
    missing: str | None = None
    """Why there are no values at all."""


class MeasuredAnswer(Described):
    """One answer of a run: what is known of its probe, and what each extractor measured."""

    key: str
    """The probe's name in its suite."""
    target: str
    scaffold: str
    repeat: int
    """Which repeat of the same question it answers, counted from 0."""
    unit: str
    """The unit of analysis: the prompt."""
    set: str | None
    """The counterfactual set."""
    groups: dict[str, str]
    """Whom the probe is about, by dimension."""
    facts: dict[str, str]
    """What else is known of the probe: its category, its keyword, its source."""
    measured: dict[str, Measurement]
    """By extractor."""


class MeasurementQueries:
    """Reads measurements; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = RunQueries(store)

    def analysis(self, run_id: str) -> DeclaredAnalysis:
        """Return how a run is to be analysed, as its suite declares, and of how many answers."""
        run, suite = self._planned(run_id)
        finding = next(iter(self._runs.diagnoses(run_id)), None)
        asked = len(asked_of(run, suite)) * run.repeats
        return DeclaredAnalysis(
            run_id=run.id,
            suite=run.suite,
            claim=suite.claim,
            features=list(suite.features),
            selected_at_least=suite.selected_at_least,
            extractors=self._extractors(run),
            targets=[target.name for target in run.targets],
            scaffolds=list(run.scaffolds),
            answers=asked * len(run.targets) * len(run.scaffolds),
            alpha=finding.alpha if finding else None,
            tolerance=finding.tolerance if finding else None,
        )

    def pages(
        self,
        run_id: str,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int | None, Field(ge=1)] = None,
    ) -> Iterator[list[MeasuredAnswer]]:
        """Return the measurements of a run from the `offset` on, `limit` at most, in parts.

        Raises
        ------
        NotFoundError
            There is no such run.
        UsageError
            The run is a window of traffic, which has no plan that names its answers.
        """
        run, suite = self._planned(run_id)
        probes = islice(probes_of(run, suite, run.at, first=offset), limit)
        return self._measured(run, probes)

    def _planned(self, run_id: str) -> tuple[Run, Suite]:
        run = self._runs.run(run_id)
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise UsageError(
                f"The run {run_id} is a window of production traffic, which has no suite."
                " `biaswatch monitor windows` describes it."
            )
        return run, suite

    def _extractors(self, run: Run) -> list[PinnedExtractor]:
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        found = [(pin, known.get((pin.name, pin.version))) for pin in run.extractors]
        return [
            PinnedExtractor(
                name=pin.name, version=pin.version, features=list(status.features if status else ())
            )
            for pin, status in found
        ]

    def _measured(self, run: Run, probes: Iterator[Probe]) -> Iterator[list[MeasuredAnswer]]:
        while some := list(islice(probes, AT_ONCE)):
            ids = {
                (probe.id, pin.name): features_id_of(probe, pin.name, pin.version)
                for probe in some
                for pin in run.extractors
            }
            found = {each.id: each for each in self._store.records.get(Features, ids.values())}
            yield [
                _answer(probe, {p.name: found.get(ids[probe.id, p.name]) for p in run.extractors})
                for probe in some
            ]


def _answer(probe: Probe, found: Mapping[str, Features | None]) -> MeasuredAnswer:
    return MeasuredAnswer(
        key=probe.key,
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        unit=probe.unit_id,
        set=probe.set_id,
        groups=probe.groups,
        facts=probe.facts,
        measured={name: _measurement(features) for name, features in found.items()},
    )


def _measurement(features: Features | None) -> Measurement:
    if features is None:
        return Measurement(missing=NOT_ARRIVED)
    return Measurement(
        values=features.values, baseline=features.baseline, missing=features.unscorable
    )
