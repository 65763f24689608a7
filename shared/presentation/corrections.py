"""Corrections in words: the same sentences in a terminal, a report and on a page."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Correction,
    Estimate,
    LabelledComparison,
)
from biaswatch.shared.formatting import UNDEFINED, VERDICT_WORDS, interval, number, p_equals
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.stats.labels.sampling import labels_needed, units_needed

TENTH = 0.1
"""Of the scale: an interval that reaches no farther says something."""
DIFFERS_AT = 0.05
"""The level, by itself, at which an instrument is said to err otherwise for two groups."""


def correction_sentences(corrections: Sequence[Correction]) -> list[str]:
    """Return what labels make of the findings of a run, finding by finding, each said once."""
    several, names = (
        len({(each.target, each.scaffold) for each in corrections}) > 1,
        ModelNames.among(corrections),
    )
    said = (
        f"{names.of(each)}: {sentence}" if several else sentence
        for each in corrections
        for sentence in _sentences(each)
    )
    return list(dict.fromkeys(said))  # several groupings rest on the same labels


def _sentences(found: Correction) -> Iterator[str]:
    for gap in found.gaps:
        yield _gap(found, gap)
    yield from width_sentences(found.groups, found.alpha)
    for gap in found.gaps:
        if gap.bias_p is not None and gap.bias_p <= DIFFERS_AT:
            yield (
                f"{found.extractor} does not err alike for {gap.a} and {gap.b}: it reads"
                f" {found.feature} {amount(gap.bias_difference)} for {gap.a}, beside what people"
                f" say, than for {gap.b} ({p_equals(gap.bias_p)})."
            )
    if not found.gaps:
        yield from (_mean(found, group) for group in found.groups)
    yield from (running_sentence(found.feature, each) for each in found.over_rounds)
    yield basis(found)


def width_sentences(groups: Iterable[CorrectedGroup], alpha: float) -> Iterator[str]:
    """Say of groups whose intervals are wide because they have few prompts what it would take."""
    for each in groups:
        if each.widest_share is None or each.widest_share <= TENTH or not each.units:
            continue
        repeats = each.answers / each.units
        answers = "one answer each" if repeats <= 1 else f"{repeats:.3g} answers each"
        needed = units_needed(TENTH, each.labelled / each.answers, alpha)
        more = labels_needed(TENTH, each.answers, each.units, alpha)
        instead = "" if more is None else f", or {more:,} labels of these"
        yield (
            f"The interval of {each.group} is wide because it has {each.units:,} prompts with"
            f" {answers} and {each.labelled:,} labels, which hardly differ from what was read: a"
            f" mean can lie {number(each.widest_share)} of the scale farther. About {needed:,}"
            f" prompts, labelled in the same share{instead}, would bring it within a tenth."
        )


def _mean(found: Correction, group: CorrectedGroup) -> str:
    """Say what becomes of a mean that is compared with no other."""
    where = f"{group.group}, {found.feature}"
    if group.corrected.value is None:
        return f"{where}: not corrected, because {group.corrected.reason}."
    return (
        f"{where}: {estimate(group.reading)} by the reading of {found.extractor},"
        f" {estimate(group.corrected)} as labels correct it."
    )


def _gap(found: Correction, gap: CorrectedGap) -> str:
    where = f"{gap.a} against {gap.b}, {found.feature}"
    if gap.corrected.value is None:
        return f"{where}: not corrected, because {gap.corrected.reason}."
    verdict = VERDICT_WORDS[gap.verdict]
    family = f", one of {found.family}" if found.family > 1 else ""
    ratio = ""
    if gap.ratio is not None and gap.ratio.low is not None:
        read = f" (by the readings {number(gap.reading_ratio)})" if gap.reading_ratio else ""
        ratio = f" The rate of {gap.a} is {estimate(gap.ratio)} times that of {gap.b}{read}."
    return (
        f"{where}: {estimate(gap.reading)} by the reading of {found.extractor},"
        f" {estimate(gap.corrected)} as labels correct it: {verdict}"
        f" ({p_equals(gap.p_adjusted)}{family}).{ratio}"
    )


def running_sentence(feature: str, found: LabelledComparison) -> str:
    """Say what all labelled rounds of a monitor show together."""
    gap = found.running
    where = f"{found.a} against {found.b}, {feature}"
    if gap.low is None:
        return f"{where}, over labelled rounds: {gap.reason}."
    bound = "" if gap.bound is None else f" of the {gap.bound:.2f} that alarm"
    quiet = f" It raises no alarm: {gap.no_alarm}." if gap.no_alarm else ""
    return (
        f"{where}, over {gap.rounds} labelled {'round' if gap.rounds == 1 else 'rounds'}"
        f" ({gap.pairs} pairs): {estimate(gap)}, {VERDICT_WORDS[gap.verdict]}, however often one"
        f" looks (evidence {gap.log_e:.2f}{bound}).{quiet}"
    )


def basis(found: Correction) -> str:
    """Return what a correction rests on: labels, people, agreement, until when."""
    people = "1 person" if found.people == 1 else f"{found.people} people"
    said = (
        f"{found.feature}: {found.labels} labels by {people} until {found.labelled_until:%Y-%m-%d}"
    )
    if found.agreement.value is not None:
        said += f", agreement (alpha) {estimate(found.agreement)}"
    if found.doubtful_people:
        said += f"; {found.doubtful_people} answered so that it could have been at random"
    return f"{said}."


def error_rows(found: Correction) -> Iterable[tuple[str, ...]]:
    """Return the instrument's error in each group, as cells of a table."""
    return [error_row(each) for each in found.groups]


ERROR_COLUMNS = (
    "group", "labelled", "by readings", "corrected", "reads too high by", "sensitivity",
    "specificity",
)  # fmt: skip


def error_row(group: CorrectedGroup) -> tuple[str, ...]:
    """Return the instrument's error in one group, as cells."""
    return (
        group.group,
        f"{group.labelled} of {group.drawn}",
        _cell(group.reading),
        _cell(group.corrected),
        _cell(group.bias),
        _cell(group.sensitivity),
        _cell(group.specificity),
    )


def _cell(found: Estimate | None) -> str:
    """Return a number with its interval; why there is none stands in the sentences."""
    return estimate(found) if found is not None and found.low is not None else UNDEFINED


def estimate(found: Estimate) -> str:
    """Return a number with its interval, or why it has none."""
    return interval(found.value, found.low, found.high, found.reason)


def amount(found: Estimate) -> str:
    """Return how much higher or lower: `0.2 higher`."""
    value = found.value or 0.0
    return f"{number(abs(value))} {'lower' if value < 0 else 'higher'}"
