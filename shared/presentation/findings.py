"""One comparison as every output presents it: order, verdict, amount, sentence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from biaswatch.shared.analysis.findings.groupings import THE_REST
from biaswatch.shared.contracts import Diagnosis, Gap, GroupSummary, SummaryWord
from biaswatch.shared.contracts.record import computed_once
from biaswatch.shared.formatting import (
    COULD_UNDO,
    NOT_MEASURED,
    by_evidence,
    names_itself,
    number,
    p_equals,
    verdict_words,
)
from biaswatch.shared.presentation.answer_filters import AnswerFilter, group_name
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import estimate_text, words
from biaswatch.shared.presentation.verdicts import compared_groups, headline


@dataclass(frozen=True)
class ComparisonView:
    """A gap with its diagnosis, and the name of the model among its neighbors."""

    diagnosis: Diagnosis
    gap: Gap
    model: str
    run_id: str = ""

    @property
    def pair(self) -> str:
        """The compared groups."""
        return f"{self.gap.a} against {self.gap.b}"

    @property
    def p_adjusted(self) -> float | None:
        """The adjusted p-value, 0 where it is too small to compute."""
        return self.gap.comparable_p(self.gap.p_adjusted)

    @property
    def is_disparity(self) -> bool:
        """True for a disparity."""
        return self.conclusion[0] == SummaryWord.DISPARITY.value

    @computed_once
    def conclusion(self) -> tuple[str, bool | None, bool]:
        """The verdict, whether it survives missing answers, and whether a side is unmeasured."""
        unmeasured = self.diagnosis.is_unmeasured(self.gap)
        return self.gap.summary.value, self.gap.survives_missing, unmeasured

    @computed_once
    def verdict(self) -> str:
        """The verdict in words, without doubts."""
        verdict, _, unmeasured = self.conclusion
        return verdict_words(verdict, unmeasured=unmeasured)

    @computed_once
    def order(self) -> tuple[tuple[int, float, float], str, str]:
        """The sort key: disparities first, then small p-values, then large gaps."""
        evidence = by_evidence(self.conclusion[0], self.gap.p_summary, self.gap.gap.value)
        return evidence, self.gap.a, self.gap.b

    @property
    def instrument(self) -> str:
        """The extractor, empty where the feature already names it."""
        diagnosis = self.diagnosis
        known = names_itself(diagnosis.extractor, diagnosis.feature)
        return "" if known else diagnosis.extractor

    @property
    def amount(self) -> str:
        """The size and direction of the gap: `0.58 lower`."""
        value = self.gap.gap.value or 0.0
        return f"{number(abs(value))} {'lower' if value < 0 else 'higher'}"

    @property
    def between(self) -> str:
        """The ends of the interval in the direction of `amount`: `0.45 and 0.71`."""
        gap = self.gap.summary_gap
        ends = [end for end in (gap.low, gap.high) if end is not None]
        if (gap.value or 0.0) < 0:
            ends = [-end for end in reversed(ends)]
        return " and ".join(map(number, ends))

    @property
    def p(self) -> str:
        """The p-value of the headline's question, corrected for the family, in a sentence."""
        return p_equals(self.gap.p_summary)

    @property
    def doubts(self) -> list[str]:
        """Reasons to doubt a disparity."""
        own = self.gap.instrument
        doubts = [COULD_UNDO] if self.gap.survives_missing is False else []
        if own is not None and own.value is not None:
            doubts.append(f"the extractor itself makes {number(own.value)} of the names")
        return doubts

    @property
    def answers(self) -> str:
        """The query for the answers of the first group."""
        return answers_query(self.diagnosis, self.gap.a)

    @property
    def sentence(self) -> str:
        """The conclusion with its numbers."""
        read = feature_by_extractor(self.diagnosis.feature, self.diagnosis.extractor)
        gap, unmeasured = self.gap, self.diagnosis.is_unmeasured(self.gap)
        pair = (
            self.pair if unmeasured else compared_groups(gap.a, gap.b, gap.gap.value, gap.summary)
        )
        return f"{pair}, {read}: {self._conclusion_words()}"

    def _conclusion_words(self) -> str:
        """Return the headline of the comparison, or why it was not measured."""
        gap = self.gap
        if empty := [side for side in self.diagnosis.sides(gap) if side.is_empty]:
            return f"{NOT_MEASURED}: {' and '.join(side.in_words() for side in empty)}."
        shown, survives = estimate_text(gap.summary_gap), gap.survives_missing
        return headline(gap, shown, self.p_adjusted, survives_missing=survives)


def comparisons(diagnoses: Iterable[Diagnosis], run_id: str = "") -> list[ComparisonView]:
    """Return all comparisons, the strongest evidence first."""
    return sorted(comparison_views(diagnoses, run_id), key=lambda row: row.order)


def comparison_views(diagnoses: Iterable[Diagnosis], run_id: str = "") -> list[ComparisonView]:
    """Return all comparisons, in the order of the findings."""
    diagnoses = list(diagnoses)
    names = ModelNames.among(diagnoses)
    return [
        ComparisonView(diagnosis, gap, names.of(diagnosis), run_id)
        for diagnosis in diagnoses
        for gap in diagnosis.gaps
    ]


@dataclass(frozen=True)
class GroupRow:
    """A group with its diagnosis, and the name of the model among its neighbors."""

    diagnosis: Diagnosis
    group: GroupSummary
    model: str
    run_id: str = ""

    def answers(self) -> str:
        """Return the address of the group's answers."""
        return f"/runs/{self.run_id}/answers?{answers_query(self.diagnosis, self.group.group)}"


def group_rows(diagnoses: Iterable[Diagnosis], run_id: str = "") -> list[GroupRow]:
    """Return a row for each group, by diagnosis and then by rank."""
    diagnoses = list(diagnoses)
    names = ModelNames.among(diagnoses)
    return [
        GroupRow(diagnosis, group, names.of(diagnosis), run_id)
        for diagnosis in diagnoses
        for group in sorted(diagnosis.groups, key=_by_rank)
    ]


def _by_rank(group: GroupSummary) -> float:
    return group.rank.value or 0.0 if group.rank else 0.0


def title_of(diagnosis: Diagnosis) -> str:
    """Return the feature and the grouping of a diagnosis."""
    return f"{words(diagnosis.feature)} by {words(diagnosis.dimension)}"


def feature_by_extractor(feature: str, extractor: str) -> str:
    """Return a feature with its extractor, unless the feature already names it."""
    known = names_itself(extractor, feature)
    return feature if known else f"{feature} by the reading of {extractor}"


def groups_in_disparities(diagnosis: Diagnosis) -> set[str]:
    """Return the groups of all disparities."""
    gaps = (gap for gap in diagnosis.gaps if gap.summary is SummaryWord.DISPARITY)
    return {name for gap in gaps for name in (gap.a, gap.b)}


def ranked_groups(groups: Sequence[GroupSummary]) -> list[GroupSummary]:
    """Return the groups with a mean, the lowest first."""
    known = [group for group in groups if group.mean.value is not None]
    return sorted(known, key=lambda group: (group.mean.value or 0.0, group.group))


def answers_query(diagnosis: Diagnosis, group: str) -> str:
    """Return the query for a diagnosis's answers about a group."""
    return _answers_query(
        "" if group == THE_REST else group_name(diagnosis.dimension, group),
        diagnosis.target,
        diagnosis.scaffold,
        f"{diagnosis.extractor}.{diagnosis.feature}",
    )


@lru_cache(maxsize=10_000)
def _answers_query(group: str, target: str, scaffold: str, feature: str) -> str:
    """Build a query; a large matrix repeats the same ones thousands of times."""
    return AnswerFilter(group=group, target=target, scaffold=scaffold, feature=feature).query()
