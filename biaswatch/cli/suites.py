"""The verbs `suites fetch`, `bbq` and `bbq-answers`: published data becomes suites."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from biaswatch.bbq.rows import ROWS, SOURCE, BbqRow, fetch, read_folder
from biaswatch.bbq.suite import paired, recording_of, suite_of, write_suite
from biaswatch.cli.options import Json, is_there
from biaswatch.local.runs import MOST_SHOWN, check_beginning, the_one
from biaswatch.published.datasets import DATASETS, LEFT_OUT, PublishedDataset
from biaswatch.published.files import checked_files, discard, fetch_files
from biaswatch.published.scoring import MEASURED, STUDY, ScoredRun, scored
from biaswatch.published.suites import about, published_suite
from biaswatch.render.terminal import escape
from biaswatch.shared.contracts import Features, Response, Run
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number as number_text
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.stats.studies.published_choices import PublishedScore
from biaswatch.shared.store import Store
from biaswatch.written_files import write_whole

BBQ_LICENCE = "CC BY 4.0"


def folder_of(name: str) -> Path:
    """Return where the files of a fetched benchmark lie."""
    return load_settings(Settings).state_dir / "data" / name


def dataset_of(name: str) -> PublishedDataset:
    """Return a benchmark; raise UsageError, with the reason where it is left out, for others."""
    if why := LEFT_OUT.get(name):
        raise UsageError(f"{name} cannot be fetched: {why}.")
    if name not in DATASETS:
        known = ", ".join(["bbq", *DATASETS])
        raise UsageError(f"There is no data {name!r} to fetch; there are {known}.")
    return DATASETS[name]


def fetch_published(name: str, folder: Path | None, source: str | None) -> None:
    """Fetch a benchmark's files, and say under which terms they may be used."""
    dataset = dataset_of(name)
    into = folder or folder_of(name)
    fetched = fetch_files(dataset.files, into, source or "")
    for file, new in fetched.items():
        typer.echo(f"{file}{'' if new else ': there already'}", err=True)
    try:
        published_suite(dataset, {file: into / file for file in fetched}, most=1)
    except UsageError as error:  # a page that asks for a login, or half a file
        discard([file for file, new in fetched.items() if new], into)
        raise UsageError(f"{error} What was fetched is not kept.") from None
    typer.echo(about(dataset), err=True)
    typer.echo(f"Next: biaswatch suites published {name} -o {name}", err=True)
    typer.echo(str(into))


def list_datasets(as_json: Json = False) -> None:
    """List the published benchmarks: licence, citation, what a score means."""
    if as_json:
        typer.echo(json.dumps({name: about(each) for name, each in DATASETS.items()}, indent=2))
        return
    table = Table("name", "licence", "citation and meaning", box=None)
    table.add_row("bbq", BBQ_LICENCE, "Parrish et al. (2022): `biaswatch suites bbq`")
    for name, each in DATASETS.items():
        said = " ".join(filter(None, [f"{each.citation}.", each.meaning, each.warning]))
        table.add_row(name, each.licence, escape(said))
    for name, why in LEFT_OUT.items():
        table.add_row(name, "-", escape(f"left out: {why}"))
    Console().print(table)


def make_published(
    name: Annotated[str, typer.Argument(help="A benchmark that `suites list` names.")],
    output: Annotated[Path, typer.Option("-o", help="The suite's folder; made anew.")],
    folder: Annotated[
        Path | None, typer.Option("--from", help="A folder of its files, instead of the cache.")
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions, the first ones.")
    ] = None,
    seed: Annotated[int, typer.Option(help="What the order of options is drawn from.")] = 0,
) -> None:
    """Make a suite of a published benchmark, for `biaswatch run`."""
    from biaswatch.bbq.suite import write_suite

    dataset = dataset_of(name)
    files = checked_files(dataset.files, folder or folder_of(name), name)
    suite = published_suite(dataset, files, seed=seed, most=most)
    write_suite(suite, output)
    typer.echo(f"Wrote {output}: {len(suite.probes)} questions. {about(dataset)}", err=True)


def score_run(
    run_id: Annotated[str, typer.Argument(help="A run of such a suite: its id, or how it begins.")],
    as_json: Json = False,
) -> None:
    """Score a run of a published benchmark by its paper's definition."""
    with Store.open(load_settings(Settings).store) as store:
        run_id = _run_in(store, run_id)
        responses = list(store.records.read(Response, run_id=run_id))
        features = list(store.records.read(Features, run_id=run_id))
    studies = {response.probe.facts.get(STUDY, "") for response in responses}
    wanted = {MEASURED[study] for study in studies if study in MEASURED}
    measured = {
        each.response_id: value
        for each in features
        for extractor, name in wanted
        if each.extractor == extractor and (value := each.values.get(name)) is not None
    }
    found = scored(responses, measured)
    if as_json:
        typer.echo(json.dumps([_as_json(each) for each in found], indent=2))
        return
    for each in found:
        typer.echo(f"{each.study}, {each.target}: {each.answers} answers, {each.unread} not read.")
        for score in each.scores:
            typer.echo(f"  {score.name}: {_said(score)} (n = {score.n})")
        typer.echo(f"  {DATASETS[each.study].meaning}")


def _run_in(store: Store, written: str) -> str:
    """Return the id of the run of the store whose id begins so."""
    check_beginning(written)
    ids = store.records.latest_ids(Run, MOST_SHOWN + 1, begins=written)
    return the_one(written, [(run.id, run.suite) for run in store.records.get(Run, ids)])


def _said(score: PublishedScore) -> str:
    """Return a number with its interval, or why there is none."""
    if score.value is None:
        return f"none: {score.reason}"
    if score.low is None or score.high is None:
        return f"{number_text(score.value)}, without an interval: {score.reason}"
    return f"{number_text(score.value)} [{number_text(score.low)}, {number_text(score.high)}]"


def _as_json(run: ScoredRun) -> dict[str, object]:
    scores = [vars(score) for score in run.scores]
    return {**vars(run), "scores": scores, "licence": DATASETS[run.study].licence}


app = typer.Typer(name="suites", help="Suites from published data.", no_args_is_help=True)
app.command("list")(list_datasets)
app.command("published")(make_published)
app.command("score")(score_run)
MAX_SHOWN_QUESTIONS = 3
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
        some = [each.rows[0].key for each in unpaired if each.reason == why][:MAX_SHOWN_QUESTIONS]
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
