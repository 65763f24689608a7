"""The verbs `suites fetch`, `bbq` and `bbq-answers`: published data becomes suites."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.bbq.rows import ROWS, SOURCE, BbqRow, fetch, read_folder
from biaswatch.bbq.suite import paired, recording_of, suite_of, write_suite
from biaswatch.cli.options import is_there
from biaswatch.cli.published import fetch_published, list_datasets, make_published, score_run
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.written_files import write_whole

app = typer.Typer(name="suites", help="Suites from published data.", no_args_is_help=True)
app.command("list")(list_datasets)
app.command("published")(make_published)
app.command("score")(score_run)
MOST_SHOWN = 3
HUB = "heegyu/bbq"

Category = Annotated[
    list[str] | None, typer.Option(help="One of the published categories; may be repeated.")
]
Seed = Annotated[int, typer.Option(help="What the order of the options is drawn from.")]


def cache() -> Path:
    """Return where fetched data lies."""
    return load_settings(Settings).state_dir / "data" / "bbq"


@app.command("fetch")
def fetch_data(
    data: Annotated[str, typer.Argument(help="What: bbq, or what `suites list` names.")],
    category: Category = None,
    folder: Annotated[Path | None, typer.Option("--to", help="Instead of the cache.")] = None,
    source: Annotated[str | None, typer.Option(help="Another place that serves the files.")] = None,
) -> None:
    """Download published questions; what is there whole already is not fetched again."""
    if data != "bbq":
        if category:
            raise UsageError("--category is for bbq.")
        fetch_published(data, folder, source)
        return
    into = folder or cache()
    for name in _known(category):
        rows, new = fetch(name, into, source or SOURCE)
        typer.echo(f"{name}: {rows} rows{'' if new else ', there already'}.", err=True)
    typer.echo(str(into))


@app.command("bbq")
def make_suite(
    output: Annotated[Path, typer.Option("-o", help="The suite's folder; made anew.")],
    folder: Annotated[
        Path | None, typer.Option("--from", help="A folder of BBQ's files, instead of the cache.")
    ] = None,
    category: Category = None,
    condition: Annotated[
        str | None, typer.Option(help="ambig or disambig; both, unless named.")
    ] = None,
    hub: Annotated[bool, typer.Option("--hub", help=f"Load Hugging Face's {HUB} instead.")] = False,
    seed: Seed = 0,
) -> None:
    """Make a suite of BBQ's questions, for `biaswatch run`."""
    rows = _rows(folder, category, condition, hub=hub)
    suite = suite_of(rows, seed=seed)
    write_suite(suite, output)
    _tell(rows)
    typer.echo(f"Wrote {output}: {len(suite.probes)} questions, {suite.pairs} pairs.", err=True)


def _rows(
    folder: Path | None, category: list[str] | None, condition: str | None, *, hub: bool
) -> list[BbqRow]:
    if condition not in {None, "ambig", "disambig"}:
        raise UsageError(f"The condition is ambig or disambig, not {condition!r}.")
    if hub:
        from biaswatch.bbq.rows import read_hub

        rows = [row for name in _known(category) for row in read_hub(HUB, name)]
    else:
        rows = read_folder(folder or cache(), category or ())
    kept = [row for row in rows if condition in {None, row.context_condition}]
    if not kept:
        raise UsageError("There are no such rows.")
    return kept


def _tell(rows: list[BbqRow]) -> None:
    """Say what is not as it should be: nothing is left out in silence."""
    unpaired = paired(rows).unpaired
    for why, times in Counter(each.reason for each in unpaired).items():
        some = [each.rows[0].key for each in unpaired if each.reason == why][:MOST_SHOWN]
        typer.echo(
            f"{times} contexts make no pair: {why} ({', '.join(some)}, ...). Their questions are"
            " asked and scored; the oracle does not see them.",
            err=True,
        )
    if without := sum(row.biased is None for row in rows):
        typer.echo(
            f"{without} rows do not say who the stereotype is about: they count for the accuracy,"
            " not for the bias scores.",
            err=True,
        )


@app.command("bbq-answers")
def make_recording(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="A file of rows with a model's answers.", callback=is_there, is_eager=True
        ),
    ],
    column: Annotated[str, typer.Option(help="The column that holds the answers.")],
    output: Annotated[Path, typer.Option("-o", help="The file for a `replay:` target.")],
    seed: Seed = 0,
) -> None:
    """Make a recording of published answers, to be run as `replay:FILE`; with the suite's seed."""
    lines = list(recording_of(predictions, column, seed=seed))
    write_whole(output, "".join(line + "\n" for line in lines))
    typer.echo(f"Wrote {output}: {len(lines)} answers.", err=True)


def _known(category: list[str] | None) -> list[str]:
    if strange := [name for name in category or () if name not in ROWS]:
        raise UsageError(f"There is no category {strange[0]!r}; there are {', '.join(ROWS)}.")
    return category or list(ROWS)
