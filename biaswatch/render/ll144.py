"""Rates and impact ratios as New York City's Local Law 144 lays them out: Markdown, CSV, JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic_core import to_json
from rich.console import Console

from biaswatch.render.tables import (
    escape_md,
    markdown_table,
    print_sentence,
    print_table,
    terminal_table,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import UNDEFINED, number
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import csv_text
from biaswatch.shared.requests.run_views import RunImpact, RunProgress
from biaswatch.shared.stats.studies.local_law_144 import ImpactRow, ImpactTable, ImpactTables

NO_AUDIT = (
    "These are tables in the format of Local Law 144 (6 RCNY 5-301). They are no bias audit: that"
    " takes an independent auditor, and data of the tool's actual use."
)
OF_A_RUN = (
    "An applicant is a prompt of this run; the mean over the repeats of a prompt is the applicant's"
    " one score. Prompts are test data: a summary of results has to explain why no historical data"
    " were used, and how these were made (6 RCNY 5-302)."
)
CSV_HEAD = (
    *("target", "scaffold", "extractor", "feature", "measure", "threshold", "table", "category"),
    *("applicants", "selected", "rate", "impact_ratio", "remark", "unknown", "without_score"),
)


class ImpactFormat(StrEnum):
    """What the tables can be written as."""

    MD = "md"
    CSV = "csv"
    JSON = "json"


@dataclass(frozen=True)
class ImpactDocument:
    """Tables with what a reader has to know of where they come from."""

    title: str
    about: str
    parts: Sequence[tuple[str, ImpactTables]]
    """Each with its heading; an empty one where there is only one part."""
    found: Sequence[RunImpact]
    """The same, for programs."""

    def as_text(self, form: ImpactFormat) -> str:
        """Return the document in a form; only Markdown rounds."""
        match form:
            case ImpactFormat.MD:
                return "\n".join(self._markdown()) + "\n"
            case ImpactFormat.CSV:
                return csv_text(CSV_HEAD, (row for each in self.found for row in _csv_rows(each)))
            case ImpactFormat.JSON:
                return to_json(self.found, indent=2).decode()

    def print_on(self, console: Console) -> None:
        """Print the tables for people, in lines of the screen's width where words allow it."""
        for piece in self._pieces():
            match piece:
                case Rows(head, rows):
                    print_table(console, terminal_table(head, rows))
                case Heading(text):
                    print_sentence(console, text, style="bold")
                case str(text):
                    print_sentence(console, text)
            console.print()

    def _markdown(self) -> Iterator[str]:
        for number_, piece in enumerate(self._pieces()):
            yield from [""] if number_ else []
            match piece:
                case Rows(head, rows):
                    yield from markdown_table(list(map(escape_md, head)), rows)
                case Heading(text, level):
                    yield f"{'#' * level} {escape_md(text)}"
                case str(text):
                    yield escape_md(text)

    def _pieces(self) -> "Iterator[str | Heading | Rows]":
        measures = {tables.measure for _, tables in self.parts}
        kind = "Selection" if measures == {"selection"} else "Scoring"
        both = "Selection and scoring" if len(measures) > 1 else kind
        yield Heading(f"{both} rates and impact ratios: {self.title}", 1)
        yield f"{self.about} {NO_AUDIT}"
        for heading, tables in self.parts:
            if heading:
                yield Heading(heading, 2)
            yield _about(tables)
            for table in tables.tables:
                yield Heading(" x ".join(table.dimensions), 3 if heading else 2)
                yield _rows(table, tables)
                yield f"Applicants of unknown category, in no row: {table.unknown}."


@dataclass(frozen=True)
class Heading:
    """A title within a document."""

    text: str
    level: int


@dataclass(frozen=True)
class Rows:
    """A table within a document."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def run_document(run: RunProgress, found: Sequence[RunImpact]) -> ImpactDocument:
    """Return the tables of a run, a part for each target, scaffold and feature.

    Raises
    ------
    UsageError
        There is nothing to put into a table.
    """
    if not found:
        raise UsageError(f"The run {run.run_id} measures nothing that could be a score.")
    answers = f"{run.responses} of {run.probes} answers"
    about = f"Run {run.run_id} of {run.at:%Y-%m-%d}, {run.stand}: {answers}. {OF_A_RUN}"
    names = ModelNames.among(found)
    parts = [(f"{names.of(each)}, {each.feature}", each.impact) for each in found]
    return ImpactDocument(run.suite, about, parts, found)


def case_document(name: str, score: str, tables: ImpactTables, *, applicant: str) -> ImpactDocument:
    """Return the tables of a file; `applicant` says what one is there."""
    found = RunImpact(target=name, scaffold="", extractor="", feature=score, impact=tables)
    return ImpactDocument(name, f"An applicant is {applicant}.", [("", tables)], [found])


def _about(tables: ImpactTables) -> str:
    """Return what the rates are, and what stands in no row."""
    threshold = number(tables.threshold)
    what = (
        f"Selected are applicants with a score of {threshold} or more."
        if tables.measure == "selection"
        else f"The scoring rate is the share of scores above the median of all, {threshold}."
    )
    without = f"Of {tables.applicants} applicants, {tables.without_score} have no score."
    small = f"Categories with fewer than {100 * tables.small_share:g} % of the applicants"
    left_out = (
        f"{small} are left out of the impact ratios; a summary has to justify each (6 RCNY 5-301)."
        if tables.small_share
        else "No category is left out of the impact ratios because it is small."
    )
    labels = ", ".join(tables.unknown_labels)
    taken = f" Taken for unknown: no label, or {labels}." if labels else ""
    return f"{what} {without} {left_out}{taken}"


def _rows(table: ImpactTable, tables: ImpactTables) -> Rows:
    """Return a table's cells; rates are rounded to one decimal, ratios to two."""
    scoring = tables.measure == "scoring"
    counted, rate = ("above median", "scoring rate") if scoring else ("selected", "selection rate")
    head = (*table.dimensions, "applicants", counted, rate, "impact ratio", "remark")
    return Rows(head, [_cells(row) for row in table.rows])


def _cells(row: ImpactRow) -> list[str]:
    ratio = UNDEFINED if row.impact_ratio is None else f"{row.impact_ratio:.2f}"
    counts = (str(row.applicants), str(row.selected), f"{100 * row.rate:.1f} %")
    return [*row.categories, *counts, ratio, row.reason or ""]


def _csv_rows(found: RunImpact) -> Iterator[Iterable[object]]:
    impact = found.impact
    names = (found.target, found.scaffold, found.extractor, found.feature)
    for table in impact.tables:
        for row in table.rows:
            yield (
                *names,
                impact.measure,
                impact.threshold,
                " x ".join(table.dimensions),
                ", ".join(row.categories),
                *(row.applicants, row.selected, row.rate, row.impact_ratio, row.reason),
                *(table.unknown, impact.without_score),
            )
