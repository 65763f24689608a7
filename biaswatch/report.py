"""The verb `report`: a run's findings as a document to hand on."""

import asyncio
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from biaswatch.findings import interval, number, sentences
from biaswatch.interpret import DEFAULT, Judges, Profile, Writer, interpret_run
from biaswatch.interpretation_output import lines_of
from biaswatch.ll144 import as_ll144
from biaswatch.runs import Server, Token, connected
from shared.errors import UsageError

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


class Format(StrEnum):
    """What a report can be."""

    MD = "md"
    JSON = "json"
    CSV = "csv"
    LL144 = "ll144"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(report)


def report(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    form: Annotated[Format, typer.Option("--format", help="md, json, csv or ll144.")] = Format.MD,
    output: Annotated[Path | None, typer.Option("-o", help="A file, instead of printing.")] = None,
    interpret: Annotated[
        bool, typer.Option("--interpret", help="Have the findings interpreted in writing too.")
    ] = False,
    target: Writer = DEFAULT,
    judge: Judges = None,
    profile: Profile = "general",
    server: Server = None,
    token: Token = None,
) -> None:
    """Write down what a run found: a document, JSON, or the comparisons as CSV."""
    if interpret and form not in (Format.MD, Format.JSON):
        raise UsageError("An interpretation is written into md or json; other formats hold none.")

    async def work() -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
        async with connected(server, token) as client:
            run, found = await client.progress(run_id), await client.diagnoses(run_id)
            judges = judge or [DEFAULT]
            said = (
                await interpret_run(
                    client, run_id, found, writer=target, judges=judges, profile=profile
                )
                if interpret
                else []
            )
            return run, found, said

    run, diagnoses, said = asyncio.run(work())
    text = with_interpretations(WRITERS[form](run, diagnoses), said, form)
    if output is None:
        typer.echo(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise UsageError(f"{output} cannot be written ({error.strerror}).") from None
    typer.echo(f"Wrote {output}.", err=True)


def with_interpretations(text: str, said: Sequence[Mapping[str, Any]], form: Format) -> str:
    """Add what was written about the findings; a model's words are quoted as plain text."""
    if not said:
        return text
    if form is Format.JSON:
        return json.dumps({**json.loads(text), "interpretations": list(said)}, indent=2)
    parts = [text]
    for each in said:
        lines = [plain(line) for line in "\n".join(lines_of(each)).splitlines()]
        quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
        parts.append(f"## Interpretation: {plain(each['about'])}\n\n{quoted}\n")
    return "\n".join(parts)


def as_markdown(run: Mapping[str, Any], diagnoses: Sequence[Diagnosis]) -> str:
    """Give the report for people; what models and users wrote is shown as text, never as markup."""
    return "\n".join(_markdown(run, diagnoses)) + "\n"


def _markdown(run: Mapping[str, Any], diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    yield f"# {plain(run['suite'])}"
    yield ""
    yield (
        f"Run `{run['run_id']}` of {run['at'][:10]}, {run['stand']}: {run['responses']} of"
        f" {run['probes']} answers by {', '.join(map(plain, run['targets']))}."
    )
    if not diagnoses:
        yield ""
        yield "There is nothing to compare: no probe names a group."
        return
    yield ""
    yield "## Conclusions"
    yield ""
    for sentence in sentences(diagnoses):
        yield f"- {plain(sentence)}"
    yield ""
    yield _terms(diagnoses[0])
    for diagnosis in diagnoses:
        yield ""
        yield from _section(diagnosis)


def _terms(first: Diagnosis) -> str:
    return (
        f"A family of {first['family']} comparisons, Holm-corrected at level {first['alpha']:g},"
        f" tolerance {first['tolerance']:g}. The conclusions are about {plain(first['claim'])}. The"
        " unit is the prompt, or the counterfactual set where groups share sets."
    )


def _section(diagnosis: Diagnosis) -> Iterator[str]:
    level = f"{100 * (1 - diagnosis['alpha']):g} %"
    names = (diagnosis["target"], diagnosis["scaffold"], diagnosis["feature"])
    yield f"## {', '.join(map(plain, names))}, by {plain(diagnosis['dimension'])}"
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
        return f"Missing answers are not tested: {plain(str(absent.get('reason')))}."
    said = number(absent["p_value"], 2)
    return f"Missing answers differ between groups with p = {said} ({plain(absent['method'])})."


def _apart(each: Mapping[str, Any]) -> list[str]:
    return [
        each["metric"],
        number(each["value"]),
        each.get("group") or "",
        number(each.get("null_median")),
        number(each.get("p_value"), 2),
    ]


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        cells = [cell if cell in SAYS.values() else plain(cell) for cell in row]
        yield f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Give text that no reader of Markdown takes for markup."""
    one_line = "".join(c if c.isprintable() else " " for c in text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in one_line)


def as_json(run: Mapping[str, Any], diagnoses: Sequence[Diagnosis]) -> str:
    """Give everything as one object."""
    return json.dumps({"run": run, "diagnoses": diagnoses}, indent=2)


def as_csv(run: Mapping[str, Any], diagnoses: Sequence[Diagnosis]) -> str:
    """Give a row for each comparison."""
    said = io.StringIO()
    writer = csv.writer(said, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for each in diagnoses:
        where = [each[k] for k in ("target", "scaffold", "feature", "dimension")]
        for gap in each["gaps"]:
            found, effect = gap["gap"], gap.get("effect_size") or {}
            row = [run["run_id"], *where, gap["a"], gap["b"]]
            row += [found.get("value"), found.get("low"), found.get("high"), gap.get("p_value")]
            row += [gap.get("p_adjusted"), effect.get("value"), gap["verdict"], gap.get("reason")]
            writer.writerow([_cell(value) for value in row])
    return said.getvalue()


def _cell(value: object) -> object:
    """Keep a spreadsheet from taking text for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t" else value


WRITERS = {Format.MD: as_markdown, Format.JSON: as_json, Format.CSV: as_csv, Format.LL144: as_ll144}
