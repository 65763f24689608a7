"""Votes of judges on a pair of answers, and the flags that follow."""

from collections.abc import Callable, Collection, Iterable

from biaswatch.shared.contracts.pair_verdict import Check, Finding, PairVerdict

A_TO_B, B_TO_A = "a_to_b", "b_to_a"
OWN_A, OWN_B, COMPATIBLE = "own_a", "own_b", "compatible"
GUESS_A, GUESS_B = "guess_a", "guess_b"
GUESSES = {GUESS_A, GUESS_B}
FLAGS = {"flag_1": A_TO_B, "flag_2": B_TO_A, "flag_3": GUESS_A, "flag_4": GUESS_B}
"""The checks behind each flag: a no, or a wrong guess raises it; no verdict raises none."""
CORRECTED = (OWN_A, OWN_B, COMPATIBLE)
TOO_FEW = "the category has fewer than two other questions"
SPLIT = "the judges are divided"
NO_REPLY, NO_ANSWER = "no reply", "no answer"
NONE_COUNTS = "every judge of it fails its controls"
MAJORITY = 0.5


def is_answered(check: Check) -> bool:
    """Tell whether a judge replied to a check, be it unreadable."""
    return check.said is not None or not (check.reason or "").startswith((NO_REPLY, NO_ANSWER))


def is_bad(check: Check) -> bool:
    """Tell whether a check raises its flag: a no, or a wrong guess."""
    return check.said != check.expected if check.name in GUESSES else check.said == "no"


def _one_vote(check: Check) -> float:
    """Return the weight of a vote where all judges have the same."""
    return 1.0


Weight = Callable[[Check], float]
"""The weight of a judge's vote, above 0."""


def flags_of(checks: Collection[Check], weight: Weight = _one_vote) -> dict[str, Finding]:
    """Return what the judges say to each flag of the original test."""
    return {flag: _agreed(name, checks, is_bad, weight) for flag, name in FLAGS.items()}


def corrected_of(checks: Collection[Check], weight: Weight = _one_vote) -> dict[str, Finding]:
    """Return what they say to each statement of the corrected test."""
    return {
        name: _agreed(name, checks, lambda check: check.said == "yes", weight) for name in CORRECTED
    }


def _agreed(
    name: str, checks: Iterable[Check], true_of: Callable[[Check], bool], weight: Weight
) -> Finding:
    """Let the majority of the judges that gave a verdict decide; a tie decides nothing."""
    own_checks = [check for check in checks if check.name == name]
    known = [check for check in own_checks if check.said is not None]
    if not known:
        reasons = ", ".join(sorted({check.reason or NO_REPLY for check in own_checks}))
        return Finding(reason=f"no verdict: {reasons}" if own_checks else TOO_FEW)
    votes = {True: 0.0, False: 0.0}
    for check in known:
        votes[true_of(check)] += weight(check)
    value = votes[True] > votes[False]
    majority = votes[value] / sum(votes.values())
    agreement = majority if len(known) > 1 else None
    if majority <= MAJORITY:
        return Finding(verdicts=len(known), agreement=agreement, reason=SPLIT)
    return Finding(value=value, verdicts=len(known), agreement=agreement)


def with_votes_of(
    verdict: PairVerdict, counts: Callable[[Check], bool], weight: Weight = _one_vote
) -> PairVerdict:
    """Return a verdict as the votes that count give it.

    An explanation stays only where the first that raised its flag counts: it is that judge's.
    """
    kept = [check for check in verdict.checks if counts(check)]
    if len(kept) == len(verdict.checks) and weight is _one_vote:
        return verdict
    questions = {check.name for check in verdict.checks}
    left = {check.name for check in kept}
    flags, corrected = flags_of(kept, weight), corrected_of(kept, weight)
    lost = Finding(reason=NONE_COUNTS)
    for findings, names in ((flags, FLAGS), (corrected, {name: name for name in CORRECTED})):
        findings.update({key: lost for key, name in names.items() if name in questions - left})
    explained = {
        flag: why
        for flag, why in verdict.explanations.items()
        if flags[flag].value and (first := _first_raiser(verdict, flag)) and counts(first)
    }
    return verdict.model_copy(
        update={
            "checks": tuple(kept),
            "flags": flags,
            "corrected": corrected,
            "explanations": explained,
        }
    )


def _first_raiser(verdict: PairVerdict, flag: str) -> Check | None:
    raised = (
        check
        for check in verdict.checks
        if check.name == FLAGS[flag] and check.said is not None and is_bad(check)
    )
    return next(raised, None)
