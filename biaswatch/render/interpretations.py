"""Interpretations for people: faults that code finds, scores of judges, the report."""

from collections.abc import Iterator, Sequence

from biaswatch.local.runs import InterpretedGap
from biaswatch.render.markdown import escape_md
from biaswatch.shared.contracts import Evaluation, JudgeStanding
from biaswatch.shared.formatting import number
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.reports import (
    phrase_span,
    phrases_of,
    prose_words,
    split_at_phrases,
)
from biaswatch.shared.presentation.tables import words


def sections(interpretations: Sequence[InterpretedGap]) -> Iterator[str]:
    """Yield the interpretations as quotes of plain text."""
    for row in interpretations:
        yield from (f"### {escape_md(row.about)}", "")
        for line in "\n".join(evaluation_lines(row.evaluation)).splitlines():
            yield f"> {escape_md(line)}" if line else ">"
        yield ""


def evaluation_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the evaluation as Markdown, and the report last."""
    if evaluation.reason:
        yield evaluation.reason
        return
    yield from _checks(evaluation)
    yield from ("", _report_title(evaluation), "")
    yield _underlined(evaluation)


def document_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the evaluation as a document; checks come last, but faults first."""
    yield from ("# Interpretation", "")
    if evaluation.reason or evaluation.failed or evaluation.faults:
        yield from evaluation_lines(evaluation)
        return
    yield from (_underlined(evaluation), "", "#### Checks", "")
    yield from _checks(evaluation)


def _checks(evaluation: Evaluation) -> Iterator[str]:
    """Yield the results of all checks: by code, by judges."""
    yield from _faults(evaluation)
    yield from _sentences_to_check(evaluation)
    yield from map(prose_words, evaluation.prose)
    yield ""
    yield from _scores(evaluation)
    yield from _judges(evaluation)
    yield from _reasoning(evaluation)


def _report_title(evaluation: Evaluation) -> str:
    failed = "The report failed its checks; the sentences that failed are left out:"
    return failed if evaluation.failed else "The report:"


def summary(evaluation: Evaluation) -> str:
    """Return faults and scores in a sentence, or the reason for having none."""
    if evaluation.reason:
        return evaluation.reason
    faults, dimensions = len(evaluation.faults), len(evaluation.dimensions)
    checked = f"code finds {faults or 'no'} fault{'s' * (faults > 1)} in it"
    if evaluation.failed:
        return f"it failed: {checked} after {evaluation.repairs} repairs."
    if not dimensions:
        return f"{checked}; no judge was asked."
    failed = sum(not all(k.believed for k in judge.kinds) for judge in evaluation.judges)
    controls = f" {failed} of {len(evaluation.judges)} judges failed controls."
    mean = f"mean score {number(evaluation.mean)} over {evaluation.mean_of} of {dimensions}"
    return f"{checked}; {mean} dimensions.{controls if failed else ''}"


def _faults(evaluation: Evaluation) -> Iterator[str]:
    """Yield the faults found by code, or their absence."""
    count = len(evaluation.faults)
    if evaluation.failed:
        yield f"THE REPORT FAILED: {count} faults remained after {evaluation.repairs} repairs."
    elif count:
        yield f"Code finds {count} fault{'s' * (count > 1)} in the report:"
    elif evaluation.unchecked or evaluation.hints:
        yield "Code finds no wrong number in the report."
    else:
        yield f"Every number and every claim of the report is right ({_repaired(evaluation)})."
    for fault in evaluation.faults:
        where = f" ({fault.where})" if fault.where else ""
        yield f"- {fault.kind}: {fault.sentence}{where}"


def _repaired(evaluation: Evaluation) -> str:
    repairs = evaluation.repairs
    return f"{repairs or 'no'} repair{'s' * (repairs != 1)}"


def _sentences_to_check(evaluation: Evaluation) -> Iterator[str]:
    """Yield hints, and the sentences for a person to check."""
    if evaluation.hints:
        yield "Look at these sentences; they may be wrong:"
        for hint in evaluation.hints:
            yield f"- {hint.kind}: {hint.sentence} {_quoted(evaluation, hint.start, hint.end)}"
    if evaluation.unchecked:
        yield "Read these yourself; code checks only the numbers of such sentences:"
        for sentence in evaluation.unchecked:
            yield f"- {_quoted(evaluation, sentence.start, sentence.end)}"


def _quoted(evaluation: Evaluation, start: int | None, end: int | None) -> str:
    """Return a part of the report in quotes."""
    if start is None or end is None or not evaluation.report:
        return ""
    return f"\u201c{evaluation.report[start:end]}\u201d"


def _reasoning(evaluation: Evaluation) -> Iterator[str]:
    """Yield the texts of judges, and objectionable phrases."""
    judgements = [j for j in evaluation.judgements if j.key in evaluation.reasoning]
    if judgements:
        yield from ("", "What the judges wrote:")
    for judgement in judgements:
        score = "not scored" if judgement.score is None else number(judgement.score)
        name = dimension_words(judgement.dimension)
        yield f"- {name}, {judgement.judge} ({score}): {evaluation.reasoning[judgement.key]}"
    for phrase in phrases_of(evaluation):
        missing = "" if phrase_span(phrase, evaluation.report) else " (not in the report)"
        yield f"- objectionable phrase: \u201c{phrase}\u201d{missing}"


def _underlined(evaluation: Evaluation) -> str:
    """Return the report with objectionable phrases between double underscores."""
    if evaluation.report is None:
        return "(its text was purged)"
    parts = split_at_phrases(evaluation, 0, len(evaluation.report))
    return "".join(f"__{text}__" if objectionable else text for text, objectionable in parts)


def _scores(evaluation: Evaluation) -> Iterator[str]:
    """Yield the mean score, that of each dimension, and the agreement."""
    dimensions = evaluation.dimensions
    if not dimensions:
        yield "No judge was asked."
        return
    yield (
        f"Mean score {number(evaluation.mean)} over {evaluation.mean_of} of {len(dimensions)}"
        " dimensions (0 to 1):"
    )
    for row in dimensions:
        spread = f", sd {number(row.sd)}" if row.sd is not None else ""
        scored = f"{row.scored} of {row.asked} scored{spread}"
        yield f"- {dimension_words(row.dimension)}: {number(row.mean)} ({scored})"
    for judged in evaluation.judgements:
        if judged.reason and judged.counts:
            yield f"- {dimension_words(judged.dimension)} by {judged.judge}: {judged.reason}"
    agreements = (("judges", evaluation.agreement), ("repeats", evaluation.repeat_agreement))
    for name, agreement in agreements:
        if agreement:
            why = f" ({agreement.reason})" if agreement.reason else ""
            alpha = number(agreement.alpha)
            yield f"Agreement of {name} (Krippendorff's alpha, interval): {alpha}{why}"
    if evaluation.disputed:
        yield f"The judges disagree on: {', '.join(map(dimension_words, evaluation.disputed))}"


def _judges(evaluation: Evaluation) -> Iterator[str]:
    """Yield the judges' grades of known texts, and votes without effect."""
    if not evaluation.judgements:
        return
    yield ""
    if evaluation.uncontrolled:
        yield f"The judges were not put to the test: {evaluation.uncontrolled}."
        return
    yield "The judges on texts whose grade is known:"
    yield from (f"- {_judge(judge)}" for judge in evaluation.judges)
    if evaluation.apart:
        yield "Votes that do not count:"
        for row in evaluation.apart:
            scored = f"{row.scored} of {row.asked} scored"
            yield f"- {dimension_words(row.dimension)}: {number(row.mean)} ({scored})"


def _judge(judge: JudgeStanding) -> str:
    """Return the dimensions passed by a judge, and the reasons for failures."""
    passed = [kind.kind for kind in judge.kinds if kind.believed and kind.reason is None]
    reasons = grouped(
        (
            f"{kind.reason}; {'counted' if judge.counts(kind.kind) else 'not counted'}",
            dimension_words(kind.kind),
        )
        for kind in judge.kinds
        if kind.reason
    )
    parts = [f"passes {', '.join(map(dimension_words, passed)) or 'no dimension'}"]
    parts += [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return f"{judge.judge}: {'. '.join(parts)}."


def dimension_words(name: str) -> str:
    """Return a graded dimension: `interval-odds_ratio` is the interval of odds ratio."""
    kind, _, measure = words(name).partition("-")
    return f"{kind} of {measure}" if measure else kind
