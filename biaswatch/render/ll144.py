"""Rates and impact ratios in the layout of New York City's Local Law 144, in every format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic_core import to_json
from rich.console import Console

from biaswatch.render.impact_rows import DocumentTable, impact_remarks, impact_rows, impact_sheet
from biaswatch.render.markdown import escape_md, markdown_table
from biaswatch.render.report_pages import report_page
from biaswatch.render.terminal import print_sentence, print_table, terminal_table
from biaswatch.render.workbooks import write_workbook
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import ROUNDING_ERROR, number
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    csv_text,
    number_cell,
    text_cell,
    texts,
)
from biaswatch.shared.requests.run_views import RunImpact, RunProgress
from biaswatch.shared.stats.studies.local_law_144 import ImpactTables

NO_AUDIT = (
    "These are tables in the format of Local Law 144 (6 RCNY 5-301). They are not a bias audit,"
    " which needs an independent auditor and, where there is enough of it, historical data."
)
APPLICANTS_OF_A_RUN = (
    "An applicant is a prompt of this run; the mean over the repeats of a prompt is the applicant's"
    " one score. Prompts are test data: a summary of results has to explain why no historical data"
    " were used, and how these were made (6 RCNY 5-302)."
)
CSV_TITLES = (
    *("target", "scaffold", "extractor", "feature", "measure", "threshold", "table", "category"),
    *("applicants", "selected", "rate", "impact_ratio", "remark", "unknown", "without_score"),
)


INTERVALS = (
    "Intervals and remarks about chance are not part of the rule. An interval is for one ratio by"
    " itself. The remark, more than chance or may be chance, is of Fisher's exact test and allows"
    " for comparing every pair of categories: of tables without any difference, at most 5 % have a"
    " ratio that is called more than chance."
)
COVER = (
    "Tool and version", "Date of its distribution", "Independent auditor", "Date of the audit",
    "Source and period of the data", "Reason for test data, if no historical data were used",
)  # fmt: skip
"""Facts that a published summary states beside the tables (6 RCNY 5-302)."""
FILL_IN = "(fill in)"


class ImpactFormat(StrEnum):
    """Formats of the tables."""

    MD = "md"
    CSV = "csv"
    JSON = "json"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"


@dataclass(frozen=True)
class Heading:
    """A title within a document."""

    text: str
    level: int


@dataclass(frozen=True)
class ImpactDocument:
    """Tables with their origin."""

    title: str
    about: str
    parts: Sequence[tuple[str, ImpactTables]]
    """Each with its heading, empty where there is only one part."""
    impacts: Sequence[RunImpact]
    """The same for programs."""
    chosen: str = ""
    """A property of selected applicants other than a score."""
    computed: str = ""
    """The program and the day, for the cover."""

    def as_text(self, form: ImpactFormat) -> str:
        """Return the document in a format, Word's as Markdown; documents round, data do not."""
        match form:
            case ImpactFormat.MD:
                return "\n".join(self._markdown()) + "\n"
            case ImpactFormat.HTML | ImpactFormat.PDF | ImpactFormat.DOCX:
                text = "\n".join([*self._cover(), *self._markdown()]) + "\n"
                if form is ImpactFormat.DOCX:
                    return text
                return report_page(self.title, text, kind="letter")
            case ImpactFormat.CSV | ImpactFormat.XLSX:
                return csv_text(CSV_TITLES, (row for i in self.impacts for row in _csv_rows(i)))
            case ImpactFormat.JSON:
                return to_json(self.impacts, indent=2).decode()

    def write_workbook(self, path: Path) -> None:
        """Write a workbook: the cover, a sheet for each table, and all rows for programs."""
        rows = (tuple(map(_cell, row)) for i in self.impacts for row in _csv_rows(i))
        data = Table("data", texts(*CSV_TITLES), tuple(rows))
        tables = [*self._sheets(), data]
        about = [("", f"{self.about} {NO_AUDIT}")]
        about += [(heading, _about(part, self.chosen)) for heading, part in self.parts]
        facts = [*self._facts(), *about]
        write_workbook({table.caption: table for table in tables}, path, facts, "cover")

    def _sheets(self) -> Iterator[Table]:
        """Yield the tables as the rule lays them out, numbered by part."""
        for n, (_, part) in enumerate(self.parts, start=1):
            number_of_part = f"{n} " if len(self.parts) > 1 else ""
            for table in part.tables:
                yield impact_sheet(f"{number_of_part}{' x '.join(table.dimensions)}", table, part)

    def print_on(self, console: Console) -> None:
        """Print the tables on a terminal."""
        for piece in self._pieces():
            match piece:
                case DocumentTable(titles, rows):
                    print_table(console, terminal_table(titles, rows))
                case Heading(text):
                    print_sentence(console, text, style="bold")
                case str(text):
                    print_sentence(console, text)
            console.print()

    def _facts(self) -> Iterator[tuple[str, str]]:
        """Yield the facts of the cover: the program, and those left to fill in."""
        yield "Tables", self.title
        yield "Tables computed by", self.computed
        yield from ((fact, FILL_IN) for fact in COVER)

    def _cover(self) -> Iterator[str]:
        """Yield the first page: the facts for a publisher to state, partly left open."""
        yield from (f"# Local Law 144: {escape_md(self.title)}", "")
        yield from markdown_table(
            ("to be stated with the tables", "by the publisher"), list(self._facts())
        )
        yield from ("", escape_md(NO_AUDIT), "")

    def _markdown(self) -> Iterator[str]:
        for n, piece in enumerate(self._pieces()):
            if n:
                yield ""
            match piece:
                case DocumentTable(titles, rows):
                    yield from markdown_table(list(map(escape_md, titles)), rows)
                case Heading(text, level):
                    yield f"{'#' * level} {escape_md(text)}"
                case str(text):
                    yield escape_md(text)

    def _pieces(self) -> Iterator[str | Heading | DocumentTable]:
        measures = {tables.measure for _, tables in self.parts}
        kind = "Selection" if measures == {"selection"} else "Scoring"
        kinds = "Selection and scoring" if len(measures) > 1 else kind
        yield Heading(f"{kinds} rates and impact ratios: {self.title}", 1)
        yield f"{self.about} {NO_AUDIT}"
        for heading, tables in self.parts:
            if heading:
                yield Heading(heading, 2)
            yield _about(tables, self.chosen)
            for table in tables.tables:
                yield Heading(" x ".join(table.dimensions), 3 if heading else 2)
                yield impact_rows(table, tables)
                yield from impact_remarks(table)


def run_document(run: RunProgress, impacts: Sequence[RunImpact]) -> ImpactDocument:
    """Return the tables of a run, one part per target, scaffold and feature.

    Raises
    ------
    UsageError
        The run has no scores.
    """
    if not impacts:
        raise UsageError(f"The run {run.run_id} measures nothing that could be a score.")
    answers = f"{run.responses} of {run.probes} answers"
    about = f"Run {run.run_id} of {run.at:%Y-%m-%d}, {run.state}: {answers}. {APPLICANTS_OF_A_RUN}"
    names = ModelNames.among(impacts)
    parts = [(f"{names.of(row)}, {row.feature}", row.impact) for row in impacts]
    return ImpactDocument(run.suite, about, parts, impacts)


def case_document(
    name: str, score: str, tables: Sequence[ImpactTables], *, applicant: str, chosen: str = ""
) -> ImpactDocument:
    """Return the tables of a file, a part each.

    Parameters
    ----------
    name, score
        The file and its column of scores.
    applicant
        Words for what an applicant of the file is.
    chosen
        A property of selected applicants other than a score.
    """
    impacts = [
        RunImpact(target=name, scaffold="", extractor="", feature=score, impact=part)
        for part in tables
    ]
    headings = [f"{part.measure.capitalize()} rates" if len(tables) > 1 else "" for part in tables]
    parts = list(zip(headings, tables, strict=True))
    return ImpactDocument(name, f"An applicant is {applicant}.", parts, impacts, chosen)


def _about(tables: ImpactTables, chosen: str) -> str:
    """Return the definition of the rates, and the applicants in no row."""
    threshold = number(tables.threshold, digits=10)
    rates = f"The scoring rate is the share of scores above the median of all, {threshold}."
    if tables.measure == "selection":
        rates = f"Selected: applicants with {chosen or f'a score of {threshold} or more'}."
    left_out = "No category is left out of the impact ratios because it is small."
    if tables.small_share:
        left_out = (
            f"Categories with fewer than {100 * tables.small_share:g} % of the applicants are left"
            " out of the impact ratios; a summary has to justify each (6 RCNY 5-301)."
        )
    labels = ", ".join(tables.unknown_labels)
    unknown = f"Applicants without a label, or with {labels}, count as unknown." if labels else ""
    return " ".join(filter(None, [rates, _without_score(tables), left_out, unknown, INTERVALS]))


def _without_score(tables: ImpactTables) -> str:
    """Return the number of applicants without a score in a sentence; nothing for 0."""
    if not tables.without_score:
        return ""
    verb = "has" if tables.without_score == 1 else "have"
    return f"Of {tables.applicants} applicants, {tables.without_score} {verb} no score."


def _cell(value: object) -> TableCell:
    """Return a cell of the workbook; a rounding error becomes 0."""
    if isinstance(value, float) and abs(value) < ROUNDING_ERROR:
        return number_cell(0.0)
    return number_cell(value) if isinstance(value, int | float) else text_cell(str(value or ""))


def _csv_rows(run: RunImpact) -> Iterator[tuple[object, ...]]:
    impact = run.impact
    for table in impact.tables:
        for row in table.rows:
            yield (
                *(run.target, run.scaffold, run.extractor, run.feature),
                *(impact.measure, impact.threshold),
                *(" x ".join(table.dimensions), ", ".join(row.categories)),
                *(row.applicants, row.selected, row.rate, row.impact_ratio, row.reason),
                *(table.unknown, impact.without_score),
            )
