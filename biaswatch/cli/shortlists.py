"""The verb `suites shortlist`: make a suite of lists of candidates from two tables."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaswatch.cli.options import existing_file
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.texts import one_line

if TYPE_CHECKING:
    import pandas as pd

    from biaswatch.building.shortlists import Candidate, Person

MAX_NAME = 96
"""Characters of a suite's name."""
LIST, NAME, TEXT = "list", "name", "text"
ABOUT = (
    "Lists of candidates from {file}. The twins of a set differ in one candidate's name alone; the"
    " order and all other candidates are equal. Over the sets of a list, the varied candidate is in"
    " every place once."
)


def make_shortlists(
    candidates: Annotated[
        Path,
        typer.Argument(help="CSV: list, name, text of each candidate.", callback=existing_file),
    ],
    names: Annotated[
        Path, typer.Option(help="CSV: name and its groups, one a column.", callback=existing_file)
    ],
    ask: Annotated[str, typer.Option(help="The purpose of the list.")],
    output: Annotated[Path, typer.Option("-o", help="The suite's folder; replaced.")],
    choose: Annotated[
        bool, typer.Option("--choose", help="Ask for one candidate instead of a ranking.")
    ] = False,
) -> None:
    """Make a suite whose prompts list candidates, to compare their ranks by group."""
    from biaswatch.bbq.suite import write_suite
    from biaswatch.building.shortlists import Shortlists

    lists = Shortlists(ask, _candidates(candidates), _people(names), choose)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", output.resolve().name)[:MAX_NAME]
    suite = lists.suite(name, ABOUT.format(file=candidates.name))
    write_suite(suite, output)
    sets = len({probe.set for probe in suite.probes})
    typer.echo(f"Wrote {output}: {len(suite.probes)} prompts in {sets} sets.", err=True)


def _candidates(path: Path) -> list["Candidate"]:
    from biaswatch.building.shortlists import Candidate

    frame = _frame(path, NAME, TEXT)
    lists = frame[LIST] if LIST in frame else ["1"] * len(frame)
    rows = zip(lists, frame[NAME], frame[TEXT], strict=True)
    return [Candidate(one_line(a), one_line(b), one_line(c)) for a, b, c in rows]


def _people(path: Path) -> list["Person"]:
    from biaswatch.building.shortlists import Person

    frame = _frame(path, NAME)
    groups = [str(name) for name in frame.columns if name != NAME]
    return [
        Person(row[NAME], {name: row[name] for name in groups if row[name]})
        for row in frame.to_dict("records")
    ]


def _frame(path: Path, *columns: str) -> "pd.DataFrame":
    """Read a table of texts; raise UsageError if a column or a value in it is missing."""
    from biaswatch.readers.columns import check_columns
    from biaswatch.readers.table_files import frame_of

    frame = frame_of(path).astype("string").fillna("")
    check_columns(columns, frame, path)
    for column in columns:
        if (frame[column].str.strip() == "").any():
            raise UsageError(f"{path} has a row without a {column}.")
    return frame
