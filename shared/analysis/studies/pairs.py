"""Judges' verdicts on the pairs of a run, and controls that test each judge."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import combinations

from biaswatch.shared.contracts import Check, Estimate, PairAnswers, PairVerdict
from biaswatch.shared.contracts.pair_verdict import GUESSES, with_votes_of
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.run_views import (
    JudgeControls,
    JudgedApart,
    PairGap,
    PairTable,
    StatementShare,
)
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


YES_NO, GUESS = "yes_no", "guess"
CHANCE = {YES_NO: 0.5, GUESS: 0.25}
"""How often a judge is right that reads nothing."""
LEVEL = 0.05
MIN_EQUAL_REPLIES = 4
"""Fewer equal replies may be chance."""
PADDED = "padded_"
FIRST = "A"
UNTESTED = "it was not put to the test: it gave no reply to any control"
NO_REPLY = ("no reply", "no answer")


def judge_controls(verdicts: Iterable[PairVerdict]) -> list[JudgeControls]:
    """Return for each judge what its controls show."""
    found = []
    for each in verdicts:
        if each.control:
            guesses = [check for check in each.checks if "guess" in check.name]
            others = [check for check in each.checks if "guess" not in check.name]
            found += [
                _controls_of_kind(each.target, YES_NO, others),
                _controls_of_kind(each.target, GUESS, guesses),
            ]
    return found


def counted_verdicts(
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls]
) -> list[PairVerdict]:
    """Return the verdicts as the votes of judges that pass their controls give them."""
    failed = {(each.judge, each.kind) for each in judges if each.fails}

    def counts(check: Check) -> bool:
        return (check.judge, _kind(check)) not in failed

    return [each if each.control else with_votes_of(each, counts) for each in verdicts]


def judged_apart(
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls], alpha: float
) -> list[JudgedApart]:
    """Return what the votes that do not count say, judge by judge."""
    failed = [each for each in judges if each.fails]
    return [
        JudgedApart(
            judge=each.judge,
            kind=each.kind,
            pairs=pair_tables([with_votes_of(v, _only(each)) for v in verdicts], alpha),
        )
        for each in failed
    ]


def _only(judge: JudgeControls) -> Callable[[Check], bool]:
    return lambda check: check.judge == judge.judge and _kind(check) == judge.kind


def _kind(check: Check) -> str:
    return GUESS if check.name in GUESSES else YES_NO


def _controls_of_kind(judge: str, kind: str, checks: Sequence[Check]) -> JudgeControls:
    from scipy.stats import binomtest

    asked = [check for check in checks if not check.name.startswith(PADDED)]
    replies = Counter(check.said for check in asked if check.said is not None)
    right = sum(check.said == check.expected for check in asked if check.said is not None)
    read = replies.total()
    p_value = None
    if read:
        p_value = float(binomtest(right, read, CHANCE[kind], alternative="greater").pvalue)
    fails = _failure(asked, replies, p_value)
    return JudgeControls(
        judge=judge,
        kind=kind,
        asked=len(asked),
        read=read,
        right=right,
        said=dict(sorted(replies.items())),
        p_value=p_value,
        warning=UNTESTED if _untested(asked) else fails,
        fails=fails is not None,
        length_bias=_length_bias(checks) if kind == YES_NO else None,
        position_bias=_position_bias(asked) if kind == GUESS else None,
    )


def _untested(asked: Sequence[Check]) -> bool:
    return all(check.said is None and (check.reason or "").startswith(NO_REPLY) for check in asked)


def _failure(asked: Sequence[Check], replies: Counter[str], p_value: float | None) -> str | None:
    read = replies.total()
    if _untested(asked):
        return None
    if 2 * sum(check.copied for check in asked) > len(asked):
        return "it copies the text back"
    if not read:
        return "nothing it said could be read"
    if len(replies) == 1 and read >= MIN_EQUAL_REPLIES:
        return f"it always says {first(replies, 'nothing')}"
    if p_value is not None and p_value > LEVEL:
        return "it is right no more often than chance"
    lost = len(asked) - read
    return f"{lost} of {len(asked)} replies could not be read" if 2 * read < len(asked) else None


def _length_bias(checks: Iterable[Check]) -> Estimate:
    """Return how much more often padded reasoning gets a yes than the same without padding."""
    said = {check.name: check.said for check in checks if check.said is not None}
    moved = [
        float(said[PADDED + name] == "yes") - float(reply == "yes")
        for name, reply in said.items()
        if PADDED + name in said
    ]
    return _mean(moved, -1.0, "no reasoning and its padded copy were both read")


def _position_bias(asked: Iterable[Check]) -> Estimate:
    """Return how much more often the first of four is named than it is right."""
    read = [check for check in asked if check.said is not None]
    moved = [float(check.said == FIRST) - float(check.expected == FIRST) for check in read]
    return _mean(moved, -1.0, "no guess was read")


def _mean(values: Sequence[float], lowest: float, nothing: str) -> Estimate:
    if not values:
        return Estimate(reason=nothing)
    import numpy as np

    from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
    from biaswatch.shared.stats.comparisons.confidence_curve import confidence_limits

    low, high = confidence_limits(bounded_mean_curve(np.array(values), lowest, 1.0), LEVEL)
    mean = sum(values) / len(values)
    return Estimate(value=mean, low=low, high=high, method="Gaffke's bound")
