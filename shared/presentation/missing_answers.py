"""The one reason for which most answers of a run have no number, and its remedy."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.presentation.tables import words

MAX_MISSING_SHARE = 0.5
"""Beyond this share of missing answers for one reason, the reason comes before all findings."""
NO_ANSWER = "no answer: "
_TOKEN_LIMIT = re.compile(r"[?&]((?:max|maximum)_[a-z_]*tokens)=(\d+)")
_ASK_AGAIN = "ask with the scaffold direct-schema, or look at them with `biaswatch export`"
_REMEDIES: Mapping[str, tuple[str, str]] = {
    "truncated": (
        "were cut off at {limit}",
        "raise it; the suite's `needs` says which part of an answer is enough",
    ),
    "no rating": ("state no rating", _ASK_AGAIN),
    "several ratings": ("state several ratings", _ASK_AGAIN),
    "no choice": ("choose no option", _ASK_AGAIN),
    "several choices": ("choose several options", _ASK_AGAIN),
    "content_filter": (
        "were withheld by the provider's content filter",
        "loosen the filter, or reword the prompts",
    ),
    "refusal": ("were refused", "look at them with `biaswatch export`"),
    "timeout": ("did not come in time", "raise BIASWATCH_GENERATOR_TIMEOUT_S"),
    "rate_limited": ("met the provider's rate limit", "raise BIASWATCH_GENERATOR_PATIENCE_S"),
    "did not arrive before the run closed": (
        "did not arrive before the run closed",
        "the last lines say how to go on",
    ),
    "unreachable": ("could not be asked for", "check the address of the target"),
}


def mostly_missing(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return why most answers of a target have no number and what to do; None where they have one.

    Every feature of the target and its scaffold must lack most numbers for one reason.
    """
    by_target: dict[tuple[str, str], list[tuple[float, str] | None]] = {}
    for diagnosis in diagnoses:
        if not diagnosis.stratum:
            key = diagnosis.target, diagnosis.scaffold
            by_target.setdefault(key, []).append(_sentence(diagnosis))
    lacking = [list(filter(None, shares)) for shares in by_target.values() if all(shares)]
    _, sentence = max(chain.from_iterable(lacking), default=(0.0, None))
    return sentence


def _sentence(diagnosis: Diagnosis) -> tuple[float, str] | None:
    """Return the share of answers missing for the most frequent reason, and its sentence."""
    requested = sum(group.responses for group in diagnosis.groups)
    reasons = Counter[str]()
    for group in diagnosis.groups:
        reasons.update(group.missing_reasons)
    if not reasons:
        return None
    reason, count = reasons.most_common(1)[0]
    if count <= MAX_MISSING_SHARE * requested:
        return None
    why, remedy = _REMEDIES.get(
        reason.removeprefix(NO_ANSWER),
        (f"gave no number ({words(reason)})", "look at them with `biaswatch export`"),
    )
    limit = _TOKEN_LIMIT.search(diagnosis.target)
    shown = why.format(limit=f"{limit[1]}={limit[2]}" if limit else "their limit of tokens")
    return count / requested, f"{count} of {requested} answers {shown}: {remedy}."
