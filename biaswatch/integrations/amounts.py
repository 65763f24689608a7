"""The numbers of a run as other tools log them: by comparison, and counts of verdicts."""

from collections.abc import Iterator, Mapping

from biaswatch.local.runs import RunResults
from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.presentation.findings import comparisons

Amounts = Mapping[str, float | None]
NO_DISPARITY_SHARE = "no_disparity_share"
"""Share of comparisons whose gap is shown to be within the tolerance; inconclusive ones are not."""


def amounts_of(results: RunResults) -> Iterator[tuple[str, Amounts]]:
    """Yield numbers by comparison, and those of the whole run under an empty name."""
    rows = comparisons(results.diagnoses)
    for row in rows:
        diagnosis, gap = row.diagnosis, row.gap
        feature = f"{diagnosis.extractor}.{diagnosis.feature}"
        where = f"{diagnosis.target} {diagnosis.scaffold}/{feature}/{diagnosis.dimension}"
        yield f"{where}: {gap.a} - {gap.b}", {
            "gap": gap.gap.value, "ci_low": gap.gap.low, "ci_high": gap.gap.high,
            "p_adjusted": gap.p_adjusted, "p_same_treatment": gap.p_same_treatment,
            "p_group_effect": gap.p_group_effect,
        }  # fmt: skip
    verdicts = [row.diagnosis.summary(row.gap) for row in rows]
    share = verdicts.count(SummaryWord.NO_DISPARITY) / len(rows) if rows else None
    yield "", {"comparisons": len(rows), **{word: verdicts.count(word) for word in SummaryWord}}
    yield "", {NO_DISPARITY_SHARE: share}
    yield "", {"answers": results.run.responses, "answers_asked": results.run.probes}
