"""An interpretation as people read it: what code found, the scores, the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.render.tables import escape_md
from shared.formatting import number

Evaluation = Mapping[str, Any]


def as_markdown(interpretations: Sequence[Evaluation]) -> str:
    """Return what was written about the findings, a model's words quoted as plain text."""
    parts = []
    for each in interpretations:
        lines = [escape_md(line) for line in "\n".join(evaluation_lines(each)).splitlines()]
        quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
        parts.append(f"\n## Interpretation: {escape_md(each['about'])}\n\n{quoted}\n")
    return "".join(parts)


def evaluation_lines(found: Evaluation) -> Iterator[str]:
    """Return the evaluation as Markdown; the report comes last, as the model wrote it."""
    if found.get("reason"):
        yield str(found["reason"])
        return
    yield from _faults(found)
    yield ""
    yield from _scores(found)
    yield ""
    yield "The report, as it was written:"
    yield ""
    yield str(found.get("report") or "(its text was purged)")


def summary(found: Evaluation) -> str:
    """Return in a sentence what code and judges make of it, or why there is none."""
    if found.get("reason"):
        return str(found["reason"])
    faults, dimensions = len(found.get("faults") or []), len(found.get("dimensions") or [])
    checked = f"code finds {faults or 'no'} fault{'s' * (faults > 1)} in it"
    if not dimensions:
        return f"{checked}; no judge was asked."
    mean = number(found.get("mean"))
    return f"{checked}; mean score {mean} over {found['mean_of']} of {dimensions} dimensions."


def _faults(found: Evaluation) -> Iterator[str]:
    faults = found.get("faults") or []
    if not faults:
        yield "Code finds no fault in the report: headings, order, lengths, numbers, intervals."
        return
    yield f"Code finds {len(faults)} fault{'s' * (len(faults) > 1)} in the report:"
    for each in faults:
        where = f" ({each['where']})" if each.get("where") else ""
        yield f"- {each['kind']}: {each['sentence']}{where}"


def _scores(found: Evaluation) -> Iterator[str]:
    dimensions = found.get("dimensions") or []
    if not dimensions:
        yield "No judge was asked."
        return
    yield (
        f"Mean score {number(found.get('mean'))} over {found['mean_of']} of {len(dimensions)}"
        " dimensions (0 to 1):"
    )
    for each in dimensions:
        spread = f", sd {number(each['sd'])}" if each.get("sd") is not None else ""
        scored = f"{each['scored']} of {each['asked']} scored{spread}"
        yield f"- {each['dimension']}: {number(each.get('mean'))} ({scored})"
    yield from _reasons(found)
    for name, key in (("judges", "agreement"), ("repeats", "repeat_agreement")):
        if agreement := found.get(key):
            why = f" ({agreement['reason']})" if agreement.get("reason") else ""
            yield (
                f"Agreement of {name} (Krippendorff's alpha, interval):"
                f" {number(agreement.get('alpha'))}{why}"
            )
    if found.get("disputed"):
        yield f"The judges disagree on: {', '.join(found['disputed'])}"


def _reasons(found: Evaluation) -> Iterator[str]:
    for each in found.get("judgements") or []:
        if each.get("reason"):
            yield f"- {each['dimension']} by {each['judge']}: {each['reason']}"
