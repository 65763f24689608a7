"""The verbs `report` and `export`: write findings and answers to files and other tools."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.checks import checked_diagnoses
from biaswatch.cli.interpret import InterpretationFields, interpret_run
from biaswatch.cli.options import CheckRequest, RunId, ask, end_check, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.integrations.formats import (
    ANSWERS,
    ANY_RUN,
    FORMATS,
    ExportRequest,
    formats_in_words,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import RunResults, run_results, whole_run_id, with_background
from biaswatch.render.figures import can_draw, check_can_draw, draw
from biaswatch.render.office import BINARY, check_can_write
from biaswatch.render.report import ReportFormat, picture_lines, report_text, written_report
from biaswatch.render.studies import MAX_PAIRS
from biaswatch.render.terminal import write_document
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.forests import checked_against
from biaswatch.shared.requests.run_views import FlaggedPair
from biaswatch.shared.requests.runs import ImpactRequest
from biaswatch.written_files import check_ending

BY_ENDING = [f".{form.value}" for form in ReportFormat if form is not ReportFormat.LL144]
DOCUMENTS = {ReportFormat.MD, ReportFormat.HTML, ReportFormat.PDF, ReportFormat.DOCX}
WITH_PAIRS = {*DOCUMENTS, ReportFormat.JSON, ReportFormat.JSONL}
WITH_TEXT = {*DOCUMENTS, ReportFormat.JSON}
"""Formats with interpretations and the provenance of the numbers."""
ALL = "all"
NO_PICTURES = (
    "The page has no figures, because matplotlib is not installed: install biaswatch with the"
    " extra `figures` (in a checkout, make extras)."
)


class ReportVerb(InterpretationFields, CheckRequest):
    """The fields of `report`."""

    format: ReportFormat | None = None
    """md, html, pdf, docx, xlsx, json, csv, ll144, or jsonl for flagged pairs; default by extension
    of -o, or md."""
    output: Path | None = None
    """Write to a file instead of printing."""
    board: bool = False
    """One page for readers who decide: result, picture, meaning, next step."""
    reference: str = ""
    """The group that comparisons subtract, where they involve it."""
    pairs: str = str(MAX_PAIRS)
    """How many flagged pairs a document shows: a number, or `all`; as jsonl, `all` adds the pairs
    without a flag."""
    figures: Path | None = None
    """Folder for figures of the findings, as PNG and SVG."""
    interpret: bool = False
    """Add an interpretation by a model."""

    @property
    def most_pairs(self) -> int | None:
        """The number of flagged pairs in a document; None for all."""
        if self.pairs == ALL:
            return None
        if not self.pairs.isdecimal():
            raise UsageError(f"--pairs is a number or `{ALL}`, not {self.pairs!r}.")
        return int(self.pairs)

    @property
    def form(self) -> ReportFormat:
        """The format of the report."""
        return self.format or format_of(self.output)


@with_options_of(
    ReportVerb, "format", "board", "reference", "pairs", "figures", "interpret", "target", "judge",
    "report", "fail_on", output="-o", hidden=("controls", "count_failed_judges"),
)  # fmt: skip
def report(run_id: RunId, request: ReportVerb) -> None:
    """Write the findings of a run: a document, a page, JSON, CSV, flagged pairs as JSONL."""
    rule, form = request.rule(), request.form
    if request.interpret and form not in WITH_TEXT:
        raise UsageError("An interpretation needs the format md, html, pdf, docx or json.")
    if request.report is not None and not request.interpret:
        raise UsageError("--report is a text to check: add --interpret.")
    if request.board and form not in DOCUMENTS:
        raise UsageError("--board is a page: it needs the format md, html, pdf or docx.")
    if request.figures is not None:
        check_can_draw()
    check_can_write(form, request.output, "report")
    results, flagged = ask(
        lambda client: _reported(client, run_id, request), with_models=request.interpret
    )
    drawn = draw(results, request.figures) if request.figures is not None else []
    for path in drawn:
        typer.echo(f"Wrote {path}.", err=True)
    if form in (ReportFormat.HTML, ReportFormat.PDF) and not (request.board or can_draw()):
        typer.echo(NO_PICTURES, err=True)
    pictures = picture_lines([path for path in drawn if path.suffix == ".svg"], request.output)
    _write(request, results, flagged, pictures)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)


def _write(
    request: ReportVerb, results: RunResults, flagged: list[FlaggedPair], pictures: list[str]
) -> None:
    """Print the report, or write it into a file of its format."""
    form, text = request.form, ""
    if form is not ReportFormat.XLSX:
        text = report_text(
            form, results, flagged, pictures, request.most_pairs, board=request.board
        )
    if form not in BINARY or request.output is None:
        write_document(text, request.output)
        return
    written_report(form, results, text, request.output)
    typer.echo(f"Wrote {request.output}.", err=True)


async def _reported(
    client: GatewayClient, run_id: str, request: ReportVerb
) -> tuple[RunResults, list[FlaggedPair]]:
    """Return the results for the report of a run, and its flagged pairs."""
    whole, form = await whole_run_id(client, run_id), request.form
    count_failed = request.count_failed_judges
    flagged: list[FlaggedPair] = []
    if form in WITH_PAIRS:
        every = form is ReportFormat.JSONL and request.most_pairs is None
        flagged = await client.flagged(whole, count_failed=count_failed, unflagged=every)
    results = await run_results(client, whole, count_failed=count_failed)
    results = replace(results, diagnoses=checked_against(results.diagnoses, request.reference))
    if form in WITH_TEXT or request.figures is not None:
        results = await with_background(client, results)
    if form is ReportFormat.LL144:
        results = replace(results, impact=await client.impact_ratios(whole, ImpactRequest()))
    if request.interpret:
        interpretations = await interpret_run(
            client, whole, results.diagnoses, **request.brief_fields()
        )
        results = replace(results, interpretations=interpretations)
    return results, flagged


def format_of(output: Path | None) -> ReportFormat:
    """Return the format of a file's extension; Markdown without a file.

    Raises
    ------
    UsageError
        No format has the extension.
    """
    if output is None or not output.suffix:
        return ReportFormat.MD
    check_ending(output, BY_ENDING)
    return ReportFormat(output.suffix.lower().removeprefix("."))


def export(
    source: Annotated[
        str, typer.Argument(metavar="RUN | MONITOR | SOURCE | SUITE | LOG", help="What to export.")
    ],
    output: Annotated[
        str, typer.Option("-o", metavar="FILE | FOLDER | URL", help="Where to; see below.")
    ],
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"The format: {', '.join(FORMATS)}.")
    ] = ANSWERS,
    since: Annotated[
        datetime | None, typer.Option(help="Earliest time (UTC), for a monitor or live system.")
    ] = None,
) -> None:
    """Write answers to a file; or runs, monitors and suites for other tools."""
    if (form := FORMATS.get(to)) is None:
        raise UsageError(f"There is no format {to!r}: --to is one of {', '.join(FORMATS)}.")
    if since is not None and form.source != ANY_RUN:
        raise UsageError(f"--since is for answers; --to {to} has no use for it.")
    begin = since if since is None or since.tzinfo else since.replace(tzinfo=UTC)
    request = ExportRequest(source, output, begin, lambda: gateway().connect(with_models=False))
    typer.echo(asyncio.run(form.write(request)), err=True)


vars(export)["epilog"] = formats_in_words()
