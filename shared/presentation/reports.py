"""Words about written reports: phrases that judges object to, sentences against their claims."""

import re
from collections.abc import Iterator

from biaswatch.shared.contracts import Evaluation, ProseCheck


def phrases_of(evaluation: Evaluation) -> list[str]:
    """Return the distinct objectionable phrases."""
    listed = (phrase.strip() for phrases in evaluation.phrases.values() for phrase in phrases)
    return list(dict.fromkeys(phrase for phrase in listed if phrase))


def phrase_span(phrase: str, report: str | None) -> tuple[int, int] | None:
    """Return start and end of a phrase, whatever its case and line breaks."""
    words = re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE)
    match = words.search(report or "")
    return match.span() if match else None


def split_at_phrases(evaluation: Evaluation, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield parts of a report between two places, and whether judges object to them."""
    report = evaluation.report or ""
    places = [phrase_span(phrase, report) for phrase in phrases_of(evaluation)]
    position = start
    for first, last in sorted(place for place in places if place):
        first, last = max(first, position), min(last, end)
        if first < last:
            if report[position:first]:
                yield report[position:first], False
            yield report[first:last], True
            position = last
    if report[position:end]:
        yield report[position:end], False


def prose_words(check: ProseCheck) -> str:
    """Return how far sentences say what their claims say, with the judge's own errors."""
    erred = f"the judge errs on {check.control_errors} of {check.controls} known pairs"
    return (
        f"Sentences against their claims, by {check.judge}: {check.right} right, {check.wrong}"
        f" wrong, {check.unchecked} not checked ({check.reason or erred})."
    )
