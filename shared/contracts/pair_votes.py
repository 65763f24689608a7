"""What the judges of a pair say together: the majority of those that gave a verdict decides."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from biaswatch.shared.contracts.verdict import Check, Finding, PairVerdict

A_TO_B, B_TO_A = "a_to_b", "b_to_a"
OWN_A, OWN_B, COMPATIBLE = "own_a", "own_b", "compatible"
GUESS_A, GUESS_B = "guess_a", "guess_b"
GUESSES = {GUESS_A, GUESS_B}
FLAGS = {"flag_1": A_TO_B, "flag_2": B_TO_A, "flag_3": GUESS_A, "flag_4": GUESS_B}
"""What raises each flag: a no, or a wrong guess. No verdict raises none."""
CORRECTED = (OWN_A, OWN_B, COMPATIBLE)
TOO_FEW = "the category has fewer than two other questions"
SPLIT = "the judges are divided"
NO_REPLY = "no reply"
NONE_COUNTS = "no judge that was asked passes its controls"
MAJORITY = 0.5


def is_bad(check: Check) -> bool:
    """Tell whether a check raises its flag: a no, or a wrong guess."""
    return check.said != check.expected if check.name in GUESSES else check.said == "no"


def flags_of(checks: Collection[Check]) -> dict[str, Finding]:
    """Return what the judges say to each flag of the original test."""
    return {flag: _agreed(name, checks, is_bad) for flag, name in FLAGS.items()}


def corrected_of(checks: Collection[Check]) -> dict[str, Finding]:
    """Return what they say to each statement of the corrected test."""
    return {name: _agreed(name, checks, lambda check: check.said == "yes") for name in CORRECTED}


def _agreed(name: str, checks: Iterable[Check], true_of: Callable[[Check], bool]) -> Finding:
    """Let the majority of the judges that gave a verdict decide; a tie decides nothing."""
    mine = [check for check in checks if check.name == name]
    said = Counter(true_of(check) for check in mine if check.said is not None)
    verdicts = said.total()
    if not verdicts:
        reasons = ", ".join(sorted({check.reason or NO_REPLY for check in mine}))
        return Finding(reason=f"no verdict: {reasons}" if mine else TOO_FEW)
    [(value, times), *_] = said.most_common()
    agreement = times / verdicts if verdicts > 1 else None
    if times / verdicts <= MAJORITY:
        return Finding(verdicts=verdicts, agreement=agreement, reason=SPLIT)
    return Finding(value=value, verdicts=verdicts, agreement=agreement)


def with_votes_of(verdict: PairVerdict, counts: Callable[[Check], bool]) -> PairVerdict:
    """Return a verdict as the votes that count give it.

    An explanation stays only where the first that raised its flag counts: it is that judge's.
    """
    kept = [check for check in verdict.checks if counts(check)]
    if len(kept) == len(verdict.checks):
        return verdict
    asked = {check.name for check in verdict.checks}
    left = {check.name for check in kept}
    flags, corrected = flags_of(kept), corrected_of(kept)
    lost = Finding(reason=NONE_COUNTS)
    for found, names in ((flags, FLAGS), (corrected, {name: name for name in CORRECTED})):
        found.update({key: lost for key, name in names.items() if name in asked - left})
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
