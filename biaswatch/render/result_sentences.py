"""The result of a diagnosis in sentences, for terminals, workbooks and pictures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from biaswatch.render.findable import findable_sentences
from biaswatch.render.table_rows import (
    Parts,
    Row,
    comparison_row_remarks,
    is_shift,
    unit_sentences,
    verdict_counts,
)
from biaswatch.shared.formatting import counted, coverage, number, p_equals
from biaswatch.shared.presentation.interactions import interaction_sentences
from biaswatch.shared.presentation.tables import words

MAX_MEANS, MORE_GROUPS = 8, "{} groups between"


def result_facts(parts: Parts, about: Row, warnings: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of the terminal, each with its subject."""
    compared = parts["comparisons"]
    features = dict.fromkeys(row["feature"] for row in compared)
    verdicts = comparison_row_remarks(compared, about, everything=False)
    sentences = {
        "result": [verdict_counts(compared)],
        "verdicts": [*verdicts, *undefined_sentences(compared)],
        "power": findable_sentences(compared, about),
        "intervals": interval_sentences(compared, about),
        "interactions": interaction_sentences(parts.get("interactions", []), about["alpha"]),
        "means": mean_sentences(parts["summary"], features, calibrated=about["calibrated"]),
        "missing answers": missing_sentences(parts["missingness"]),
        "units": unit_sentences(about),
        "warning": warnings,
    }
    for subject, about_it in sentences.items():
        yield from ((subject, sentence) for sentence in about_it)


def interval_sentences(rows: Sequence[Row], about: Row) -> Iterator[str]:
    """Yield the coverage of the intervals, and how comparisons are corrected."""
    if about["family"] + about["error_rates_family"] < 2:
        yield f"{coverage(about['alpha'])} intervals."
        return
    families = [counted(about["family"], "comparison")]
    if about["error_rates_family"]:
        families.append(f"{counted(about['error_rates_family'], 'comparison')} of error rates")
    joined = " and, as a second family, ".join(families)
    level = coverage(about["alpha"])
    if any(map(is_shift, rows)):
        yield f"{level} intervals and p-values are corrected for {joined}."
    elif about["correction"] == "bonferroni":
        yield f"{level} intervals and p-values are corrected for {joined} (Bonferroni)."
    else:
        yield f"Only p-values are corrected for {joined} ({about['correction']})."
        yield f"{level} intervals are each for one comparison."
    if extended := sum(_is_extended(row, about["tolerance"]) for row in rows):
        end = "ends" if extended == 1 else "end"
        where = f"the tolerance of {number(about['tolerance'])}" if about["tolerance"] else "0"
        yield (
            f"{counted(extended, 'interval')} {end} at {where}, because the adjusted p-value shows"
            " no gap beyond."
        )


def _is_extended(row: Row, tolerance: float) -> bool:
    """Return whether an interval ends at the tolerance because its p-value shows no disparity."""
    low, high = row["ci"] or (None, None)
    return not is_shift(row) and (low == tolerance or high == -tolerance)


def undefined_sentences(rows: Sequence[Row], *, everything: bool = False) -> Iterator[str]:
    """Yield the reasons for gaps without interval and for undefined effect sizes."""
    gaps = Counter(row["reason"] for row in rows if row["ci"] is None and row["gap"] is not None)
    effects = Counter(row["effect_size_reason"] for row in rows if row["effect_size"] is None)
    undefined = [("a gap without interval", gaps), ("no effect size", effects)]
    for kind, reasons in undefined if everything else undefined[:1]:
        for reason, count in reasons.items():
            has = "has" if count == 1 else "have"
            yield f"{count} of {counted(len(rows), 'comparison')} {has} {kind}: {reason}."


def mean_sentences(
    rows: Sequence[Row], features: Iterable[str], *, calibrated: bool = False
) -> Iterator[str]:
    """Yield the first statistic of groups for some features, the largest first.

    Of `calibrated` values it is the distance from a baseline.

    Of more than `MAX_MEANS` groups, half of them are the highest and half the lowest.
    """
    for feature in features:
        members = [row for row in rows if row["feature"] == feature]
        measured = [row for row in members if row["value"] is not None]
        name = members[0]["statistic"] if members else ""
        values = sorted(
            (row for row in measured if row["statistic"] == name), key=lambda row: -row["value"]
        )
        if values:
            listed = [
                f"{', '.join(filter(None, [row['domain'], *row['group'].values()]))}"
                f" {number(row['value'])} ({counted(row['n'], 'row')})"
                for row in values
            ]
            if left := max(len(listed) - MAX_MEANS, 0):
                half = MAX_MEANS // 2
                listed[half:-half] = [MORE_GROUPS.format(left)]
            above = " minus its baseline" if calibrated else ""
            yield f"{words(name).capitalize()} {feature}{above}: {'; '.join(listed)}."


def missing_sentences(rows: Iterable[Row], most_p: float = 1.0) -> Iterator[str]:
    """Yield tests for equal shares of missing answers, with p-values up to `most_p`."""
    for row in rows:
        if row["p_value"] is not None and row["p_value"] <= most_p:
            domain = f"{row['domain']}: are" if row["domain"] else "Are"
            where = f"{domain} answers of {row['feature']} missing alike in each"
            yield f"{where} {row['dimension']}? {p_equals(row['p_value'])} ({row['method']})."
