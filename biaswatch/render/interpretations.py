"""Interpretations for people: faults that code finds, scores of judges, the report."""

from collections.abc import Iterator, Sequence

from biaswatch.local.runs import InterpretedGap
from biaswatch.render.markdown import escape_md
from biaswatch.shared.contracts import Estimate, Evaluation, JudgeStanding, UncheckedSentence
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.tables import words


def sections(interpretations: Sequence[InterpretedGap]) -> Iterator[str]:
    """Yield the interpretations as quotes of plain text."""
    for row in interpretations:
        yield from (f"### {escape_md(row.about)}", "")
        for line in "\n".join(evaluation_lines(row.evaluation)).splitlines():
            yield f"> {escape_md(line)}" if line else ">"
        yield ""


def evaluation_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the evaluation as Markdown, and last the report as the model wrote it."""
    if evaluation.reason:
        yield evaluation.reason
        return
    yield from _faults(evaluation)
    yield from _checked(evaluation)
    yield ""
    yield from _scores(evaluation)
    yield from _judges(evaluation)
    yield from ("", "The report, as it was written:", "")
    yield evaluation.report or "(its text was purged)"


def summary(evaluation: Evaluation) -> str:
    """Return faults and scores in a sentence, or the reason for having none."""
    if evaluation.reason:
        return evaluation.reason
    faults, dimensions = len(evaluation.faults), len(evaluation.dimensions)
    checked = f"code finds {faults or 'no'} fault{'s' * (faults > 1)} in it"
    if not dimensions:
        return f"{checked}; no judge was asked."
    failed = sum(judge.fails is not None for judge in evaluation.judges)
    controls = f" {failed} of {len(evaluation.judges)} judges failed their controls."
    mean = f"mean score {number(evaluation.mean)} over {evaluation.mean_of} of {dimensions}"
    return f"{checked}; {mean} dimensions.{controls if failed else ''}"


def _faults(evaluation: Evaluation) -> Iterator[str]:
    count = len(evaluation.faults)
    if not count:
        yield "Code finds no fault in the report: headings, order, lengths, numbers, intervals."
        return
    yield f"Code finds {count} fault{'s' * (count > 1)} in the report:"
    for fault in evaluation.faults:
        where = f" ({fault.where})" if fault.where else ""
        yield f"- {fault.kind}: {fault.sentence}{where}"


def _checked(evaluation: Evaluation) -> Iterator[str]:
    """Yield the share of the report that code checked, and what is left to the reader."""
    marked, total, unchecked = evaluation.marked, evaluation.statements, evaluation.unchecked
    if marked:
        right = evaluation.marks_right
        yield f"{right} of {marked} numbers are what their writer marked them as."
    if total:
        yield f"{total - len(unchecked)} of {total} statements were checked by code."
        if unchecked:
            yield "Not checked, or not wholly, so read them yourself:"
            yield from (f"- {unchecked_words(sentence)}" for sentence in unchecked)


def unchecked_words(sentence: UncheckedSentence) -> str:
    """Return the place of an unchecked sentence, and its unchecked numbers."""
    place = f'sentence {sentence.number} under "{sentence.where}"'
    values = ", ".join(sentence.values)
    return f"{place}: what {values} stands for" if values else place


def _scores(evaluation: Evaluation) -> Iterator[str]:
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
    """Yield the judges' grades of known texts, and the votes that do not count."""
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
    graded = (
        f"{judge.judge}: {judge.right} of {judge.asked} graded rightly; padding moves its scores by"
        f" {_shift(judge.length_bias)}, a scale in reverse order by {_shift(judge.position_bias)}"
    )
    if judge.fails is None:
        return f"{graded}."
    counted = "counted all the same" if judge.counts else "not counted"
    return f"{graded}. It fails: {judge.fails}. Its votes are {counted}."


def _shift(shift: Estimate) -> str:
    if shift.value is None or shift.low is None or shift.high is None:
        return f"an unknown amount ({shift.reason})"
    return f"{number(shift.value)} [{number(shift.low)}, {number(shift.high)}]"


def dimension_words(name: str) -> str:
    """Return a graded dimension: `interval-odds_ratio` is the interval of odds ratio."""
    kind, _, measure = words(name).partition("-")
    return f"{kind} of {measure}" if measure else kind
