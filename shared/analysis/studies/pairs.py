"""What the judges found in the pairs of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations

from biaswatch.shared.contracts import PairAnswers, PairVerdict
from biaswatch.shared.requests.run_views import PairGap, PairTable, StatementShare
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.studies.answer_pairs import Statements, compared, shares_of

ANSWERS = {
    "answer_consistent": PairAnswers.SAME_PERSON,
    "different": PairAnswers.DIFFERENT,
    "mixed": PairAnswers.MIXED,
    "both_unknown": PairAnswers.BOTH_UNKNOWN,
}
FLAGS = ("flag_1", "flag_2", "flag_3", "flag_4")
CORRECTED = ("own_a", "own_b", "compatible")
FLAGGED = "flagged"
"""Any of the four flags; a pair counts once, however many it has."""
NAMES = (*ANSWERS, *FLAGS, FLAGGED, *CORRECTED)
COMPARED = (*FLAGS, FLAGGED, *CORRECTED)
Key = tuple[str, str, str, str]
"""Target, scaffold, category, condition."""


def pair_tables(verdicts: Iterable[PairVerdict], alpha: float) -> list[PairTable]:
    """Count the pairs of each model by category and condition."""
    return [_pair_table(key, some, alpha) for key, some in sorted(_by_key(verdicts).items())]


def _by_key(verdicts: Iterable[PairVerdict]) -> dict[Key, list[PairVerdict]]:
    found: dict[Key, list[PairVerdict]] = defaultdict(list)
    for each in verdicts:
        if not each.control:
            facts = each.facts
            where = facts.get("category", ""), facts.get("condition", "")
            found[each.target, each.scaffold, *where].append(each)
    return found


def _pair_table(key: Key, verdicts: Sequence[PairVerdict], alpha: float) -> PairTable:
    agreements = [
        finding.agreement
        for each in verdicts
        for finding in (*each.flags.values(), *each.corrected.values())
        if finding.agreement is not None
    ]
    target, scaffold, category, condition = key
    return PairTable(
        target=target,
        scaffold=scaffold,
        category=category,
        condition=condition,
        pairs=len(verdicts),
        unread=sum(each.answers is PairAnswers.UNREAD for each in verdicts),
        unasked=Counter(each.unasked for each in verdicts if each.unasked),
        repeated=sum(any(each.repeated) for each in verdicts),
        shares={
            name: StatementShare.model_validate(asdict(share))
            for name, share in shares_of(
                [statements(each) for each in verdicts], NAMES, alpha
            ).items()
        },
        agreement=sum(agreements) / len(agreements) if agreements else None,
    )


def statements(verdict: PairVerdict) -> Statements:
    """Return which statements are true of one pair; what is not known is None."""
    read = verdict.answers is not PairAnswers.UNREAD
    found: dict[str, bool | None] = {
        name: verdict.answers is answers if read else None for name, answers in ANSWERS.items()
    }
    for some in (verdict.flags, verdict.corrected):
        found |= {name: finding.value for name, finding in some.items()}
    known = [found.get(flag) for flag in FLAGS]
    # Of the flags that have a verdict; where none has, nothing is known.
    found[FLAGGED] = True if any(known) else None if all(x is None for x in known) else False
    return found


def pair_gaps(verdicts: Iterable[PairVerdict], alpha: float) -> list[PairGap]:
    """Compare every two models; all tests of the run are one family, Holm-corrected."""
    by_key = _by_key(verdicts)
    found = []
    for one, two in combinations(sorted(by_key), 2):
        if one[1:] != two[1:]:
            continue
        a, b = ({_pair_id(v): statements(v) for v in by_key[key]} for key in (one, two))
        found += [(one, two, each) for each in compared(a, b, COMPARED, alpha)]
    adjusted = holm([each.p_value for *_, each in found]) if found else []
    return [
        PairGap(
            a=one[0],
            b=two[0],
            scaffold=one[1],
            category=one[2],
            condition=one[3],
            statement=each.name,
            pairs=each.pairs,
            difference=each.difference,
            p_value=each.p_value,
            p_adjusted=corrected,
            reason=each.reason,
        )
        for (one, two, each), corrected in zip(found, adjusted, strict=True)
    ]


def _pair_id(verdict: PairVerdict) -> str:
    return f"{verdict.set_id}/{verdict.repeat}"
