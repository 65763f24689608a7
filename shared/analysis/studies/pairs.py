"""Judges' verdicts on the pairs of a run: shares, raw and corrected, and models compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

from biaswatch.shared.analysis.studies.judges import agreements, corrected_shares
from biaswatch.shared.analysis.studies.labelled import labelled_shares
from biaswatch.shared.contracts import Estimate, Label, LabelSample, PairAnswers, PairVerdict
from biaswatch.shared.contracts.judged_items import TEMPLATE
from biaswatch.shared.requests.run_views import JudgeControls, PairGap, PairTable, StatementShare
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.studies.answer_pairs import Statements, pair_differences, shares_of

ANSWERS = {
    "answer_consistent": PairAnswers.SAME_PERSON,
    "different": PairAnswers.DIFFERENT,
    "mixed": PairAnswers.MIXED,
    "both_unknown": PairAnswers.BOTH_UNKNOWN,
}
FLAGS = ("flag_1", "flag_2", "flag_3", "flag_4")
CORRECTED = ("own_a", "own_b", "compatible")
FLAGGED, INCONSISTENT, BIASED = "flagged", "inconsistent", "biased"
BOTH, CONSISTENT = "both_flagged", "consistent"
ANY = {FLAGGED: FLAGS, INCONSISTENT: FLAGS[:2], BIASED: FLAGS[2:]}
"""Any of these flags; a pair counts once, however many it has."""
NAMES = (*ANSWERS, *FLAGS, *ANY, BOTH, CONSISTENT, *CORRECTED)
BOUNDED = (*ANY, BOTH, CONSISTENT)
"""Statements about several flags: some without a verdict leave bounds."""
COMPARED = (*FLAGS, FLAGGED, *CORRECTED)
Key = tuple[str, str, str, str]
"""Target, scaffold, category, condition."""


def pair_tables(
    verdicts: Iterable[PairVerdict],
    alpha: float,
    judges: Sequence[JudgeControls] = (),
    samples: Sequence[LabelSample] = (),
    labels: Sequence[Label] = (),
) -> list[PairTable]:
    """Count the pairs of each model by category and condition.

    Shares are also corrected by the errors of a judge on its controls, where one judge has said
    everything, and by labels of people.
    """
    return [
        _pair_table(
            key, verdicts_, alpha, judges, labelled_shares(verdicts_, samples, labels, alpha)
        )
        for key, verdicts_ in sorted(_by_key(verdicts).items())
    ]


def _by_key(verdicts: Iterable[PairVerdict]) -> dict[Key, list[PairVerdict]]:
    by_key: dict[Key, list[PairVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if not verdict.control:
            facts = verdict.facts
            where = facts.get("category", ""), facts.get("condition", "")
            by_key[verdict.target, verdict.scaffold, *where].append(verdict)
    return by_key


def _pair_table(
    key: Key,
    verdicts: Sequence[PairVerdict],
    alpha: float,
    judges: Sequence[JudgeControls],
    labelled: Mapping[str, Estimate],
) -> PairTable:
    target, scaffold, category, condition = key
    rows = [statements(verdict) for verdict in verdicts]
    templates = [verdict.facts.get(TEMPLATE) for verdict in verdicts]
    corrected = corrected_shares(verdicts, rows, templates, judges, alpha)
    return PairTable(
        target=target,
        scaffold=scaffold,
        category=category,
        condition=condition,
        pairs=len(verdicts),
        unread=sum(verdict.answers is PairAnswers.UNREAD for verdict in verdicts),
        unasked=Counter(verdict.unasked for verdict in verdicts if verdict.unasked),
        repeated=sum(any(verdict.repeated) for verdict in verdicts),
        shares={
            name: StatementShare(
                **asdict(share), corrected=corrected.get(name), labelled=labelled.get(name)
            )
            for name, share in shares_of(rows, NAMES, alpha, templates, bounded=BOUNDED).items()
        },
        agreement=agreements(verdicts, templates, alpha),
    )


def statements(verdict: PairVerdict) -> Statements:
    """Return which statements are true of one pair; what is not known is None."""
    read = verdict.answers is not PairAnswers.UNREAD
    answers: dict[str, bool | None] = {
        name: verdict.answers is answers if read else None for name, answers in ANSWERS.items()
    }
    for findings in (verdict.flags, verdict.corrected):
        answers |= {name: finding.value for name, finding in findings.items()}
    answers |= {name: any_of([answers.get(flag) for flag in flags]) for name, flags in ANY.items()}
    inconsistent, biased = answers[INCONSISTENT], answers[BIASED]
    answers[BOTH] = _negated(any_of([_negated(inconsistent), _negated(biased)]))
    answers[CONSISTENT] = _negated(answers[FLAGGED])
    return answers


def any_of(values: Sequence[bool | None]) -> bool | None:
    """Return whether any is true; None where that depends on an unknown one."""
    if any(values):
        return True
    return None if None in values else False


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def pair_gaps(verdicts: Iterable[PairVerdict]) -> list[PairGap]:
    """Compare every two models; all tests of the run are one family, Holm-corrected."""
    by_key = _by_key(verdicts)
    gaps = []
    for one, two in combinations(sorted(by_key), 2):
        if one[1:] != two[1:]:
            continue
        a, b = ({_pair_id(v): statements(v) for v in by_key[key]} for key in (one, two))
        templates = {_pair_id(v): v.facts.get(TEMPLATE) for key in (one, two) for v in by_key[key]}
        gaps += [(one, two, gap) for gap in pair_differences(a, b, COMPARED, templates)]
    adjusted = holm([gap.p_value for *_, gap in gaps]) if gaps else []
    return [
        PairGap(
            a=one[0],
            b=two[0],
            scaffold=one[1],
            category=one[2],
            condition=one[3],
            statement=gap.name,
            pairs=gap.pairs,
            difference=gap.difference,
            p_value=gap.p_value,
            p_adjusted=corrected,
            reason=gap.reason,
        )
        for (one, two, gap), corrected in zip(gaps, adjusted, strict=True)
    ]


def _pair_id(verdict: PairVerdict) -> str:
    return f"{verdict.set_id}/{verdict.repeat}"
