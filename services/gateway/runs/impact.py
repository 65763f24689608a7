"""Blocking queries of selection rates and impact ratios of a run."""

from collections.abc import Iterable, Mapping, Sequence

from biaswatch.services.gateway.runs.measurements import measured_batches
from biaswatch.services.gateway.runs.queries import RunQueries, pinned_extractors
from biaswatch.shared.analysis.studies.scores import Applicants
from biaswatch.shared.contracts import Run, SuiteHeader
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_views import RunImpact
from biaswatch.shared.requests.runs import ImpactRequest
from biaswatch.shared.stats.studies.local_law_144 import unused_unknown_labels
from biaswatch.shared.store import PlannedProbes, Store

MAX_LISTED_CATEGORIES = 40
"""Number of categories that a message lists."""


class ImpactQueries:
    """Blocking queries of selection rates and impact ratios; call them in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs

    def impact(self, run_id: str, request: ImpactRequest) -> list[RunImpact]:
        """Return the tables of each target, scaffold, extractor and feature.

        Raises
        ------
        NotFoundError
            The run does not exist.
        UsageError
            The run has no groups, or not these groups, categories or this feature.
        """
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise UsageError("Production traffic has no suite, so there are no applicants in it.")
        suite, planned = outline.header, PlannedProbes(self._store.suites, outline, run)
        dimensions = _dimensions(planned, suite, request.group)
        features = self._features(run, suite, request.score)
        by_target = self._applicants(run, planned, dimensions, features)
        thresholds = suite.selected_at_least
        if request.selected_at_least is not None:
            thresholds = dict.fromkeys(features_of(features), request.selected_at_least)
        _check_unknown_labels(request.unknown, by_target.values())
        labels = frozenset(label.strip().casefold() for label in request.unknown)
        return [
            table
            for key, applicants in sorted(by_target.items())
            for table in applicants.impact(
                *key,
                selected_at_least=thresholds,
                small_share=request.small_share,
                unknown_labels=labels,
            )
        ]

    def _features(
        self, run: Run, suite: SuiteHeader, requested: str | None
    ) -> Mapping[str, Sequence[str]]:
        """Return the features of each extractor that get tables.

        They are the requested one, or those for which the suite defines a selection, or those
        that it diagnoses, or all.
        """
        pinned = pinned_extractors(self._store, run)
        measured = {pin.name: status.features for pin, status in pinned if status}
        known = features_of(measured)
        if requested is not None and requested not in known:
            raise UsageError(f"The run has no feature {requested}; it has {', '.join(known)}.")
        wanted = (
            (requested,) if requested else tuple(suite.selected_at_least) or suite.features or known
        )
        chosen = {name: [f for f in features if f in wanted] for name, features in measured.items()}
        return {name: features for name, features in chosen.items() if features}

    def _applicants(
        self,
        run: Run,
        planned: PlannedProbes,
        dimensions: Sequence[str],
        features: Mapping[str, Sequence[str]],
    ) -> dict[tuple[str, str, str], Applicants]:
        """Read every answer once, in batches; a missing answer only adds its applicant."""
        applicants: dict[tuple[str, str, str], Applicants] = {}
        pins = [pin for pin in run.extractors if pin.name in features]
        for batch in measured_batches(self._store, planned.read(run.at), pins):
            for probe, measured in batch:
                for extractor, values in measured.items():
                    key = (probe.target.name, probe.scaffold, extractor)
                    if key not in applicants:
                        applicants[key] = Applicants(features[extractor], dimensions)
                    applicants[key].add(probe, values.values if values else {})
        return applicants


def _check_unknown_labels(labels: Sequence[str], applicants: Iterable[Applicants]) -> None:
    """Refuse a label for unknown categories that no applicant has."""
    present = sorted(set[str]().union(*(part.categories for part in applicants)))
    if present and (unused := unused_unknown_labels(labels, present)):
        listed = ", ".join(present[:MAX_LISTED_CATEGORIES])
        raise UsageError(f"No applicant has the category {unused[0]!r}. There are: {listed}.")


def features_of(measured: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the distinct features of some extractors, sorted."""
    return sorted({feature for features in measured.values() for feature in features})


def _dimensions(planned: PlannedProbes, suite: SuiteHeader, requested: Sequence[str]) -> list[str]:
    """Return the requested dimensions, or all."""
    known = sorted({name for _, probe in planned.items() for name in suite.groups_of(probe)})
    if not known:
        raise UsageError("No probe of this run names a group, so there are no categories.")
    for name in requested:
        if name not in known:
            raise UsageError(f"The run has no groups by {name}; it has {', '.join(known)}.")
    return list(dict.fromkeys(requested)) or known
