"""Reports as files of office programs: a Word document, and an Excel workbook."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import STYLE, can_draw
from biaswatch.render.markdown import FOLD_BEGINS, FOLD_ENDS
from biaswatch.render.printed import pdf_printer
from biaswatch.render.report_markdown import FORESTS_PLACEHOLDER
from biaswatch.render.workbooks import write_workbook
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import first
from biaswatch.shared.presentation.finding_tables import comparisons_table, groups_table
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.tables import words
from biaswatch.written_files import atomic_file

NO_DOCX = (
    "A Word document needs python-docx: install biaswatch with the extra `docx` (in a checkout,"
    " make extras), or write HTML (-o FILE.html)."
)
PDF, DOCX, XLSX = "pdf", "docx", "xlsx"
BINARY = {PDF, DOCX, XLSX}
"""Formats that need a file."""
PICTURE_WIDTH_IN = 6.3


def check_can_write(form: str, output: Path | None, name: str) -> None:
    """Raise UsageError if a format cannot be written; call it before the work.

    Parameters
    ----------
    form
        The format, as the extension of its files.
    name
        A name of a file without extension, for the message.
    """
    if form in BINARY and output is None:
        raise UsageError(f"The format {form} needs a file: -o {name}.{form}.")
    if form == PDF:
        pdf_printer()
    if form == DOCX and find_spec("docx") is None:
        raise UsageError(NO_DOCX)


def write_docx(
    title: str, markdown: str, path: Path, *, pictured: RunResults | None = None
) -> None:
    """Write Markdown as a Word document: headings, sentences, tables, the plot of a run's gaps."""
    from docx import Document

    document = Document()
    document.core_properties.title = title
    document.core_properties.author, document.core_properties.comments = "biaswatch", ""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = "\n".join(line for line in markdown.split("\n") if not _is_fold(line))
    tokens = reader.parse(text)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "heading_open":
            document.add_heading(_plain(tokens[at + 1]), int(token.tag[1]))
        elif token.type == "paragraph_open":
            _add_paragraph(document, pictured, tokens, at)
        elif token.type == "table_open":
            _add_table(document, list(_table_rows(tokens, at)))
            at = _end_of(tokens, at)
        at += 1
    with atomic_file(path) as part:
        document.save(str(part))


def _is_fold(line: str) -> bool:
    """Return whether a line of HTML folds a section."""
    return line in (FOLD_BEGINS, FOLD_ENDS) or line.startswith("<summary>")


def _add_paragraph(
    document: Any, pictured: RunResults | None, tokens: Sequence[Token], at: int
) -> None:
    """Add a paragraph, or the plot in place of its placeholder."""
    inline = tokens[at + 1]
    if pictured is not None and inline.content == FORESTS_PLACEHOLDER:
        _add_picture(document, pictured)
        return
    is_item = tokens[at].level > 0 and tokens[at - 1].type == "list_item_open"
    paragraph = document.add_paragraph(style="List Bullet" if is_item else None)
    is_bold = False
    for child in inline.children or ():
        if child.type in ("strong_open", "strong_close"):
            is_bold = child.type == "strong_open"
        elif child.content or child.type == "softbreak":
            paragraph.add_run(child.content or " ").bold = is_bold


def _add_picture(document: Any, results: RunResults) -> None:
    """Add the plot of the gaps, where pictures can be drawn."""
    if not can_draw():
        return
    from docx.shared import Inches
    from matplotlib import rc_context

    from biaswatch.render.figures.forest import comparisons

    with rc_context(STYLE):
        if (figure := comparisons(results)) is None:
            return
        picture = BytesIO()
        figure.savefig(picture, format="png", dpi=200)
    picture.seek(0)
    document.add_picture(picture, width=Inches(PICTURE_WIDTH_IN))


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def _end_of(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the end of a table."""
    level = tokens[at].level
    ends = (
        n for n in range(at, len(tokens))
        if tokens[n].type == "table_close" and tokens[n].level == level
    )  # fmt: skip
    return first(ends, "A table has no end.")


def _table_rows(tokens: Sequence[Token], at: int) -> Iterator[list[str]]:
    """Yield the cells of each row of a table."""
    row: list[str] = []
    for token in tokens[at : _end_of(tokens, at)]:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(_plain(token))
        elif token.type == "tr_close":
            yield row


def _add_table(document: Any, rows: Sequence[Sequence[str]]) -> None:
    from docx.shared import Pt

    table = document.add_table(rows=0, cols=len(rows[0]), style="Light Grid Accent 1")
    for n, row in enumerate(rows):
        for cell, text in zip(table.add_row().cells, row, strict=False):
            run = cell.paragraphs[0].add_run(text)
            run.font.size, run.bold = Pt(8), n == 0


def write_xlsx(results: RunResults, path: Path) -> None:
    """Write a run as a workbook: its result, every comparison and every group."""
    compared = [row for row in results.diagnoses if not row.stratum]
    summary = run_summary(compared)
    run = results.run
    facts = (
        ("suite", run.suite),
        ("models", ", ".join(run.targets)),
        ("result", words(summary.word) if summary.word else "nothing compared"),
        ("in a sentence", summary.lead),
        ("answers", run.responses),
        ("asked", run.probes),
        ("run", run.run_id),
        ("begun", f"{run.at:%Y-%m-%d %H:%M} UTC"),
    )
    tables = {
        "comparisons": comparisons_table(compared, run.run_id),
        "groups": groups_table(results.diagnoses, run.run_id),
    }
    write_workbook(tables, path, facts)
