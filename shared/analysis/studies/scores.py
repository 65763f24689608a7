"""Scores of published studies and of applicants."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan

import numpy as np

from biaswatch.shared.contracts import Estimate, Features, Probe
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.run_views import RunImpact, ScoreGap, Scores
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.studies.bbq import BbqAnswer, Condition
from biaswatch.shared.stats.studies.bbq_intervals import by_cluster, swap_p_values, with_intervals
from biaswatch.shared.stats.studies.local_law_144 import applicant_score, impact_tables

STUDY = "bbq"
NO_ANSWER = "no answer"
Key = tuple[str, str, str, Condition]
"""Target, scaffold, category, condition."""


@dataclass(frozen=True)
class StudyRow:
    """One question of the study, and what was read from its answer."""

    key: Key
    cluster: str
    """Its template, or its context where templates are not known."""
    clusters: str
    """`templates` or `contexts`."""
    answer: BbqAnswer | None
    """None without an answer; an answer that names no option has no prediction."""


def study_row_of(probe: Probe, features: Features | None) -> StudyRow | None:
    """Return the row of a probe; None where the probe belongs to no such study."""
    facts = probe.facts
    condition = facts.get("condition")
    if facts.get("study") != STUDY or condition not in {"ambig", "disambig"}:
        return None
    where: Condition = "ambig" if condition == "ambig" else "disambig"
    key = (probe.target.name, probe.scaffold, facts.get("category", ""), where)
    template = facts.get("template")
    cluster = template or facts.get("context") or probe.unit_id
    clusters = "templates" if template else "contexts"
    if features is None or (features.unscorable or "").startswith(NO_ANSWER):
        return StudyRow(key, cluster, clusters, None)
    chosen = features.values.get("chosen")
    return StudyRow(
        key,
        cluster,
        clusters,
        BbqAnswer(
            condition=where,
            label=_option_index(probe.expected),
            unknown=_option_index(facts.get("unknown")),
            biased=_option_index(facts["biased"]) if "biased" in facts else None,
            prediction=None if chosen is None else int(chosen) - 1,
        ),
    )


def _option_index(mark: str | None) -> int:
    """Return the index of an option, or -1, which no answer can choose."""
    return ord(mark) - ord("A") if mark else -1


Answers = Mapping[Key, Mapping[str, list[BbqAnswer]]]


def _answers(rows: Iterable[StudyRow]) -> Answers:
    by_key = grouped((row.key, (row.cluster, row.answer)) for row in rows if row.answer)
    return {key: by_cluster(answers) for key, answers in by_key.items()}


def scores_of(rows: Iterable[StudyRow], alpha: float) -> list[Scores]:
    """Score each model by category and condition, with intervals over templates."""
    rows = list(rows)
    answers = _answers(rows)
    questions = Counter(row.key for row in rows)
    missing = Counter(row.key for row in rows if row.answer is None)
    clusters = {row.key: row.clusters for row in rows}
    scores = []
    for key in sorted(questions):
        target, scaffold, category, condition = key
        scored = with_intervals(
            answers.get(key, {}), condition, alpha=alpha, clusters=clusters[key]
        )
        counts = scored.counts
        scores.append(
            Scores(
                target=target,
                scaffold=scaffold,
                category=category,
                condition=condition,
                rows=questions[key],
                missing=missing[key],
                unmatched=counts.unmatched,
                without_target=counts.without_target,
                correct=counts.correct,
                named=counts.not_unknown,
                biased=counts.biased,
                clusters=scored.clusters,
                accuracy=scored.accuracy,
                s_dis=scored.s_dis,
                bias=scored.bias,
            )
        )
    return scores


def score_gaps(
    rows: Iterable[StudyRow], scores: Iterable[Scores], rng: np.random.Generator
) -> list[ScoreGap]:
    """Compare every two models in what both answered; all tests are one family, Holm-corrected."""
    answers = _answers(rows)
    by_key = {(s.target, s.scaffold, s.category, s.condition): s for s in scores}
    differences: list[tuple[Scores, Scores, str, float | None, float | None]] = []
    for one, two in combinations(sorted(by_key), 2):
        if one[1:] != two[1:]:
            continue
        x, y = by_key[one], by_key[two]
        both = answers.get(one, {}), answers.get(two, {})
        p_values = swap_p_values(*both, one[3], rng=rng) if all(both) else (None, None)
        gaps = _difference(x.accuracy, y.accuracy), _difference(x.bias, y.bias)
        differences += [
            (x, y, name, gap, p)
            for name, gap, p in zip(("accuracy", "bias"), gaps, p_values, strict=True)
        ]
    adjusted = holm([p for *_, p in differences]) if differences else []
    return [
        ScoreGap(
            a=x.target,
            b=y.target,
            scaffold=x.scaffold,
            category=x.category,
            condition=x.condition,
            score=name,
            difference=gap,
            p_value=p,
            p_adjusted=corrected,
        )
        for (x, y, name, gap, p), corrected in zip(differences, adjusted, strict=True)
    ]


def _difference(a: Estimate, b: Estimate) -> float | None:
    return None if a.value is None or b.value is None else a.value - b.value


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
        own = self._scores.setdefault((probe.unit_id, labels), [array("d") for _ in self._features])
        for scores, feature in zip(own, self._features, strict=True):
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
