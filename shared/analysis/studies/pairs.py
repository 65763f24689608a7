"""Judges' verdicts on the pairs of a run, and controls that test each judge."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import combinations

from biaswatch.shared.contracts import Check, Estimate, PairAnswers, PairVerdict
from biaswatch.shared.contracts.pair_verdict import GUESSES, TEMPLATE, with_votes_of
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
    return [
        _pair_table(key, verdicts_, alpha) for key, verdicts_ in sorted(_by_key(verdicts).items())
    ]


def _by_key(verdicts: Iterable[PairVerdict]) -> dict[Key, list[PairVerdict]]:
    by_key: dict[Key, list[PairVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if not verdict.control:
            facts = verdict.facts
            where = facts.get("category", ""), facts.get("condition", "")
            by_key[verdict.target, verdict.scaffold, *where].append(verdict)
    return by_key


def _pair_table(key: Key, verdicts: Sequence[PairVerdict], alpha: float) -> PairTable:
    agreements = [
        finding.agreement
        for verdict in verdicts
        for finding in (*verdict.flags.values(), *verdict.corrected.values())
        if finding.agreement is not None
    ]
    target, scaffold, category, condition = key
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
            name: StatementShare.model_validate(asdict(share))
            for name, share in shares_of(
                [statements(verdict) for verdict in verdicts],
                NAMES,
                alpha,
                [verdict.facts.get(TEMPLATE) for verdict in verdicts],
            ).items()
        },
        agreement=sum(agreements) / len(agreements) if agreements else None,
    )


def statements(verdict: PairVerdict) -> Statements:
    """Return which statements are true of one pair; what is not known is None."""
    read = verdict.answers is not PairAnswers.UNREAD
    answers: dict[str, bool | None] = {
        name: verdict.answers is answers if read else None for name, answers in ANSWERS.items()
    }
    for findings in (verdict.flags, verdict.corrected):
        answers |= {name: finding.value for name, finding in findings.items()}
    known = [answers.get(flag) for flag in FLAGS]
    # Flags with a verdict; without any, nothing is known.
    answers[FLAGGED] = True if any(known) else None if all(x is None for x in known) else False
    return answers


def pair_gaps(verdicts: Iterable[PairVerdict], alpha: float) -> list[PairGap]:
    """Compare every two models; all tests of the run are one family, Holm-corrected."""
    by_key = _by_key(verdicts)
    gaps = []
    for one, two in combinations(sorted(by_key), 2):
        if one[1:] != two[1:]:
            continue
        a, b = ({_pair_id(v): statements(v) for v in by_key[key]} for key in (one, two))
        templates = {_pair_id(v): v.facts.get(TEMPLATE) for key in (one, two) for v in by_key[key]}
        gaps += [(one, two, gap) for gap in compared(a, b, COMPARED, alpha, templates)]
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
    controls = []
    for verdict in verdicts:
        if verdict.control:
            guesses = [check for check in verdict.checks if "guess" in check.name]
            checks = [check for check in verdict.checks if "guess" not in check.name]
            controls += [
                _controls_of_kind(verdict.target, YES_NO, checks),
                _controls_of_kind(verdict.target, GUESS, guesses),
            ]
    return controls


def counted_verdicts(
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls]
) -> list[PairVerdict]:
    """Return the verdicts as the votes of judges that pass their controls give them."""
    failed = {(judge.judge, judge.kind) for judge in judges if judge.fails}

    def counts(check: Check) -> bool:
        return (check.judge, _kind(check)) not in failed

    return [verdict if verdict.control else with_votes_of(verdict, counts) for verdict in verdicts]


def failed_judges(
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls], alpha: float
) -> list[JudgedApart]:
    """Return what the votes that do not count say, judge by judge."""
    failed = [judge for judge in judges if judge.fails]
    return [
        JudgedApart(
            judge=judge.judge,
            kind=judge.kind,
            pairs=pair_tables([with_votes_of(v, _only(judge)) for v in verdicts], alpha),
        )
        for judge in failed
    ]


def _only(judge: JudgeControls) -> Callable[[Check], bool]:
    return lambda check: check.judge == judge.judge and _kind(check) == judge.kind


def _kind(check: Check) -> str:
    return GUESS if check.name in GUESSES else YES_NO


def _controls_of_kind(judge: str, kind: str, checks: Sequence[Check]) -> JudgeControls:
    from scipy.stats import binomtest

    own_checks = [check for check in checks if not check.name.startswith(PADDED)]
    replies = Counter(check.said for check in own_checks if check.said is not None)
    right = sum(check.said == check.expected for check in own_checks if check.said is not None)
    read = replies.total()
    p_value = None
    if read:
        p_value = float(binomtest(right, read, CHANCE[kind], alternative="greater").pvalue)
    fails = _failure(own_checks, replies, p_value)
    return JudgeControls(
        judge=judge,
        kind=kind,
        asked=len(own_checks),
        read=read,
        right=right,
        said=dict(sorted(replies.items())),
        p_value=p_value,
        warning=UNTESTED if _untested(own_checks) else fails,
        fails=fails is not None,
        length_bias=_length_bias(checks) if kind == YES_NO else None,
        position_bias=_position_bias(own_checks) if kind == GUESS else None,
    )


def _untested(checks: Sequence[Check]) -> bool:
    return all(check.said is None and (check.reason or "").startswith(NO_REPLY) for check in checks)


def _failure(checks: Sequence[Check], replies: Counter[str], p_value: float | None) -> str | None:
    read = replies.total()
    if _untested(checks):
        return None
    if 2 * sum(check.copied for check in checks) > len(checks):
        return "it copies the text back"
    if not read:
        return "nothing it said could be read"
    if len(replies) == 1 and read >= MIN_EQUAL_REPLIES:
        return f"it always says {first(replies, 'nothing')}"
    if p_value is not None and p_value > LEVEL:
        return "it is right no more often than chance"
    lost = len(checks) - read
    return f"{lost} of {len(checks)} replies could not be read" if 2 * read < len(checks) else None


def _length_bias(checks: Iterable[Check]) -> Estimate:
    """Return how much more often padded reasoning gets a yes than the same without padding."""
    replies = {check.name: check.said for check in checks if check.said is not None}
    moved = [
        float(replies[PADDED + name] == "yes") - float(reply == "yes")
        for name, reply in replies.items()
        if PADDED + name in replies
    ]
    return _mean(moved, -1.0, "no reasoning and its padded copy were both read")


def _position_bias(checks: Iterable[Check]) -> Estimate:
    """Return how much more often the first of four is named than it is right."""
    read = [check for check in checks if check.said is not None]
    moved = [float(check.said == FIRST) - float(check.expected == FIRST) for check in read]
    return _mean(moved, -1.0, "no guess was read")


def _mean(values: Sequence[float], lowest: float, reason: str) -> Estimate:
    if not values:
        return Estimate(reason=reason)
    import numpy as np

    from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
    from biaswatch.shared.stats.comparisons.confidence_curve import confidence_limits

    low, high = confidence_limits(bounded_mean_curve(np.array(values), lowest, 1.0), LEVEL)
    mean = sum(values) / len(values)
    return Estimate(value=mean, low=low, high=high, method="Gaffke's bound")
