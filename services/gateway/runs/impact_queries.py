"""Rates and impact ratios of a run's applicants, computed from the stored answers on request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.studies.applicants import Applicants
from biaswatch.shared.contracts import Features, Probe, Run, SuiteHeader, features_id_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_views import RunImpact
from biaswatch.shared.requests.runs import ImpactRequest
from biaswatch.shared.stats.studies.local_law_144 import UNKNOWN_LABELS, unused_unknown_labels
from biaswatch.shared.store import PlannedProbes, Store

AT_ONCE = 500
"""Answers that are in memory at the same time."""
MAX_LISTED_CATEGORIES = 40
"""In a sentence about a category that no applicant has."""


class ImpactQueries:
    """Reads records and computes results; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = RunQueries(store)

    def impact(self, run_id: str, asked: ImpactRequest) -> list[RunImpact]:
        """Return the tables of each target, scaffold, extractor and feature.

        Raises
        ------
        NotFoundError
            There is no such run.
        UsageError
            The run has no groups, or not these groups, categories or this feature.
        """
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise UsageError("Production traffic has no suite, so there are no applicants in it.")
        suite, planned = outline.header, PlannedProbes(self._store.suites, outline, run)
        dimensions = _dimensions(planned, suite, asked.group)
        features = self._features(run, suite, asked.score)
        found = self._applicants(run, planned, dimensions, features)
        least = suite.selected_at_least
        if asked.selected_at_least is not None:
            least = dict.fromkeys(features_of(features), asked.selected_at_least)
        _check_unknown(asked.unknown, found.values())
        words = frozenset(word.strip().casefold() for word in asked.unknown)
        return [
            each
            for names, applicants in sorted(found.items())
            for each in applicants.impact(
                *names,
                selected_at_least=least,
                small_share=asked.small_share,
                unknown_labels=UNKNOWN_LABELS | words,
            )
        ]

    def _features(
        self, run: Run, suite: SuiteHeader, wanted: str | None
    ) -> Mapping[str, Sequence[str]]:
        """Return by extractor which features get tables: what is asked for, or what is a selection.

        Where the suite says of no feature what a selection is, all that it diagnoses.
        """
        pinned = {(pin.name, pin.version) for pin in run.extractors}
        measured = {
            each.name: each.features
            for each in self._store.extractors.ever()
            if (each.name, each.version) in pinned
        }
        every = features_of(measured)
        if wanted is not None and wanted not in every:
            raise UsageError(f"The run has no feature {wanted}; it has {', '.join(every)}.")
        chosen = (wanted,) if wanted else tuple(suite.selected_at_least) or suite.features or every
        some = {name: [f for f in features if f in chosen] for name, features in measured.items()}
        return {name: features for name, features in some.items() if features}

    def _applicants(
        self,
        run: Run,
        planned: PlannedProbes,
        dimensions: Sequence[str],
        features: Mapping[str, Sequence[str]],
    ) -> dict[tuple[str, str, str], Applicants]:
        """Read every answer once, a few at a time; one that never came adds its applicant only."""
        found: dict[tuple[str, str, str], Applicants] = {}
        for probe, extractor, measured in self._measured(run, planned, features):
            key = (probe.target.name, probe.scaffold, extractor)
            if key not in found:
                found[key] = Applicants(features[extractor], dimensions)
            found[key].add(probe, measured.values if measured else {})
        return found

    def _measured(
        self, run: Run, planned: PlannedProbes, extractors: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[Probe, str, Features | None]]:
        pins = [pin for pin in run.extractors if pin.name in extractors]
        every = planned.read(run.at)
        while probes := list(islice(every, AT_ONCE)):
            for pin in pins:
                ids = [features_id_of(probe, pin.name, pin.version) for probe in probes]
                stored = {each.id: each for each in self._store.records.get(Features, ids)}
                for probe, id_ in zip(probes, ids, strict=True):
                    yield probe, pin.name, stored.get(id_)


def _check_unknown(named: Sequence[str], found: Iterable[Applicants]) -> None:
    """Refuse a label for unknown categories that no applicant has."""
    present = sorted(set[str]().union(*(applicants.categories for applicants in found)))
    if present and (unused := unused_unknown_labels(named, present)):
        listed = ", ".join(present[:MAX_LISTED_CATEGORIES])
        raise UsageError(f"No applicant has the category {unused[0]!r}. There are: {listed}.")


def features_of(measured: Mapping[str, Sequence[str]]) -> list[str]:
    """Return every feature of some extractors once, sorted."""
    return sorted({feature for features in measured.values() for feature in features})


def _dimensions(planned: PlannedProbes, suite: SuiteHeader, wanted: Sequence[str]) -> list[str]:
    """Return the dimensions that are asked for, or all there are."""
    there = sorted({n for _, probe in planned.items() for n in suite.groups_of(probe)})
    if not there:
        raise UsageError("No probe of this run names a group, so there are no categories.")
    for name in wanted:
        if name not in there:
            raise UsageError(f"The run has no groups by {name}; it has {', '.join(there)}.")
    return list(dict.fromkeys(wanted)) or there
