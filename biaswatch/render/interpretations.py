"""An interpretation as people read it: what code found, the scores, the report."""

from collections.abc import Iterator, Sequence

from biaswatch.local.runs import InterpretedGap
from biaswatch.render.tables import escape_md
from biaswatch.shared.contracts import Estimate, Evaluation, JudgeStanding, UncheckedSentence
from biaswatch.shared.formatting import number


def sections(interpretations: Sequence[InterpretedGap]) -> Iterator[str]:
    """Return what was written about the findings, a model's words quoted as plain text."""
    for each in interpretations:
        yield from (f"### {escape_md(each.about)}", "")
        for line in "\n".join(evaluation_lines(each.evaluation)).splitlines():
            yield f"> {escape_md(line)}" if line else ">"
        yield ""


def evaluation_lines(found: Evaluation) -> Iterator[str]:
    """Return the evaluation as Markdown; the report comes last, as the model wrote it."""
    if found.reason:
        yield found.reason
        return
    yield from _faults(found)
    yield from _understood(found)
    yield ""
    yield from _scores(found)
    yield from _standings(found)
    yield ""
    yield "The report, as it was written:"
    yield ""
    yield found.report or "(its text was purged)"


def summary(found: Evaluation) -> str:
    """Return in a sentence what code and judges make of it, or why there is none."""
    if found.reason:
        return found.reason
    faults, dimensions = len(found.faults), len(found.dimensions)
    checked = f"code finds {faults or 'no'} fault{'s' * (faults > 1)} in it"
    if not dimensions:
        return f"{checked}; no judge was asked."
    mean = number(found.mean)
    failed = sum(each.fails is not None for each in found.judges)
    who = f" {failed} of {len(found.judges)} judges failed their controls." if failed else ""
    return f"{checked}; mean score {mean} over {found.mean_of} of {dimensions} dimensions.{who}"


def _faults(found: Evaluation) -> Iterator[str]:
    faults = found.faults
    if not faults:
        yield "Code finds no fault in the report: headings, order, lengths, numbers, intervals."
        return
    yield f"Code finds {len(faults)} fault{'s' * (len(faults) > 1)} in the report:"
    for each in faults:
        where = f" ({each.where})" if each.where else ""
        yield f"- {each.kind}: {each.sentence}{where}"


def _understood(found: Evaluation) -> Iterator[str]:
    """Say how much of the report code could check, and what is left to the reader."""
    if found.marked:
        yield f"{found.marks_right} of {found.marked} numbers are what their writer marked them as."
    if not found.statements:
        return
    checked = found.statements - len(found.unchecked)
    yield f"{checked} of {found.statements} statements were checked by code."
    if found.unchecked:
        yield "Not checked, or not wholly, so read them yourself:"
        yield from (f"- {unchecked_words(each)}" for each in found.unchecked)


def unchecked_words(each: UncheckedSentence) -> str:
    """Say which sentence was not checked, and which of its numbers where it is only those."""
    said = f'sentence {each.number} under "{each.where}"'
    return f"{said}: what {', '.join(each.values)} stands for" if each.values else said


def _scores(found: Evaluation) -> Iterator[str]:
    dimensions = found.dimensions
    if not dimensions:
        yield "No judge was asked."
        return
    yield (
        f"Mean score {number(found.mean)} over {found.mean_of} of {len(dimensions)}"
        " dimensions (0 to 1):"
    )
    for each in dimensions:
        spread = f", sd {number(each.sd)}" if each.sd is not None else ""
        scored = f"{each.scored} of {each.asked} scored{spread}"
        yield f"- {dimension_words(each.dimension)}: {number(each.mean)} ({scored})"
    for judged in found.judgements:
        if judged.reason and judged.counts:
            yield f"- {dimension_words(judged.dimension)} by {judged.judge}: {judged.reason}"
    for name, agreement in (("judges", found.agreement), ("repeats", found.repeat_agreement)):
        if agreement:
            why = f" ({agreement.reason})" if agreement.reason else ""
            yield (
                f"Agreement of {name} (Krippendorff's alpha, interval):"
                f" {number(agreement.alpha)}{why}"
            )
    if found.disputed:
        yield f"The judges disagree on: {', '.join(map(dimension_words, found.disputed))}"


def _standings(found: Evaluation) -> Iterator[str]:
    """Say what the known texts show of each judge, and show apart the votes that do not count."""
    if not found.judgements:
        return
    yield ""
    if found.uncontrolled:
        yield f"The judges were not put to the test: {found.uncontrolled}."
        return
    yield "The judges on texts whose grade is known:"
    yield from (f"- {_standing(each)}" for each in found.judges)
    if found.apart:
        yield "Votes that do not count:"
        for each in found.apart:
            scored = f"{each.scored} of {each.asked} scored"
            yield f"- {dimension_words(each.dimension)}: {number(each.mean)} ({scored})"


def dimension_words(name: str) -> str:
    """Return what is graded in words: `interval-odds_ratio` is the interval of the odds ratio."""
    kind, _, measure = name.replace("_", " ").partition("-")
    return f"{kind} of {measure}" if measure else kind


def _standing(each: JudgeStanding) -> str:
    graded = f"{each.judge}: {each.right} of {each.asked} graded rightly"
    said = f"{graded}; padding moves its scores by {_shift(each.length_bias)}, a scale listed the"
    said += f" other way round by {_shift(each.position_bias)}"
    if each.fails is None:
        return f"{said}."
    counted = "counted all the same" if each.counts else "not counted"
    return f"{said}. It fails: {each.fails}. Its votes are {counted}."


def _shift(shift: Estimate) -> str:
    if shift.value is None or shift.low is None or shift.high is None:
        return f"an unknown amount ({shift.reason})"
    return f"{number(shift.value)} [{number(shift.low)}, {number(shift.high)}]"
