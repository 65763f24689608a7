"""What a run found as Markdown and as CSV; nothing anybody wrote becomes markup or a formula."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biaswatch.local.run_results import RunResults
from biaswatch.render import assessments
from biaswatch.render.findings import beside, instrument_gaps, interval, number, sentences
from biaswatch.render.interpretations import lines_of
from biaswatch.render.tables import escape_md, markdown_table

Diagnosis = Mapping[str, Any]
SAYS = {
    "disparity": "**disparity**",
    "no_disparity": "no disparity beyond the tolerance",
    "not_enough_evidence": "not enough evidence",
}

CSV_COLUMNS = (
    *("run", "target", "scaffold", "feature", "dimension", "a", "b"),
    *("gap", "low", "high", "p_value", "p_adjusted", "effect_size", "verdict", "reason"),
)


def as_markdown(outcome: RunResults) -> str:
    """Return the report for people; what models and users wrote is text, never markup."""
    return "\n".join([*_markdown(outcome.run, outcome.diagnoses), *_beyond(outcome)]) + "\n"


def _beyond(outcome: RunResults) -> Iterator[str]:
    if not outcome.assessments:
        return
    yield ""
    yield "## Beyond the gaps"
    yield ""
    yield from _table(assessments.HEAD, map(assessments.overview, outcome.assessments))
    for each in outcome.assessments:
        for title, head, rows in assessments.parts(each):
            yield ""
            yield f"### {escape_md(assessments.name_of(each))}: {title}"
            yield ""
            yield from _table(head, rows)


def _markdown(run: Mapping[str, Any], diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    yield f"# {escape_md(run['suite'])}"
    yield ""
    yield (
        f"Run `{run['run_id']}` of {run['at'][:10]}, {run['stand']}: {run['responses']} of"
        f" {run['probes']} answers by {', '.join(map(escape_md, run['targets']))}."
    )
    if not diagnoses:
        yield ""
        yield "There is nothing to compare: no probe names a group."
        return
    yield ""
    yield "## Conclusions"
    yield ""
    for sentence in sentences(diagnoses):
        yield f"- {escape_md(sentence)}"
    yield ""
    yield _terms(diagnoses[0])
    for diagnosis in diagnoses:
        yield ""
        yield from _section(diagnosis)


def _terms(first: Diagnosis) -> str:
    return (
        f"A family of {first['family']} comparisons, Holm-corrected at level {first['alpha']:g},"
        f" tolerance {first['tolerance']:g}. The conclusions are about {escape_md(first['claim'])}."
    )


def _section(diagnosis: Diagnosis) -> Iterator[str]:
    level = f"{100 * (1 - diagnosis['alpha']):g} %"
    names = (diagnosis["target"], diagnosis["scaffold"], diagnosis["feature"])
    yield f"## {', '.join(map(escape_md, names))}, by {escape_md(diagnosis['dimension'])}"
    yield ""
    yield from _table(
        ("groups", f"gap [{level}]", "p", "p, corrected", "effect size", "impact ratio", "verdict"),
        (_gap(gap) for gap in diagnosis["gaps"]),
    )
    yield ""
    yield from _table(
        ("group", "prompts", "answers", "missing", f"mean [{level}]", f"selected [{level}]"),
        (_group(group) for group in diagnosis["groups"]),
    )
    if said := [*beside(diagnosis), *instrument_gaps(diagnosis)]:
        yield ""
        yield from (f"- {escape_md(sentence)}" for sentence in said)
    if absent := diagnosis.get("missing"):
        yield ""
        yield _absence(absent)
    if apart := [
        each for each in diagnosis.get("disparities", ()) if each.get("value") is not None
    ]:
        yield ""
        yield from _table(
            ("all groups", "value", "held by", "by chance (median)", "p"),
            (_apart(each) for each in apart),
        )


def _gap(gap: Mapping[str, Any]) -> list[str]:
    return [
        f"{gap['a']} - {gap['b']}",
        interval(gap["gap"]),
        number(gap.get("p_value"), 2),
        number(gap.get("p_adjusted"), 2),
        interval(gap["effect_size"]) if gap.get("effect_size") else "",
        interval(gap["impact_ratio"]) if gap.get("impact_ratio") else "",
        SAYS[gap["verdict"]],
    ]


def _group(group: Mapping[str, Any]) -> list[str]:
    reasons = ", ".join(f"{n} {why}" for why, n in group["missing_reasons"].items())
    rate = group.get("selection_rate")
    return [
        group["group"],
        str(group["units"]),
        str(group["responses"]),
        f"{group['missing']}" + (f" ({reasons})" if reasons else ""),
        interval(group["mean"]),
        interval(rate) if rate else "",
    ]


def _absence(absent: Mapping[str, Any]) -> str:
    if absent.get("p_value") is None:
        return f"Missing answers are not tested: {escape_md(str(absent.get('reason')))}."
    said = number(absent["p_value"], 2)
    return f"Missing answers differ between groups with p = {said} ({escape_md(absent['method'])})."


def _apart(each: Mapping[str, Any]) -> list[str]:
    return [
        each["metric"],
        number(each["value"]),
        each.get("group") or "",
        number(each.get("null_median")),
        number(each.get("p_value"), 2),
    ]


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    return markdown_table(head, rows, verbatim=SAYS.values())


def as_csv(outcome: RunResults) -> str:
    """Return a row for each comparison."""
    said = io.StringIO()
    writer = csv.writer(said, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for each in outcome.diagnoses:
        where = [each[k] for k in ("target", "scaffold", "feature", "dimension")]
        for gap in each["gaps"]:
            found, effect = gap["gap"], gap.get("effect_size") or {}
            row = [outcome.run["run_id"], *where, gap["a"], gap["b"]]
            row += [found.get("value"), found.get("low"), found.get("high"), gap.get("p_value")]
            row += [gap.get("p_adjusted"), effect.get("value"), gap["verdict"], gap.get("reason")]
            writer.writerow([_cell(value) for value in row])
    return said.getvalue()


def _cell(value: object) -> object:
    """Keep a spreadsheet from taking text for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t" else value


def interpretations_as_markdown(outcome: RunResults) -> str:
    """Return what was written about the findings, a model's words quoted as plain text."""
    parts = []
    for each in outcome.interpretations:
        lines = [escape_md(line) for line in "\n".join(lines_of(each)).splitlines()]
        quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
        parts.append(f"\n## Interpretation: {escape_md(each['about'])}\n\n{quoted}\n")
    return "".join(parts)
