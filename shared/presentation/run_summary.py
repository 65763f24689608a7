"""Findings of a run: disparities, comparisons without one, and why answers are missing."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from biaswatch.shared.analysis.findings.groupings import THE_REST
from biaswatch.shared.contracts import Diagnosis, Verdict
from biaswatch.shared.contracts.derived_features import base_of
from biaswatch.shared.formatting import (
    NOT_MEASURED,
    VERDICT_WORDS,
    Undetected,
    number,
    p_equals,
    summary_word,
    undetected_gaps,
    verdict_lead,
)
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.findings import (
    ComparisonView,
    answers_query,
    comparisons,
    title_of,
)
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.presentation.verdicts import verdict_reason

MAX_DISPARITIES = 10
"""Disparities with a sentence of their own."""
MAX_REASONS = 4
"""Reasons for missing answers in one sentence, the most frequent first."""
NO_DISPARITY = VERDICT_WORDS[Verdict.NO_DISPARITY]
INCONCLUSIVE = VERDICT_WORDS[Verdict.INCONCLUSIVE]
COUNTED = (NO_DISPARITY, INCONCLUSIVE, NOT_MEASURED)
"""Verdicts whose comparisons are counted by finding."""


@dataclass(frozen=True)
class VerdictCount:
    """Comparisons of one finding with the same verdict."""

    what: str
    count: int
    of: int
    note: str


@dataclass(frozen=True)
class UnmeasuredAnswers:
    """Answers without a number, of one feature at one model."""

    what: str
    missing: int
    requested: int
    reasons: str
    differs: str | None
    """Tests for equal shares in all groups."""
    answers: str


@dataclass(frozen=True)
class RunSummary:
    """Findings in reading order."""

    comparisons: int
    strongest: list[ComparisonView]
    """The disparities with the strongest evidence."""
    disparities: int
    within_tolerance: list[VerdictCount]
    undecided: list[VerdictCount]
    unmeasured: list[VerdictCount]
    """Comparisons with a side that has no measured answer."""
    missing: list[UnmeasuredAnswers]
    lead: str
    """The decisive sentence."""
    word: str | None = None
    """Its one word: disparity, no_disparity or inconclusive; None where nothing is compared."""
    unmeasured_reason: str | None = None
    """Why there are no findings: every answer lacks a number."""


def run_summary(
    diagnoses: Sequence[Diagnosis], rows: Sequence[ComparisonView] | None = None
) -> RunSummary:
    """Return the findings of a run, the strongest first; `rows` are its sorted comparisons."""
    rows = comparisons(diagnoses) if rows is None else rows
    disparities = [row for row in rows if row.is_disparity]
    reason = _unmeasured_reason(diagnoses)
    counts = _counts(diagnoses, rows)
    return RunSummary(
        comparisons=len(rows),
        strongest=disparities[:MAX_DISPARITIES],
        disparities=len(disparities),
        within_tolerance=counts[NO_DISPARITY],
        undecided=counts[INCONCLUSIVE],
        unmeasured=counts[NOT_MEASURED],
        missing=list(_missing(diagnoses)),
        lead=reason or _lead(rows),
        word=_word(rows),
        unmeasured_reason=reason,
    )


def _lead(rows: Sequence[ComparisonView]) -> str:
    """Return the decisive sentence of a run."""
    if not rows:
        return "There is nothing to compare: no probe names a group."
    return verdict_lead([row.conclusion for row in rows], undetected_among(rows), brief=True)


def _word(rows: Sequence[ComparisonView]) -> str | None:
    """Return the word of a run; comparisons without any measured answer are inconclusive."""
    conclusions = [row.conclusion for row in rows]
    measured = [verdict for verdict, _, unmeasured in conclusions if not unmeasured]
    return summary_word(measured) or (Verdict.INCONCLUSIVE.value if rows else None)


def undetected_among(rows: Sequence[ComparisonView]) -> Undetected:
    """Return the largest gaps not excluded by inconclusive comparisons, by feature."""
    return undetected_gaps(
        (row.diagnosis.feature, row.gap.summary_gap.low, row.gap.summary_gap.high)
        for row in rows
        if row.verdict == INCONCLUSIVE
    )


def _unmeasured_reason(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return why there are no findings; None where any answer gave a number."""
    groups = [group for diagnosis in diagnoses for group in diagnosis.groups]
    if all(group.missing == group.responses for group in groups) and any(
        group.responses for group in groups
    ):
        reasons = sorted({words(reason) for group in groups for reason in group.missing_reasons})
        because = f" ({', '.join(reasons)})" if reasons else ""
        return f"No answer gave a number{because}, so there are no findings."
    return None


def _counts(
    diagnoses: Sequence[Diagnosis], rows: Sequence[ComparisonView]
) -> dict[str, list[VerdictCount]]:
    """Count comparisons by verdict and finding: 210 of them are a few lines."""
    by_finding = grouped(((row.verdict, row.diagnosis.id), row) for row in rows)
    names = ModelNames.among(diagnoses)
    counts: dict[str, list[VerdictCount]] = defaultdict(list)
    for diagnosis, verdict in product(diagnoses, COUNTED):
        if matching := by_finding.get((verdict, diagnosis.id)):
            what = f"{title_of(diagnosis)} · {names.of(diagnosis)}"
            note = _note(diagnosis, matching, verdict)
            counts[verdict].append(VerdictCount(what, len(matching), len(diagnosis.gaps), note))
    return counts


def _note(diagnosis: Diagnosis, rows: Sequence[ComparisonView], verdict: str) -> str:
    """Return why comparisons of a finding have a verdict, and what could undo it."""
    if verdict == NOT_MEASURED:
        sides = (side for row in rows for side in diagnosis.sides(row.gap))
        return "; ".join(dict.fromkeys(side.in_words() for side in sides if side.is_empty))
    if verdict == NO_DISPARITY:
        undone = sum(row.gap.survives_missing is False for row in rows)
        doubt = f"; the missing answers could undo {undone} of these verdicts" if undone else ""
        return f"within {number(diagnosis.tolerance)}{doubt}"
    reasons = Counter(filter(None, (verdict_reason(row.gap, row.gap.reason) for row in rows)))
    return reasons.most_common(1)[0][0] if reasons else ""


def _missing(diagnoses: Sequence[Diagnosis]) -> Iterator[UnmeasuredAnswers]:
    """Count missing numbers once for each feature and model, whatever the groupings."""
    names = ModelNames.among(diagnoses)
    incomplete = [
        diagnosis
        for diagnosis in diagnoses
        if not diagnosis.stratum and any(group.missing for group in diagnosis.groups)
    ]
    features = grouped(
        ((row.target, row.scaffold, row.extractor, row.feature), row) for row in incomplete
    )
    for same in features.values():
        most = max(same, key=lambda row: sum(group.missing for group in row.groups))
        reasons = _reasons(most)
        tests = [
            f"by {words(row.dimension)} {p_equals(row.missing.p_value)}"
            for row in same
            if row.missing and row.missing.p_value is not None
        ]
        yield UnmeasuredAnswers(
            what=f"{words(most.feature)} · {names.of(most)}",
            missing=sum(group.missing for group in most.groups),
            requested=sum(group.responses for group in most.groups),
            reasons=", ".join(
                f"{count} {words(why)}" for why, count in reasons.most_common(MAX_REASONS)
            ),
            differs=", ".join(tests) or None,
            answers=f"{answers_query(most, THE_REST)}&missing=any",
        )


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


CALLS = ("steps", "called", "escalated", "retrieved")
"""Features of the steps of agents that are 0 without a call of a tool."""


def without_calls(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return a sentence for each target without any measured call of tools."""
    names = ModelNames.among(diagnoses)
    by_target = grouped(
        (names.of(row), row)
        for row in diagnoses
        if row.extractor == "steps" and base_of(row.feature) in CALLS
    )
    return [
        f"No answer of {name} has a measured call of a tool"
        f" ({', '.join(dict.fromkeys(row.feature for row in rows))}). Servers that leave `tools`"
        " out of requests report no error: look at `tool_steps` with `biaswatch export`, and check"
        " that the server and its model support tools."
        for name, rows in by_target.items()
        if {group.mean.value for row in rows for group in row.groups if group.units} == {0.0}
    ]


def mostly_missing(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return why most answers of a target lack numbers, and the remedy.

    Every feature of the target and its scaffold must lack most numbers for one reason.
    """
    by_target = grouped(
        ((row.target, row.scaffold), _missing_sentence(row)) for row in diagnoses if not row.stratum
    )
    lacking = [list(filter(None, shares)) for shares in by_target.values() if all(shares)]
    _, sentence = max(chain.from_iterable(lacking), default=(0.0, None))
    return sentence


def _reasons(diagnosis: Diagnosis) -> Counter[str]:
    """Count the reasons for missing answers over all groups."""
    return sum((Counter(group.missing_reasons) for group in diagnosis.groups), Counter[str]())


def _missing_sentence(diagnosis: Diagnosis) -> tuple[float, str] | None:
    """Return the share of answers missing for the most frequent reason, in a sentence too."""
    requested = sum(group.responses for group in diagnosis.groups)
    reasons = _reasons(diagnosis)
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
