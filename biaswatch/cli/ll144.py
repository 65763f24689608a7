"""The verb `ll144`: tables in the format of Local Law 144, of a file or of a run."""

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field, field_validator
from rich.console import Console

from biaswatch.cli.options import VerbRequest, ask
from biaswatch.cli.requests import with_options_of
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import may_name_run, neither_run_nor_file, whole_run_id
from biaswatch.render.ll144 import ImpactDocument, ImpactFormat, case_document, run_document
from biaswatch.render.office import BINARY, check_can_write, write_docx
from biaswatch.render.printed import pdf_printer, write_pdf
from biaswatch.render.terminal import write_document
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.runs import ImpactRequest, SmallShare
from biaswatch.shared.stats.studies.local_law_144 import (
    SMALL_SHARE,
    impact_tables,
    unused_unknown_labels,
)
from biaswatch.written_files import check_ending

NO_THRESHOLD = (
    "`both` needs --selected-at-least, the lowest score of a selection. If a column of yes and no"
    " says who was selected, run the command once for each column instead, without `both`."
)


class ImpactVerb(VerbRequest):
    """The fields of `ll144`."""

    group: tuple[str, ...] = ()
    """A column of categories, or a dimension of the run; may be repeated."""
    score: tuple[str, ...] = ()
    """The column of scores (or of yes and no), or a feature of the run."""
    selected_at_least: float | None = Field(default=None, allow_inf_nan=False)
    """The lowest score of a selected applicant."""
    small_share: SmallShare = SMALL_SHARE
    """Smaller categories are left out of the impact ratios, at most 0.02; 0 leaves none out."""
    unit: str | None = None
    """The column that names an applicant with several rows in a file."""
    unknown: tuple[str, ...] = ()
    """One more label of an unknown category; may be repeated."""
    both: bool = False
    """Selection rates by --selected-at-least and scoring rates of a file, in one document."""
    format: ImpactFormat | None = None
    """md, html, pdf, docx, xlsx, csv or json; default by extension of -o, else a table to read."""
    output: Path | None = None
    """A file, instead of printing."""

    @field_validator("score")
    @classmethod
    def _only_one(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if len(columns) > 1:
            raise ValueError(
                f"a document is about one score, and {len(columns)} are named: run the command"
                " once for each"
            )
        return columns

    @property
    def body(self) -> ImpactRequest:
        """The request to a gateway."""
        other = {"score", "unit", "both", "format", "output"}
        return ImpactRequest(score=self.column, **self.model_dump(exclude=other))

    @property
    def column(self) -> str | None:
        """The only score, if one is named."""
        return next(iter(self.score), None)


@with_options_of(
    ImpactVerb, "group", "score", "selected_at_least", "small_share", "unit", "unknown", "format",
    output="-o",
)  # fmt: skip
def ll144(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE | RUN",
            help="A CSV, Excel, Parquet or JSON file with a row for each applicant, or a run.",
        ),
    ],
    request: ImpactVerb,
) -> None:
    """Write selection or scoring rates and impact ratios, by category and by combination.

    Without --selected-at-least or a rule of the suite, 1 and 0, or yes and no, say who was
    selected; otherwise the rates are shares of scores above the median of all.
    """
    form = format_of(request)
    check_can_write(form, request.output, "tables")
    if Path(source).exists():
        document = _file_document(Path(source), request)
    elif not may_name_run(source):
        raise neither_run_nor_file(source)
    elif request.unit is not None or request.both:
        raise UsageError(
            "--unit and `both` are for files; the applicants of a run are its prompts."
        )
    else:
        document = ask(lambda client: _run_document(client, source, request.body))
    if request.format is None and request.output is None:
        document.print_on(Console(emoji=False))
    else:
        _write(document, form, request.output)


def _write(document: ImpactDocument, form: ImpactFormat, output: Path | None) -> None:
    document = replace(
        document, computed=f"biaswatch {version('biaswatch')} on {datetime.now(UTC):%Y-%m-%d}"
    )
    if form not in BINARY or output is None:
        write_document(document.as_text(form), output)
        return
    if form is ImpactFormat.XLSX:
        document.write_workbook(output)
    elif form is ImpactFormat.DOCX:
        write_docx(document.title, document.as_text(form), output)
    else:
        write_pdf(pdf_printer(), document.as_text(form), output)
    typer.echo(f"Wrote {output}.", err=True)


def format_of(request: ImpactVerb) -> ImpactFormat:
    """Return the requested format, or that of the file's extension; Markdown without either."""
    if request.format is not None or request.output is None or not request.output.suffix:
        return request.format or ImpactFormat.MD
    check_ending(request.output, [f".{form.value}" for form in ImpactFormat])
    return ImpactFormat(request.output.suffix.lower().removeprefix("."))


async def _run_document(client: GatewayClient, run_id: str, body: ImpactRequest) -> ImpactDocument:
    run = await client.progress(await whole_run_id(client, run_id, or_file=True))
    return run_document(run, await client.impact_ratios(run.run_id, body))


def _file_document(path: Path, request: ImpactVerb) -> ImpactDocument:
    from biaswatch.readers.columns import DETECTED, NAME, check_value_keys, is_boolean, is_yes_no
    from biaswatch.readers.table_files import frame_of
    from biaswatch.readers.tables import applicants_in

    frame = frame_of(path)
    if not request.group or (score := request.column) is None:
        raise UsageError(
            f"Name columns of {path} with --group and --score. Its columns are"
            f" {', '.join(map(str, frame.columns))}."
        )
    applicants = applicants_in(frame, path, request.group, score, request.unit)
    for warning in [*frame.attrs.get(DETECTED, []), *applicants.warnings]:
        typer.echo(warning, err=True)
    labels = [
        label for column in applicants.labels.values() for label in column if label is not None
    ]
    check_value_keys(
        unused_unknown_labels(request.unknown, labels),
        list(dict.fromkeys(labels)),
        f"No row of {path} has the category {NAME} that --unknown names.",
    )
    if request.both and request.selected_at_least is None:
        raise UsageError(NO_THRESHOLD)
    tables = [
        impact_tables(
            applicants.scores,
            applicants.labels,
            selected_at_least=threshold,
            small_share=request.small_share,
            unknown_labels={label.strip().casefold() for label in request.unknown},
        )
        for threshold in (request.selected_at_least, *([None] if request.both else []))
    ]
    unit = request.unit
    applicant = f"all rows with the same {unit}, by their mean" if unit else "a row of the file"
    if path.is_file():  # a pipe cannot be read twice
        with path.open("rb") as file:
            applicant += f"; the file's SHA-256 is {file_digest(file, 'sha256').hexdigest()}"
    # Without a threshold, only 1 and 0, or yes and no, give selection rates.
    says_who = request.selected_at_least is None and tables[0].measure == "selection"
    word = "yes" if is_yes_no(frame[score]) else "true" if is_boolean(frame[score]) else "1"
    chosen = f"{word} in the column {score}" if says_who else ""
    return case_document(path.name, score, tables, applicant=applicant, chosen=chosen)
