"""The verb `report`: a run's findings as a document to hand on."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from biaswatch.cli.interpret import DEFAULT, Judges, Profile, Writer, interpret_run
from biaswatch.local.gateway_connection import Server, Token, connected
from biaswatch.local.run_results import RunResults, run_results
from biaswatch.render import study_report
from biaswatch.render.documents import as_csv, as_markdown, interpretations_as_markdown
from biaswatch.render.figures import draw
from biaswatch.render.ll144 import as_ll144
from biaswatch.render.output import write_document
from biaswatch.render.web_page import as_page
from shared.errors import UsageError


class ReportFormat(StrEnum):
    """What a report can be."""

    MD = "md"
    HTML = "html"
    """One page with its pictures inside."""
    JSON = "json"
    CSV = "csv"
    JSONL = "jsonl"
    """The flagged pairs, one a line."""
    LL144 = "ll144"
    """The tables of New York City's Local Law 144."""


WITH_PAIRS = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON, ReportFormat.JSONL}
WITH_WORDS = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON}


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(report)


def report(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    form: Annotated[
        ReportFormat,
        typer.Option("--format", help="md, html, json, csv, ll144, or jsonl for flagged pairs."),
    ] = ReportFormat.MD,
    output: Annotated[Path | None, typer.Option("-o", help="A file, instead of printing.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for pictures of it, as PNG and SVG.")
    ] = None,
    interpret: Annotated[
        bool, typer.Option("--interpret", help="Have the findings interpreted in writing too.")
    ] = False,
    target: Writer = DEFAULT,
    judge: Judges = None,
    profile: Profile = "general",
    server: Server = None,
    token: Token = None,
) -> None:
    """Write down what a run found: a document, a page, JSON, CSV, flagged pairs as JSONL."""
    if interpret and form not in WITH_WORDS:
        raise UsageError(
            "An interpretation is written into md, html or json; other formats hold none."
        )

    async def work() -> tuple[RunResults, list[dict[str, Any]]]:
        async with connected(server, token, asking=interpret) as client:
            flagged = await client.flagged(run_id) if form in WITH_PAIRS else []
            outcome = await run_results(client, run_id)
            if interpret:
                judges = judge or [DEFAULT]
                said = await interpret_run(
                    client, run_id, outcome.diagnoses, writer=target, judges=judges, profile=profile
                )
                outcome = replace(outcome, interpretations=said)
            return outcome, flagged

    outcome, flagged = asyncio.run(work())
    if figures is not None:
        for path in draw(outcome, figures):
            typer.echo(f"Wrote {path}.", err=True)
    write_document(written(form, outcome, flagged), output)


def written(form: ReportFormat, outcome: RunResults, flagged: Sequence[Mapping[str, Any]]) -> str:
    """Return the report in this form."""
    match form:
        case ReportFormat.JSONL:
            return study_report.as_jsonl(flagged)
        case ReportFormat.JSON:
            return json.dumps({**outcome.as_json(), "flagged": list(flagged)}, indent=2)
        case ReportFormat.CSV:
            return as_csv(outcome)
        case ReportFormat.LL144:
            return as_ll144(outcome.run, outcome.diagnoses)
        case ReportFormat.MD:
            return _document(outcome, flagged)
        case ReportFormat.HTML:
            return _page(outcome, flagged)


def _document(outcome: RunResults, flagged: Sequence[Mapping[str, Any]]) -> str:
    studies = study_report.as_markdown(outcome.studies, flagged)
    return as_markdown(outcome) + studies + interpretations_as_markdown(outcome)


def _page(outcome: RunResults, flagged: Sequence[Mapping[str, Any]]) -> str:
    with TemporaryDirectory() as folder:
        pictures = [path for path in draw(outcome, Path(folder)) if path.suffix == ".svg"]
        return as_page(str(outcome.run["suite"]), _document(outcome, flagged), pictures)
