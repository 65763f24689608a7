"""The verb `interpret`: a model interprets statistics; code checks and judges grade the report."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import typer
from pydantic import Field, PositiveInt
from rich.console import Console

from biaswatch.cli.options import Json, VerbRequest, ask, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.cli.table import CasesVerb, Counts
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import InterpretedGap
from biaswatch.readers.targets import sent_target
from biaswatch.render.interpretations import document_lines, evaluation_lines
from biaswatch.render.report_pages import report_page
from biaswatch.render.terminal import escape, print_json, print_lines, printable, write_document
from biaswatch.shared.contracts import Diagnosis, Evaluation, SummaryWord, parse_target
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.requests.runs import BOARD_PROFILE, BriefRequest
from biaswatch.written_files import check_ending

if TYPE_CHECKING:
    from biaswatch.readers.cases import Cases
    from biaswatch.shared.contracts import Subject

DEFAULT_MODEL = "openai-responses:gpt-5-mini?reasoning.effort=medium&max_output_tokens=20000"
MAX_CONTEXT_CHARS = 100_000
WITHOUT_A_MODEL = "Without a model, code writes a page: add --config profile=board."
ENDINGS = (".md", ".html")
"""Endings of files that an interpretation can be written into."""


class InterpretationFields(VerbRequest):
    """The fields of verbs that have findings interpreted."""

    target: str | None = None
    """The model that interprets, gpt-5-mini of OpenAI unless named; with a report, the model that
    reads its statements."""
    judge: tuple[str, ...] | None = None
    """A model that grades the interpretation; may be repeated. No model grades it unless named."""
    report: Path | None = None
    """A report that exists already, to be checked and graded instead of a model's."""
    structure: Literal["outline", "none"] = "outline"
    """none: the report may have any headings."""
    profile: str = "general"
    """Profile of the interpretation: general, criminal_justice, or one of your own."""
    controls: bool = True
    """Test judges with texts whose grade is known; true by default."""
    controls_per_kind: int = Field(default=40, ge=4, le=60)
    """Texts of each dimension and grade that examine a judge; it has to grade 3 of 4 correctly."""
    count_failed_judges: bool = False
    """Count judges that grade known texts wrongly."""

    def brief_fields(self) -> dict[str, Any]:
        """Return the fields of a request for an interpretation.

        Raises
        ------
        UsageError
            The report cannot be read, or has no text.
        """
        shared = ("structure", "profile", "controls", "controls_per_kind", "count_failed_judges")
        return {name: getattr(self, name) for name in shared} | {
            "writer": writer_model(self.target, self.report, self.profile),
            "judges": self.judge or (),
            "report": text_written_elsewhere(self.report),
        }


class InterpretVerb(InterpretationFields, CasesVerb):
    """The fields of `interpret`."""

    output: Path | None = None
    """A file .md or .html, instead of printing."""
    context: Path | None = None
    """A folder of Markdown files for the writer to use."""
    repeats: PositiveInt = 1
    """How often each judge grades each dimension."""
    max_calls: PositiveInt | None = None
    """Do not begin if it takes more calls to models."""
    new: bool = False
    """Ask everything again."""


@with_options_of(
    InterpretVerb, "group", "groups", "outcome", "where", "target", "judge", "report", "structure",
    "controls", output="-o",
)  # fmt: skip
def interpret(request: InterpretVerb, words: Counts = None, as_json: Json = False) -> None:
    """Have a model interpret a table, and the report checked and graded.

    With --config profile=board, code writes a page without any model.
    """
    if request.output is not None:
        check_ending(request.output, ENDINGS)
    body = brief_request(
        subject_of(request.cases("interpret", words or [])),
        **request.brief_fields(),
        context=read_context(request.context),
        repeats=request.repeats,
        nonce=uuid4().hex if request.new else "",
        most_calls=request.max_calls,
    )
    _show_examinations(body)
    evaluation = ask(lambda client: interpreted(client, body), with_models=True)
    show(evaluation, as_json=as_json, output=request.output)


def text_written_elsewhere(path: Path | None) -> str:
    """Return the text of a report written elsewhere; "" without a file.

    Raises
    ------
    UsageError
        The file cannot be read, or has no text.
    """
    if path is None:
        return ""
    if not (text := read_text(path, "report")).strip():
        raise UsageError(f"The report {path} is empty.")
    return text


def writer_model(named: str | None, report: Path | None, profile: str) -> str | None:
    """Return the model that writes, by default; or that reads a report, only where named."""
    if report is not None:
        return named
    return None if profile == BOARD_PROFILE else named or DEFAULT_MODEL


async def interpreted(client: GatewayClient, body: BriefRequest) -> Evaluation:
    """Return an evaluation, with progress on standard error; exit with 3 at a paused target."""
    models = ", ".join(dict.fromkeys(filter(None, [body.writer, *body.judges])))
    console = Console(stderr=True)
    with console.status(f"Waiting for {escape(models)}" if models else "Checking the report"):
        result = await client.interpret(body)
    if isinstance(result, Evaluation):
        return result
    typer.echo(printable(result.in_words()), err=True)
    typer.echo(
        "The interpretation is not finished. Run the same command again later to see it.", err=True
    )
    if body.writer is not None and not body.report:
        typer.echo(WITHOUT_A_MODEL, err=True)
    raise typer.Exit(3)


def _show_examinations(body: BriefRequest) -> None:
    """Print the calls and cost of the examination of paid judges."""
    targets = map(parse_target, body.judges)
    if not body.controls or all(PROVIDERS[target.provider].free for target in targets):
        return
    # Imported late: the rubric and its libraries load slowly.
    from biaswatch.planning.costs import in_words
    from biaswatch.planning.examinations import report_examinations

    for spending in report_examinations(body):
        typer.echo(printable(in_words(spending)), err=True)


def subject_of(cases: "Cases") -> "Subject":
    """Return the statistics of cases as the subject of a report."""
    from dataclasses import asdict

    from biaswatch.shared.analysis.report_subjects import table_subject
    from biaswatch.shared.contracts import Measure, as_usage_error
    from biaswatch.shared.stats.tables.two_by_two import MIN_CASES, as_json, two_by_two

    try:
        table = two_by_two(*cases.counts)
    except ValueError as error:
        raise UsageError(str(error)) from None
    adjusted = None
    if cases.adjusted:
        adjusted = Measure(
            name="odds_ratio_adjusted",
            label=f"Adjusted Odds Ratio (holding {', '.join(cases.adjusted_for)} equal)",
            value=cases.adjusted.value,
            low=cases.adjusted.low,
            high=cases.adjusted.high,
            no_difference=1.0,
            reason=cases.adjusted.reason,
        )
    with as_usage_error("A label of the table"):
        return table_subject(
            as_json(table),
            cases.counts,
            outcome=cases.outcome,
            value=cases.value,
            groups=cases.groups,
            alpha=table.alpha,
            least=MIN_CASES,
            strata=asdict(cases.strata) if cases.strata else None,
            adjusted=adjusted,
            notes=cases.notes,
        )


def brief_request(
    subject: "Subject", *, writer: str | None, judges: Sequence[str], **fields: object
) -> BriefRequest:
    """Return the request for an interpretation, with targets as the gateway takes them."""
    from biaswatch.shared.contracts import as_usage_error

    server = gateway().server
    with as_usage_error("The interpretation"):
        return BriefRequest.model_validate(
            {
                **fields,
                "subject": subject,
                "writer": writer and sent_target(writer, server),
                "judges": [sent_target(judge, server) for judge in judges],
            }
        )


async def interpret_run(
    client: GatewayClient,
    run_id: str,
    diagnoses: Sequence[Diagnosis],
    *,
    writer: str | None,
    judges: Sequence[str],
    **fields: object,
) -> Sequence[InterpretedGap]:
    """Have every comparison that shows a disparity interpreted; where none does, the first."""
    from biaswatch.shared.analysis.report_subjects import gap_subject

    pairs = [(diagnosis, gap) for diagnosis in diagnoses for gap in diagnosis.gaps]
    shown = [pair for pair in pairs if pair[1].summary is SummaryWord.DISPARITY] or pairs[:1]
    bodies = [
        brief_request(gap_subject(*pair), writer=writer, judges=judges, run_id=run_id, **fields)
        for pair in shown
    ]
    if bodies:
        _show_examinations(bodies[0])
    evaluations = await asyncio.gather(*(interpreted(client, body) for body in bodies))
    titles = [f"{d.target}, {d.feature}: {gap.a} against {gap.b}" for d, gap in shown]
    return [InterpretedGap(*row) for row in zip(titles, evaluations, strict=True)]


def show(evaluation: Evaluation, *, as_json: bool, output: Path | None = None) -> None:
    """Print an evaluation or write it; exit code 3 for a missing report or one with faults."""
    if output is not None:
        text = "\n".join(document_lines(evaluation))
        page = output.suffix.lower() == ".html"
        write_document(report_page("Interpretation", text, ()) if page else text, output)
    if as_json:
        print_json(evaluation)
    elif output is None:
        print_lines(Console(emoji=False), "\n".join(evaluation_lines(evaluation)))
    if evaluation.reason or evaluation.failed or evaluation.faults:
        raise typer.Exit(3)


def read_context(folder: Path | None) -> str:
    """Return the Markdown files of a folder as one text, ordered by name.

    Raises
    ------
    UsageError
        The folder does not exist, or holds no Markdown or too much of it.
    """
    if folder is None:
        return ""
    files = sorted(folder.glob("*.md"))
    if not files:
        raise UsageError(f"{folder} is not a folder with Markdown files (*.md).")
    text = "\n\n".join(read_text(file, "context") for file in files)
    if len(text) > MAX_CONTEXT_CHARS:
        raise UsageError(
            f"The Markdown in {folder} has {len(text)} characters; at most {MAX_CONTEXT_CHARS} fit."
        )
    return text
