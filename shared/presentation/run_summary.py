"""What a run found, in words: what differs, what does not, and what could not be told."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import (
    COULD_UNDO,
    NOT_MEASURED,
    VERDICT_WORDS,
    by_evidence,
    names_itself,
    number,
    p_equals,
    verdict_lead,
    verdict_words,
)
from biaswatch.shared.presentation.answer_filters import AnswerFilter, group_name
from biaswatch.shared.presentation.names import ModelNames

MOST_SENTENCES = 10
THE_REST = "the rest"


@dataclass(frozen=True)
class DisparitySentence:
    """One disparity, for a person."""

    feature: str
    instrument: str
    """What read the number."""
    names_itself: bool
    """Whether the number has its name already."""
    dimension: str
    a: str
    b: str
    amount: str
    """`0.58 lower`."""
    between: str
    """`0.45 and 0.71`."""
    where: str
    p: str
    doubts: tuple[str, ...]
    answers: str
    """The query of the answers behind it."""
    finding_id: str


@dataclass(frozen=True)
class OpenQuestion:
    """Comparisons of one kind that are no disparity, counted."""

    what: str
    count: int
    of: int
    note: str


@dataclass(frozen=True)
class UnmeasuredAnswers:
    """Answers without a number, of one extractor's feature at one model."""

    what: str
    missing: int
    asked: int
    reasons: str
    differs: str | None
    """What the test says of whether groups differ in it."""
    answers: str


@dataclass(frozen=True)
class RunSummary:
    """The findings of a run in the order in which people need them."""

    comparisons: int
    found: tuple[DisparitySentence, ...]
    disparities: int
    not_found: tuple[OpenQuestion, ...]
    undecided: tuple[OpenQuestion, ...]
    unmeasured: tuple[OpenQuestion, ...]
    """Comparisons of which one side has no measured answer."""
    missing: tuple[UnmeasuredAnswers, ...]
    lead: str
    """The decisive sentence, where groups are compared."""
    nothing: str | None = None
    """Why there is nothing to conclude from: no answer gave a number."""


def run_summary(diagnoses: Sequence[Diagnosis]) -> RunSummary:
    """Return what a run found, the strongest first."""
    compared, names = [each for each in diagnoses if each.gaps], ModelNames.among(diagnoses)
    disparities = sorted(
        (pair for pair in _gaps(compared) if pair[1].verdict is Verdict.DISPARITY),
        key=strongest_first,
    )
    nothing = _nothing_measured(diagnoses)
    return RunSummary(
        comparisons=sum(len(each.gaps) for each in compared),
        found=tuple(_sentence(*each, names) for each in disparities[:MOST_SENTENCES]),
        disparities=len(disparities),
        not_found=tuple(_counted(compared, VERDICT_WORDS[Verdict.NO_DISPARITY], names)),
        undecided=tuple(_counted(compared, VERDICT_WORDS[Verdict.NOT_ENOUGH], names)),
        unmeasured=tuple(_counted(compared, NOT_MEASURED, names)),
        missing=tuple(_missing(diagnoses, names)),
        lead=nothing or verdict_lead([_concluded(*pair) for pair in _gaps(compared)], brief=True),
        nothing=nothing,
    )


def gap_verdict(diagnosis: Diagnosis, gap: Gap) -> str:
    """Return what is concluded of a gap, in words; of one that was not measured, just that."""
    verdict, _, unmeasured = _concluded(diagnosis, gap)
    return verdict_words(verdict, unmeasured=unmeasured)


def _concluded(diagnosis: Diagnosis, gap: Gap) -> tuple[str, bool | None, bool]:
    unmeasured = diagnosis.is_unmeasured(gap)
    return gap.verdict.value, gap.survives_missing, unmeasured


def _nothing_measured(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return a sentence where every answer of every number is missing."""
    groups = [group for each in diagnoses for group in each.groups]
    asked = max((sum(g.responses for g in each.groups) for each in diagnoses), default=0)
    if not asked or any(group.missing < group.responses for group in groups):
        return None
    reasons = sorted({why.replace("_", " ") for each in groups for why in each.missing_reasons})
    because = f" ({', '.join(reasons)})" if reasons else ""
    return f"No answer gave a number{because}, so nothing is said of any gap."


def strongest_first(pair: tuple[Diagnosis, Gap]) -> tuple[tuple[int, float, float], str, str]:
    """Return what comparisons are sorted by: the verdict, the evidence, the size."""
    gap = pair[1]
    by = by_evidence(gap.verdict, gap.comparable_p(gap.p_adjusted), gap.gap.value)
    return by, gap.a, gap.b


def title_of(diagnosis: Diagnosis) -> str:
    """Return what a finding is about."""
    return f"{diagnosis.feature.replace('_', ' ')} by {diagnosis.dimension.replace('_', ' ')}"


def answers_query(diagnosis: Diagnosis, group: str) -> str:
    """Return the query of the answers about a group that a finding is about."""
    known = "" if group == THE_REST else group_name(diagnosis.dimension, group)
    return AnswerFilter(
        group=known,
        target=diagnosis.target,
        scaffold=diagnosis.scaffold,
        feature=f"{diagnosis.extractor}.{diagnosis.feature}",
    ).query()


def _gaps(diagnoses: Iterable[Diagnosis]) -> Iterator[tuple[Diagnosis, Gap]]:
    return ((each, gap) for each in diagnoses for gap in each.gaps)


def _sentence(diagnosis: Diagnosis, gap: Gap, names: ModelNames) -> DisparitySentence:
    value = gap.gap.value or 0.0
    ends = sorted(abs(end) for end in (gap.gap.low, gap.gap.high) if end is not None)
    doubts = []
    if gap.survives_missing is False:
        doubts.append(COULD_UNDO)
    if gap.instrument is not None and gap.instrument.value is not None:
        doubts.append(f"the extractor itself makes {number(gap.instrument.value)} of the names")
    return DisparitySentence(
        feature=diagnosis.feature.replace("_", " "),
        instrument=diagnosis.extractor,
        names_itself=names_itself(diagnosis.extractor, diagnosis.feature),
        dimension=diagnosis.dimension.replace("_", " "),
        a=gap.a,
        b=gap.b,
        amount=f"{number(abs(value))} {'lower' if value < 0 else 'higher'}",
        between=" and ".join(number(end) for end in ends),
        where=names.of(diagnosis),
        p=p_equals(gap.comparable_p(gap.p_adjusted)),
        doubts=tuple(doubts),
        answers=answers_query(diagnosis, gap.a),
        finding_id=diagnosis.id,
    )


def _counted(
    diagnoses: Sequence[Diagnosis], verdict: str, names: ModelNames
) -> Iterator[OpenQuestion]:
    """Count by feature, dimension and model, so that 210 comparisons are a few lines."""
    for each in diagnoses:
        gaps = [gap for gap in each.gaps if gap_verdict(each, gap) == verdict]
        if gaps:
            what = f"{title_of(each)} · {names.of(each)}"
            yield OpenQuestion(what, len(gaps), len(each.gaps), _note(each, gaps, verdict))


def _note(diagnosis: Diagnosis, gaps: Sequence[Gap], verdict: str) -> str:
    """Return what is said of comparisons that ended alike."""
    if verdict == NOT_MEASURED:
        sides = (side for gap in gaps for side in diagnosis.sides(gap))
        return "; ".join(dict.fromkeys(side.in_words() for side in sides if side.is_empty))
    if verdict == VERDICT_WORDS[Verdict.NO_DISPARITY]:
        undone = sum(gap.survives_missing is False for gap in gaps)
        doubt = f"; the missing answers could undo {undone} of these verdicts" if undone else ""
        return f"within {number(diagnosis.tolerance)}{doubt}"
    reasons = Counter(gap.reason for gap in gaps if gap.reason)
    return reasons.most_common(1)[0][0] if reasons else ""


def _missing(diagnoses: Sequence[Diagnosis], names: ModelNames) -> Iterator[UnmeasuredAnswers]:
    """Count missing numbers once for each number and model, whatever the groupings."""
    found: dict[tuple[str, ...], list[Diagnosis]] = {}
    for each in diagnoses:
        if not each.stratum and any(group.missing for group in each.groups):
            name = (each.target, each.scaffold, each.extractor, each.feature)
            found.setdefault(name, []).append(each)
    for some in found.values():
        most = max(some, key=lambda each: sum(group.missing for group in each.groups))
        reasons: Counter[str] = Counter()
        for group in most.groups:
            reasons.update(group.missing_reasons)
        tests = [
            f"by {each.dimension.replace('_', ' ')} {p_equals(each.missing.p_value)}"
            for each in some
            if each.missing and each.missing.p_value is not None
        ]
        yield UnmeasuredAnswers(
            what=f"{most.feature.replace('_', ' ')} · {names.of(most)}",
            missing=sum(group.missing for group in most.groups),
            asked=sum(group.responses for group in most.groups),
            reasons=", ".join(f"{n} {why.replace('_', ' ')}" for why, n in reasons.most_common(4)),
            differs=", ".join(tests) or None,
            answers=f"{answers_query(most, THE_REST)}&missing=any",
        )
