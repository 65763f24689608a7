"""How far a judge can be believed: what it said where the right replies are known."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from shared.contracts import Check, PairVerdict

CHANCE = {"yes_no": 0.5, "guess": 0.25}
"""How often somebody is right who reads nothing."""
LEVEL = 0.05
LEAST_SAME = 4
"""Fewer equal replies may be chance."""


@dataclass(frozen=True)
class JudgeRecord:
    """One judge's controls of one kind: yes or no, or which of four questions."""

    judge: str
    kind: str
    asked: int
    read: int
    """Replies that say what was asked for."""
    right: int
    said: dict[str, int]
    p_value: float | None
    """Of being right as often by chance; null where nothing was read."""
    warning: str | None
    """Why its verdicts are not to be believed, if they are not."""


def judge_records(verdicts: Iterable[PairVerdict]) -> list[JudgeRecord]:
    """Return for each judge what its controls show."""
    found = []
    for each in verdicts:
        if each.control:
            guesses = [check for check in each.checks if check.name.startswith("guess")]
            others = [check for check in each.checks if not check.name.startswith("guess")]
            found += [
                _record(each.target, "yes_no", others),
                _record(each.target, "guess", guesses),
            ]
    return found


def _record(judge: str, kind: str, checks: Sequence[Check]) -> JudgeRecord:
    said = Counter(check.said for check in checks if check.said is not None)
    right = sum(check.said == check.expected for check in checks if check.said is not None)
    read = said.total()
    p_value = None
    if read:
        p_value = float(binomtest(right, read, CHANCE[kind], alternative="greater").pvalue)
    return JudgeRecord(
        judge, kind, len(checks), read, right, dict(sorted(said.items())), p_value,
        _warning(len(checks), said, p_value),
    )  # fmt: skip


def _warning(asked: int, said: Counter[str], p_value: float | None) -> str | None:
    read = said.total()
    if not read:
        return "nothing it said could be read"
    if len(said) == 1 and read >= LEAST_SAME:
        return f"it always says {next(iter(said))}"
    if p_value is not None and p_value > LEVEL:
        return "it is right no more often than chance"
    return f"{asked - read} of {asked} replies could not be read" if 2 * read < asked else None
