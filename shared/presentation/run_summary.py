"""Findings of a run: disparities, comparisons without one, missing answers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Diagnosis, Verdict
from biaswatch.shared.formatting import NOT_MEASURED, VERDICT_WORDS, number, p_equals, verdict_lead
from biaswatch.shared.presentation.findings import (
    THE_REST,
    ComparisonView,
    answers_query,
    comparisons,
    title_of,
)
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.questions import verdict_reason
from biaswatch.shared.presentation.tables import words

MAX_DISPARITIES = 10
"""Disparities with a sentence of their own."""
MAX_REASONS = 4
"""Reasons for missing answers in one sentence, the most frequent first."""
NO_DISPARITY = VERDICT_WORDS[Verdict.NO_DISPARITY]
INCONCLUSIVE = VERDICT_WORDS[Verdict.INCONCLUSIVE]


@dataclass(frozen=True)
class VerdictCount:
    """Comparisons of one finding that have the same verdict."""

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
    unmeasured_reason: str | None = None
    """Why there are no findings: every answer lacks a number."""


def run_summary(diagnoses: Sequence[Diagnosis]) -> RunSummary:
    """Return the findings of a run, the strongest first."""
    rows = comparisons(diagnoses)
    disparities = [row for row in rows if row.is_disparity]
    reason = _unmeasured_reason(diagnoses)
    return RunSummary(
        comparisons=len(rows),
        strongest=disparities[:MAX_DISPARITIES],
        disparities=len(disparities),
        within_tolerance=_counts(diagnoses, NO_DISPARITY),
        undecided=_counts(diagnoses, INCONCLUSIVE),
        unmeasured=_counts(diagnoses, NOT_MEASURED),
        missing=list(_missing(diagnoses)),
        lead=reason or _lead(rows),
        unmeasured_reason=reason,
    )


def _lead(rows: Sequence[ComparisonView]) -> str:
    if not rows:
        return "There is nothing to compare: no probe names a group."
    return verdict_lead([row.conclusion for row in rows], brief=True)


def _unmeasured_reason(diagnoses: Sequence[Diagnosis]) -> str | None:
    groups = [group for diagnosis in diagnoses for group in diagnosis.groups]
    if all(group.missing == group.responses for group in groups) and any(
        group.responses for group in groups
    ):
        reasons = sorted({words(reason) for group in groups for reason in group.missing_reasons})
        because = f" ({', '.join(reasons)})" if reasons else ""
        return f"No answer gave a number{because}, so there are no findings."
    return None


def _counts(diagnoses: Sequence[Diagnosis], verdict: str) -> list[VerdictCount]:
    """Count comparisons with a verdict by finding: 210 of them are a few lines."""
    counts = []
    names = ModelNames.among(diagnoses)
    for diagnosis in diagnoses:
        rows = [row for row in comparisons([diagnosis]) if row.verdict == verdict]
        if rows:
            what = f"{title_of(diagnosis)} · {names.of(diagnosis)}"
            note = _note(diagnosis, rows, verdict)
            counts.append(VerdictCount(what, len(rows), len(diagnosis.gaps), note))
    return counts


def _note(diagnosis: Diagnosis, rows: Sequence[ComparisonView], verdict: str) -> str:
    if verdict == NOT_MEASURED:
        sides = (side for row in rows for side in diagnosis.sides(row.gap))
        return "; ".join(dict.fromkeys(side.in_words() for side in sides if side.is_empty))
    if verdict == NO_DISPARITY:
        undone = sum(row.gap.survives_missing is False for row in rows)
        doubt = f"; the missing answers could undo {undone} of these verdicts" if undone else ""
        return f"within {number(diagnosis.tolerance)}{doubt}"
    reasons = Counter(filter(None, (verdict_reason(row.gap) for row in rows)))
    return reasons.most_common(1)[0][0] if reasons else ""


def _missing(diagnoses: Sequence[Diagnosis]) -> Iterator[UnmeasuredAnswers]:
    """Count missing numbers once for each feature and model, whatever the groupings."""
    names = ModelNames.among(diagnoses)
    incomplete = [
        diagnosis
        for diagnosis in diagnoses
        if not diagnosis.stratum and any(group.missing for group in diagnosis.groups)
    ]
    features: dict[tuple[str, ...], list[Diagnosis]] = {}
    for row in incomplete:
        key = (row.target, row.scaffold, row.extractor, row.feature)
        features.setdefault(key, []).append(row)
    for same in features.values():
        most = max(same, key=lambda row: sum(group.missing for group in row.groups))
        reasons: Counter[str] = Counter()
        for group in most.groups:
            reasons.update(group.missing_reasons)
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
