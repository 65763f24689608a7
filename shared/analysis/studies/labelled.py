"""Shares of pairs corrected by labels of people on a random sample of the study's own pairs."""

from collections.abc import Mapping, Sequence

import numpy as np

from biaswatch.shared.analysis.labels.answer_columns import fold_answers
from biaswatch.shared.analysis.labels.corrections import judged_case, largest_samples
from biaswatch.shared.analysis.labels.labelled_rows import labelled_rows, labels_by_answer
from biaswatch.shared.contracts import Label, LabelSample, PairVerdict, current_labels
from biaswatch.shared.contracts.judged_items import ORACLE, TEMPLATE, JudgedItem, judged_pairs
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.judges.labelled_rates import labelled_rate
from biaswatch.shared.stats.labels.corrected_gap import METHOD
from biaswatch.shared.stats.labels.corrected_values import MIN_LABELS


def labelled_shares(
    verdicts: Sequence[PairVerdict],
    samples: Sequence[LabelSample],
    labels: Sequence[Label],
    alpha: float,
) -> Mapping[str, Estimate]:
    """Return the true share behind the verdicts of judges, for each statement with labels.

    Verdicts are those of one target and scaffold; see `labelled_rate`.
    """
    items = judged_pairs(verdicts)
    templates = {verdict.pair_id: verdict.facts.get(TEMPLATE) for verdict in verdicts}
    current = current_labels(list(labels))
    shares = {}
    for sample in largest_samples(samples):
        own = [e for e in current if (e.extractor, e.feature) == (ORACLE, sample.feature)]
        read = [item for item in items if sample.feature in item.readings]
        if sample.extractor == ORACLE and own and read:
            shares[sample.feature] = _share(read, templates, sample, own, alpha)
    return shares


def _share(
    items: Sequence[JudgedItem],
    templates: Mapping[str, str | None],
    sample: LabelSample,
    labels: Sequence[Label],
    alpha: float,
) -> Estimate:
    cases = [(item.id, judged_case(item, ORACLE, {sample.dimension})) for item in items]
    [answers] = fold_answers(cases, [sample], labels)
    rows = labelled_rows(answers, sample, labels_by_answer(labels))
    possible = rows.present & rows.drawn.possible()
    drawn = rows.drawn.subset(possible)
    if (labelled := len(drawn.labelled().rows)) < MIN_LABELS:
        return undefined(f"{labelled} labels; a correction needs {MIN_LABELS}", method=METHOD)
    names = np.array([str(templates[item.id]) for item in items])[possible]
    clusters = np.unique(names, return_inverse=True)[1]
    if None in templates.values():
        clusters = np.full(len(names), -1)
    return labelled_rate(rows.read(possible), drawn, clusters, alpha)
