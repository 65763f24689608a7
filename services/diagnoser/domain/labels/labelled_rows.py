"""The answers of a run: what was read from each, what people said, and how probable that was."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.diagnoser.domain.findings.observations import Floats, MeasuredResponse, within
from shared.contracts import Label, LabelSample, LabelStratum
from shared.stats.comparisons.compared_samples import Bounds

Case = tuple[str, MeasuredResponse]
"""The id of a response, and what was measured of it."""
Stratum = tuple[str, str, str]
"""Target, scaffold and group."""


@dataclass(frozen=True)
class LabelledRows:
    """One row for each answer to one target and scaffold; nan is missing."""

    cases: Sequence[Case]
    readings: Floats
    labels: Floats
    """The mean of what people said."""
    probabilities: Floats
    """Of being labelled; nan for answers that were not among those drawn from."""
    drawn: np.ndarray
    """[rows], whether the answer was drawn."""

    @property
    def responses(self) -> list[MeasuredResponse]:
        """What was measured, row by row."""
        return [case for _, case in self.cases]

    def selected(self, threshold: float) -> "LabelledRows":
        """Return the rows with 1 for a reading, or a label, from the threshold on, and 0 below."""
        readings, labels = (
            np.where(np.isfinite(values), values >= threshold, np.nan)
            for values in (self.readings, self.labels)
        )
        return replace(self, readings=readings, labels=labels)


def labels_by_answer(labels: Sequence[Label]) -> dict[str, dict[str, float]]:
    """Return, by answer, what each person said; who could not tell said nothing."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in labels:
        if each.value is not None:
            found[each.response_id][each.person_id] = each.value
    return found


def labelled_rows(
    cases: Sequence[Case], sample: LabelSample, said: Mapping[str, Mapping[str, float]]
) -> LabelledRows:
    """Return the rows of the answers to one target and scaffold, as one instrument read them.

    A drawn answer that nobody has labelled yet, or could, is taken as left out by chance within its
    stratum: the probability of its neighbours is the smaller for it.
    """
    bounds: Bounds = (sample.low, sample.high)
    drawn = {each.response_id: each for each in sample.drawn}
    means = {
        id_: float(np.mean(list(values.values())))
        for id_, values in said.items()
        if id_ in drawn and values
    }
    shares = _labelled_shares(sample, means)
    readings = within([case.values.get(sample.feature) for _, case in cases], bounds)
    strata = {_key(each): number for number, each in enumerate(sample.strata)}
    probabilities = np.full(len(cases), np.nan)
    for row, (id_, case) in enumerate(cases):
        group = case.groups.get(sample.dimension)
        number = strata.get((case.target, case.scaffold, group or ""))
        if number is None or not shares[number]:
            continue
        one = drawn.get(id_)
        chance = one.probability if one else sample.strata[number].least_probability
        probabilities[row] = min(1.0, chance * shares[number])
    return LabelledRows(
        cases=cases,
        readings=readings,
        labels=np.array([means.get(id_, np.nan) for id_, _ in cases]),
        probabilities=probabilities,
        drawn=np.array([id_ in drawn for id_, _ in cases], dtype=bool),
    )


def _labelled_shares(sample: LabelSample, means: Mapping[str, float]) -> list[float]:
    """Return, by stratum, which share of the drawn answers was labelled."""
    labelled = Counter(each.stratum for each in sample.drawn if each.response_id in means)
    return [
        labelled[number] / each.drawn if each.drawn else 0.0
        for number, each in enumerate(sample.strata)
    ]


def _key(stratum: LabelStratum) -> Stratum:
    return stratum.target, stratum.scaffold, stratum.group
