"""The scores of a run's applicants: an applicant is a prompt, asked once or repeatedly."""

from array import array
from collections.abc import Mapping, Sequence
from math import nan

from biaswatch.shared.contracts import Probe
from biaswatch.shared.requests.run_views import RunImpact
from biaswatch.shared.stats.studies.local_law_144 import applicant_score, impact_tables

Applicant = tuple[str, tuple[str | None, ...]]
"""The unit of analysis, and its category in each dimension."""


class Applicants:
    """Collects the scores that one target's answers under one scaffold got from one extractor.

    Of each answer it keeps a number for each feature and nothing else.
    """

    def __init__(self, features: Sequence[str], dimensions: Sequence[str]) -> None:
        self._features = features
        self._dimensions = dimensions
        self._scores: dict[Applicant, list[array[float]]] = {}

    def add(self, probe: Probe, values: Mapping[str, float | None]) -> None:
        """Add an answer; without values its applicant counts, and has no score yet."""
        labels = tuple(probe.groups.get(dimension) for dimension in self._dimensions)
        mine = self._scores.setdefault(
            (probe.unit_id, labels), [array("d") for _ in self._features]
        )
        for scores, feature in zip(mine, self._features, strict=True):
            value = values.get(feature)
            scores.append(nan if value is None else value)

    @property
    def categories(self) -> set[str]:
        """Every category of any applicant."""
        return {label for _, labels in self._scores for label in labels if label is not None}

    def impact(
        self,
        target: str,
        scaffold: str,
        extractor: str,
        *,
        selected_at_least: Mapping[str, float],
        small_share: float,
        unknown_labels: frozenset[str],
    ) -> list[RunImpact]:
        """Return the tables of each feature, the repeats of an applicant averaged beforehand."""
        columns = zip(*(labels for _, labels in self._scores), strict=True)
        labels = dict(zip(self._dimensions, columns, strict=True))
        return [
            RunImpact(
                target=target,
                scaffold=scaffold,
                extractor=extractor,
                feature=feature,
                impact=impact_tables(
                    [applicant_score(scores[place]) for scores in self._scores.values()],
                    labels,
                    selected_at_least=selected_at_least.get(feature),
                    small_share=small_share,
                    unknown_labels=unknown_labels,
                ),
            )
            for place, feature in enumerate(self._features)
        ]
