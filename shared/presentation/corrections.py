"""Findings as labels correct them: sentences, tables, and rows for JSON and frames."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.shared.analysis.labels.table_corrections import TableCorrection
from biaswatch.shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Correction,
    Estimate,
    LabelledComparison,
)
from biaswatch.shared.formatting import UNDEFINED, VERDICT_WORDS, number, number_name, p_equals
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    estimate_text,
    names,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.stats.labels.sampling import labels_needed, units_needed

WIDE_SHARE = 0.1
"""Least share of the scale that makes an interval wide."""
MAX_P_OF_UNEQUAL_ERROR = 0.05
"""Uncorrected level for the sentence that an instrument errs differently for two groups."""
SAMPLING_ASSUMPTION = (
    "Labels are assumed to be right, and drawn at random within each group (each crossing of"
    " groups, where several columns are compared): a choice of rows by hand makes another gap."
)


def correction_sentences(corrections: Sequence[Correction]) -> list[str]:
    """Return the effect of labels on the findings of a run, without repetitions."""
    several = len({(row.target, row.scaffold) for row in corrections}) > 1
    model_names = ModelNames.among(corrections)
    sentences = (
        f"{model_names.of(row)}: {sentence}" if several else sentence
        for row in corrections
        for sentence in _run_sentences(row)
    )
    return list(dict.fromkeys(sentences))  # several groupings rest on the same labels


def _run_sentences(correction: Correction) -> Iterator[str]:
    """Yield gaps, widths, errors and the basis of a correction."""
    extractor, feature = correction.extractor, correction.feature
    by = f"by the reading of {extractor}"
    for gap in correction.gaps:
        yield _gap_sentence(correction, gap, by, "labels")
    yield from width_sentences(correction.groups, correction.alpha)
    yield from _error_sentences(
        correction.gaps, extractor + " does not err alike", f"it reads {feature} "
    )
    if not correction.gaps:
        yield from (_mean_sentence(correction, group, by) for group in correction.groups)
    yield from (all_rounds_sentence(feature, row) for row in correction.over_rounds)
    people = "1 person" if correction.people == 1 else f"{correction.people} people"
    until = f"{correction.labelled_until:%Y-%m-%d}"
    basis = f"{feature}: {correction.labels} labels by {people} until {until}"
    if correction.agreement.value is not None:
        basis += f", agreement (alpha) {estimate_text(correction.agreement)}"
    if correction.doubtful_people:
        basis += f"; answers of {correction.doubtful_people} could be random"
    yield f"{basis}."


def table_correction_sentences(corrections: Iterable[TableCorrection]) -> Iterator[str]:
    """Yield the effect of labels on the gaps of a table."""
    for row in corrections:
        people = "" if row.people == 1 else f" by {row.people} people"
        sentences = [
            *(
                _gap_sentence(row, g, "by the readings", f"{row.labels} labels{people}")
                for g in row.gaps
            ),
            *width_sentences(row.groups, row.alpha),
            *_error_sentences(row.gaps, f"{row.feature} is not read alike", ""),
        ]
        where = f"{row.domain}: " if row.domain else ""
        yield from (f"{where}{sentence}" for sentence in sentences)


def _gap_sentence(
    correction: Correction | TableCorrection, gap: CorrectedGap, by: str, labels: str
) -> str:
    """Return a gap by readings and as labels correct it."""
    where = f"{gap.a} against {gap.b}, {correction.feature}"
    if gap.corrected.value is None:
        return f"{where}: not corrected, because {gap.corrected.reason}."
    family = f", one of {correction.family} comparisons" if correction.family > 1 else ""
    ratio = ""
    if gap.ratio is not None and gap.ratio.low is not None:
        read = f" (by the readings {number(gap.reading_ratio)})" if gap.reading_ratio else ""
        ratio = f" The rate of {gap.a} is {estimate_text(gap.ratio)} times that of {gap.b}{read}."
    return (
        f"{where}: {estimate_text(gap.reading)} {by}, {estimate_text(gap.corrected)} as {labels}"
        f" correct it: {VERDICT_WORDS[gap.verdict]} ({p_equals(gap.p_adjusted)}{family}).{ratio}"
    )


def _error_sentences(gaps: Iterable[CorrectedGap], errs: str, reads: str) -> Iterator[str]:
    """Yield the pairs of groups with different errors of an instrument."""
    for gap in gaps:
        if gap.bias_p is not None and gap.bias_p <= MAX_P_OF_UNEQUAL_ERROR:
            value = gap.bias_difference.value or 0.0
            amount = f"{number(abs(value))} {'lower' if value < 0 else 'higher'}"
            yield (
                f"{errs} for {gap.a} and {gap.b}: {reads}{amount} for {gap.a}, relative to labels,"
                f" than for {gap.b} ({p_equals(gap.bias_p)})."
            )


def _mean_sentence(correction: Correction, group: CorrectedGroup, by: str) -> str:
    where = f"{group.group}, {correction.feature}"
    if group.corrected.value is None:
        return f"{where}: not corrected, because {group.corrected.reason}."
    return (
        f"{where}: {estimate_text(group.reading)} {by}, {estimate_text(group.corrected)} as labels"
        " correct it."
    )


def width_sentences(groups: Iterable[CorrectedGroup], alpha: float) -> Iterator[str]:
    """Yield groups whose intervals are wide for want of prompts, and the remedy."""
    for row in groups:
        if row.widest_share is None or row.widest_share <= WIDE_SHARE or not row.units:
            continue
        repeats = row.answers / row.units
        answers = "one answer each" if repeats <= 1 else f"{repeats:.3g} answers each"
        prompts = units_needed(WIDE_SHARE, row.labelled / row.answers, alpha)
        labels = labels_needed(WIDE_SHARE, row.answers, row.units, alpha)
        instead = "" if labels is None else f", or {labels:,} labels of these"
        yield (
            f"The interval of {row.group} is wide because it has {row.units:,} prompts with"
            f" {answers} and {row.labelled:,} labels, which hardly differ from the readings: a"
            f" mean can lie {number(row.widest_share)} of the scale farther. About {prompts:,}"
            f" prompts, labelled in the same share{instead}, would bring it within a tenth."
        )


def all_rounds_sentence(feature: str, comparison: LabelledComparison) -> str:
    """Return the result of all labelled rounds of a monitor together."""
    gap = comparison.running
    where = f"{comparison.a} against {comparison.b}, {feature}"
    if gap.low is None:
        return f"{where}, over labelled rounds: {gap.reason}."
    bound = "" if gap.bound is None else f" of the {gap.bound:.2f} needed for an alarm"
    quiet = f" It raises no alarm: {gap.no_alarm}." if gap.no_alarm else ""
    return (
        f"{where}, over {gap.rounds} labelled {'round' if gap.rounds == 1 else 'rounds'}"
        f" ({gap.pairs} pairs): {estimate_text(gap)}, {VERDICT_WORDS[gap.verdict]}, valid at every"
        f" look (evidence {gap.log_e:.2f}{bound}).{quiet}"
    )


def correction_title(correction: Correction, model_names: ModelNames) -> str:
    """Return model, number and grouping of a correction."""
    feature = number_name(correction.extractor, correction.feature)
    return f"{model_names.of(correction)}: {feature} by {words(correction.dimension)}"


def error_table(groups: Iterable[CorrectedGroup], caption: str = "") -> Table:
    """Return the instrument's error in each group."""
    columns = (
        *names("group"),
        *texts("labelled", "by readings", "corrected", "reads too high by"),
        *texts("sensitivity", "specificity"),
    )
    rows = [
        (
            text_cell(group.group),
            text_cell(f"{group.labelled} of {group.drawn}"),
            *map(
                _estimate_without_reason,
                (group.reading, group.corrected, group.bias, group.sensitivity, group.specificity),
            ),
        )
        for group in groups
    ]
    return Table(caption, columns, tuple(rows))


def error_tables(corrections: Sequence[Correction]) -> list[Table]:
    """Return the instrument's error in each group, a table for each finding."""
    model_names = ModelNames.among(corrections)
    return [
        error_table(row.groups, f"The instrument's error: {correction_title(row, model_names)}")
        for row in corrections
    ]


def corrections_table(corrections: Sequence[Correction | TableCorrection]) -> Table:
    """Return a row for each comparison: by the readings, and as labels correct it."""
    columns = (
        *names("number", "groups"),
        *texts("by readings", "corrected by labels", "ratio", "verdict"),
    )
    of_run = [row for row in corrections if isinstance(row, Correction)]
    several = len({(row.target, row.scaffold) for row in of_run}) > 1
    model_names = ModelNames.among(of_run)
    rows = []
    for row in corrections:
        if isinstance(row, Correction):
            feature = f"{row.extractor}.{row.feature}"
            where = model_names.of(row) if several else ""
        else:
            feature, where = row.feature, row.domain
        rows += [
            (
                text_cell(feature),
                text_cell((f"{where}: " if where else "") + f"{gap.a} - {gap.b}"),
                *map(_interval_cell, (gap.reading, gap.corrected)),
                _estimate_without_reason(gap.ratio),
                text_cell(VERDICT_WORDS[gap.verdict]),
            )
            for gap in row.gaps
        ]
    return Table("Gaps as labels correct them", columns, tuple(rows))


def _interval_cell(estimate: Estimate) -> TableCell:
    text = estimate_text(estimate)
    return TableCell(text, text, estimate=estimate)


def _estimate_without_reason(estimate: Estimate | None) -> TableCell:
    """Return a number with its interval; sentences have the reason for none."""
    if estimate is None or estimate.low is None:
        return text_cell(UNDEFINED)
    return _interval_cell(estimate)
