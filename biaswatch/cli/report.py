"""The verb `report`: a run's findings as a document to hand on."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from biaswatch.checks import checked_diagnoses
from biaswatch.cli.interpret import DEFAULT, Judges, Profile, Writer, interpret_run
from biaswatch.cli.options import (
    Controls,
    CountFailed,
    FailOn,
    MinMeasured,
    Server,
    Token,
    check_rule,
    end_check,
)
from biaswatch.exporting.answers import (
    Row,
    exported_rows,
    in_store,
    runs_named,
    write_rows,
    writer_of,
)
from biaswatch.local.connections import connected
from biaswatch.local.runs import RunResults, run_results, whole_run_id, with_background
from biaswatch.render.figures import can_draw, check_can_draw, draw
from biaswatch.render.report import ReportFormat, picture_lines, report_text
from biaswatch.render.terminal import write_document
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_views import FlaggedPair

BY_ENDING = {each.value for each in ReportFormat} - {ReportFormat.LL144.value}
WITH_PAIRS = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON, ReportFormat.JSONL}
WITH_BACKGROUND = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON}
"""They say where the numbers come from."""
NO_PICTURES = (
    "The page has no pictures, because matplotlib is not installed: install biaswatch with the"
    " extra `figures` (in a checkout, make extras)."
)
WITH_WORDS = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON}


def report(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    given_form: Annotated[
        ReportFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="md, html, json, csv, ll144, or jsonl for flagged pairs.",
            show_default="by the ending of -o, or md",
        ),
    ] = None,
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
    controls: Controls = True,
    count_failed_judges: CountFailed = False,
    fail_on: FailOn = None,
    min_measured: MinMeasured = None,
    server: Server = None,
    token: Token = None,
) -> None:
    """Write down what a run found: a document, a page, JSON, CSV, flagged pairs as JSONL."""
    rule = check_rule(fail_on, min_measured)
    form = given_form or format_of(output)
    _check_possible(form, interpret=interpret, drawn=figures is not None)

    async def work() -> tuple[RunResults, list[FlaggedPair]]:
        async with connected(server, token, with_models=interpret) as client:
            whole = await whole_run_id(client, run_id)
            flagged = (
                await client.flagged(whole, count_failed=count_failed_judges)
                if form in WITH_PAIRS
                else []
            )
            results = await run_results(client, whole, count_failed=count_failed_judges)
            if form in WITH_BACKGROUND or figures is not None:
                results = await with_background(client, results)
            if form is ReportFormat.LL144:
                results = replace(results, impact=await client.impact_ratios(whole, {}))
            if interpret:
                judges = judge or [DEFAULT]
                said = await interpret_run(
                    client, whole, results.diagnoses, writer=target, judges=judges,
                    profile=profile, controls=controls, count_failed_judges=count_failed_judges,
                )  # fmt: skip
                results = replace(results, interpretations=said)
            return results, flagged

    results, flagged = asyncio.run(work())
    drawn = draw(results, figures) if figures is not None else []
    for path in drawn:
        typer.echo(f"Wrote {path}.", err=True)
    if form is ReportFormat.HTML and not can_draw():
        typer.echo(NO_PICTURES, err=True)
    pictures = picture_lines([each for each in drawn if each.suffix == ".svg"], output)
    write_document(report_text(form, results, flagged, pictures), output)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)


def format_of(output: Path | None) -> ReportFormat:
    """Return the format that a file's ending says; a document where it says none."""
    ending = output.suffix.lower().removeprefix(".") if output else ""
    return ReportFormat(ending) if ending in BY_ENDING else ReportFormat.MD


def _check_possible(form: ReportFormat, *, interpret: bool, drawn: bool) -> None:
    """Refuse what cannot be written, before anything is read or asked."""
    if interpret and form not in WITH_WORDS:
        raise UsageError(
            "An interpretation is written into md, html or json; other formats hold none."
        )
    if drawn:
        check_can_draw()


def export(
    source: Annotated[
        str, typer.Argument(metavar="RUN | MONITOR | SOURCE", help="What is exported.")
    ],
    output: Annotated[Path, typer.Option("-o", help="A .parquet, .csv or .jsonl file.")],
    since: Annotated[
        datetime | None, typer.Option(help="Of a monitor or live system, from then on (UTC).")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> None:
    """Write every answer with its groups, facts, baselines and measurements to a file."""
    writer_of(output)  # a wrong ending is told before anything is read
    begin = since if since is None or since.tzinfo else since.replace(tzinfo=UTC)
    count = asyncio.run(_export(source, output, begin, server, token))
    typer.echo(f"Wrote {count} answers to {output}.", err=True)


async def _export(
    source: str, output: Path, since: datetime | None, server: str | None, token: str | None
) -> int:
    async with connected(server, token, with_models=False) as client:
        runs, left_out = in_store(await runs_named(client, source, since))
        if left_out:
            typer.echo(left_out, err=True)
        with Progress(console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task("exporting", total=None)

            async def counted() -> AsyncIterator[Row]:
                async for row in exported_rows(client, runs):
                    bars.advance(task)
                    yield row

            return await write_rows(counted(), output)
