"""The verbs for suites of published benchmarks and of twins' answers."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from biaswatch.bbq.rows import ROWS, SOURCE, BbqRow, fetch, read_folder
from biaswatch.bbq.suite import BEGINNING, paired, recording_of, suite_of, write_suite
from biaswatch.cli.options import Json
from biaswatch.cli.shortlists import make_shortlists
from biaswatch.cli.suite_check import check_suite
from biaswatch.cli.twin_similarity import show_similarity, show_words
from biaswatch.cli.twins import (
    judged_preferences,
    make_axes,
    make_own_answers,
    make_pairs,
    preference_sentence,
)
from biaswatch.cli.validate import validate_suite
from biaswatch.published.choices import Wording
from biaswatch.published.datasets import DATASETS, KNOWN, LEFT_OUT, LONG_TEXTS, PublishedDataset
from biaswatch.published.files import checked_files, discard, fetch_files
from biaswatch.published.suites import MEASURED, STUDY, ScoredRun, about, published_suite, scored
from biaswatch.render.terminal import escape, printable
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number as number_text
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.stats.studies.published_choices import PublishedScore
from biaswatch.shared.store import Store
from biaswatch.written_files import write_atomically

MAX_SHOWN_QUESTIONS = 3
HUB = "heegyu/bbq"
BBQ_LICENCE = "CC BY 4.0"
BBQ_SCORES = (
    "Parrish et al. (2022), BBQ, Findings of ACL. Bias scores in ambiguous and disambiguated"
    " contexts, and accuracy."
)
BBQ_PROBLEMS: tuple[str, ...] = (
    "The stereotypes are of the United States, in English.",
    "The contexts of a category come from few templates: intervals count templates.",
    LONG_TEXTS,
    KNOWN,
)
app = typer.Typer(
    name="suites",
    help="Suites from published benchmarks, tables and answers.",
    no_args_is_help=True,
)
app.command("shortlist")(make_shortlists)
app.command("check")(check_suite)
app.command("validate")(validate_suite)
Name = Annotated[str, typer.Argument(help="bbq, or a benchmark that `suites list` names.")]
Category = Annotated[list[str] | None, typer.Option(help="A category of bbq; may be repeated.")]


def folder_of(name: str) -> Path:
    """Return the folder of the files of a fetched benchmark."""
    return load_settings(Settings).state_dir / "data" / name


def dataset_of(name: str) -> PublishedDataset:
    """Return a benchmark.

    Raises
    ------
    UsageError
        The benchmark is unknown, or cannot be fetched.
    """
    if reason := LEFT_OUT.get(name):
        raise UsageError(f"{name} cannot be fetched: {reason}.")
    if name not in DATASETS:
        known = ", ".join(["bbq", *DATASETS])
        raise UsageError(f"Unknown benchmark {name!r}; the known ones are {known}.")
    return DATASETS[name]


@app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List the published benchmarks: licence, citation, meaning of a score."""
    if as_json:
        typer.echo(json.dumps({name: about(data) for name, data in DATASETS.items()}, indent=2))
        return
    table = Table("name", "licence", "citation and meaning", box=None)
    table.add_row("bbq", BBQ_LICENCE, "Parrish et al. (2022): `biaswatch suites make bbq`")
    for name, dataset in DATASETS.items():
        table.add_row(name, dataset.licence, escape(f"{dataset.citation}. {dataset.meaning}"))
    for name, reason in LEFT_OUT.items():
        table.add_row(name, "-", escape(f"left out: {reason}"))
    Console().print(table)


@app.command("show")
def show_dataset(name: Name, as_json: Json = False) -> None:
    """Show the citation, licence, score and known problems of a published benchmark."""
    if name == "bbq":
        licence, text, problems = BBQ_LICENCE, BBQ_SCORES, BBQ_PROBLEMS
    else:
        data = dataset_of(name)
        licence, text, problems = data.licence, f"{data.citation}. {data.meaning}", data.problems
    if as_json:
        fields = {"name": name, "licence": licence, "about": text, "problems": problems}
        typer.echo(json.dumps(fields, indent=2))
        return
    typer.echo(f"{name} ({licence})\n{text}\nKnown against it:")
    for problem in problems:
        typer.echo(f"- {problem}")


@app.command("fetch")
def fetch_data(
    name: Name,
    category: Category = None,
    folder: Annotated[
        Path | None, typer.Option("--to", help="A folder other than the cache.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Another URL of the files.")] = None,
) -> None:
    """Download a published benchmark; complete files are not fetched again."""
    target = folder or folder_of(name)
    if name == "bbq":
        for subset in _categories(category):
            rows, new = fetch(subset, target, source or SOURCE)
            typer.echo(f"{subset}: {rows} rows{'' if new else ', there already'}.", err=True)
    elif category:
        raise UsageError("--category is for bbq.")
    else:
        _fetch_published(name, target, source or "")
    typer.echo(str(target))


def _fetch_published(name: str, target: Path, source: str) -> None:
    """Fetch a benchmark's files, and print their terms of use."""
    dataset = dataset_of(name)
    fetched = fetch_files(dataset.files, target, source)
    for file, new in fetched.items():
        typer.echo(f"{file}{'' if new else ': there already'}", err=True)
    try:
        published_suite(dataset, {file: target / file for file in fetched}, most=1)
    except UsageError as error:  # a login page, or an incomplete file
        discard([file for file, new in fetched.items() if new], target)
        raise UsageError(f"{error} The fetched files were discarded.") from None
    typer.echo(about(dataset), err=True)
    typer.echo(f"Next: biaswatch suites make {name} -o {name}", err=True)


@app.command("make")
def make(
    name: Name,
    output: Annotated[Path, typer.Option("-o", help="The suite's folder; replaced.")],
    folder: Annotated[
        Path | None, typer.Option("--from", help="A folder of its files, instead of the cache.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N questions; not for bbq.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of options.")] = 0,
    category: Category = None,
    condition: Annotated[
        str | None, typer.Option(help="A condition of bbq: ambig or disambig; default both.")
    ] = None,
    hub: Annotated[
        bool, typer.Option("--hub", help=f"Load bbq from Hugging Face's {HUB}.")
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(help="Rows of bbq with a model's answers; -o is then a `replay:` file."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of --answers.")] = None,
    likelihood: Annotated[
        bool, typer.Option("--likelihood", help="Score the texts by likelihood, as the papers do.")
    ] = False,
) -> None:
    """Make a suite of a published benchmark, or a recording of published answers, for `run`."""
    if name == "bbq":
        if limit is not None:
            raise UsageError("--limit is not for bbq: name a --category or a --condition.")
        if answers is not None:
            _make_recording(answers, column, output, seed)
        else:
            rows = _bbq_rows(folder, category, condition, hub=hub)
            _make_bbq(output, rows, seed, likelihood=likelihood)
        return
    if category or condition or hub or answers or column:
        raise UsageError("--category, --condition, --hub, --answers and --column are for bbq.")
    dataset = dataset_of(name)
    files = checked_files(dataset.files, folder or folder_of(name), name)
    suite = published_suite(dataset, files, Wording(seed, likelihood), most=limit)
    write_suite(suite, output)
    typer.echo(f"Wrote {output}: {len(suite.probes)} questions. {about(dataset)}", err=True)


def _make_bbq(output: Path, rows: list[BbqRow], seed: int, *, likelihood: bool) -> None:
    suite = suite_of(rows, seed=seed, scored=likelihood)
    write_suite(suite, output)
    _show_problems(rows)
    typer.echo(f"Wrote {output}: {len(suite.probes)} questions, {suite.pairs} pairs.", err=True)


def _make_recording(answers: Path, column: str | None, output: Path, seed: int) -> None:
    """Write published answers as a recording, with the seed of their suite."""
    if column is None:
        raise UsageError("--column is missing: the column of --answers that holds them.")
    if not answers.exists():
        raise UsageError(f"There is no file {answers}.")
    lines = list(recording_of(answers, column, seed=seed))
    write_atomically(output, "".join(line + "\n" for line in lines))
    truncated = sum(BEGINNING in json.loads(line) for line in lines)
    typer.echo(f"Wrote {output}: {len(lines)} answers.", err=True)
    if truncated:
        meaning = "each counts as the only option that starts with it"
        typer.echo(f"{truncated} of them are truncated; {meaning}.", err=True)


def _bbq_rows(
    folder: Path | None, category: list[str] | None, condition: str | None, *, hub: bool
) -> list[BbqRow]:
    if condition not in {None, "ambig", "disambig"}:
        raise UsageError(f"The condition must be ambig or disambig, not {condition!r}.")
    if hub:
        from biaswatch.bbq.rows import read_hub

        rows = [row for name in _categories(category) for row in read_hub(HUB, name)]
    else:
        rows = read_folder(folder or folder_of("bbq"), category or ())
    kept = [row for row in rows if condition in {None, row.context_condition}]
    if not kept:
        raise UsageError("No row has this category and condition.")
    return kept


def _show_problems(rows: list[BbqRow]) -> None:
    """Print the rows without a pair or a bias score."""
    unpaired = paired(rows).unpaired
    for reason, times in Counter(context.reason for context in unpaired).items():
        keys = [context.rows[0].key for context in unpaired if context.reason == reason]
        typer.echo(
            f"{times} contexts form no pair: {reason} ({', '.join(keys[:MAX_SHOWN_QUESTIONS])},"
            " ...). Their questions are included and scored, but not judged by the oracle.",
            err=True,
        )
    if without := sum(row.biased is None for row in rows):
        typer.echo(
            f"{without} rows do not name the target of the stereotype: they count for the accuracy,"
            " not for the bias scores.",
            err=True,
        )


def _categories(category: list[str] | None) -> list[str]:
    if unknown := [name for name in category or () if name not in ROWS]:
        raise UsageError(f"Unknown category {unknown[0]!r}; the categories are {', '.join(ROWS)}.")
    return category or list(ROWS)


app.command("pairs")(make_pairs)
app.command("axes")(make_axes)
app.command("own-answers")(make_own_answers)
app.command("similarity")(show_similarity)
app.command("words")(show_words)


@app.command("score")
def score_run(
    run_id: Annotated[str, typer.Argument(help="A run of such a suite: its id, name or `latest`.")],
    as_json: Json = False,
) -> None:
    """Score a run of a published benchmark by its paper's definition, or of judged twins."""
    from biaswatch.services.gateway.references import IdReferences  # slow to load

    with Store.open(load_settings(Settings).store) as store:
        run_id = IdReferences(store).run(run_id)
        responses = list(store.records.read(Response, run_id=run_id))
        features = list(store.records.read(Features, run_id=run_id))
    if judged := judged_preferences(responses, features):
        if as_json:
            typer.echo(json.dumps([asdict(row) for row in judged], indent=2))
        for row in judged if not as_json else ():
            typer.echo(printable(preference_sentence(row)))
        return
    studies = {response.probe.facts.get(STUDY, "") for response in responses}
    wanted = {MEASURED[study] for study in studies if study in MEASURED}
    measured = {
        row.response_id: value
        for row in features
        for extractor, name in wanted
        if row.extractor == extractor and (value := row.values.get(name)) is not None
    }
    runs = scored(responses, measured)
    if as_json:
        typer.echo(json.dumps([_as_json(run) for run in runs], indent=2))
        return
    for run in runs:
        typer.echo(f"{run.study}, {run.target}: {run.answers} answers, {run.unread} not read.")
        for score in run.scores:
            typer.echo(f"  {score.name}: {_score_text(score)} (n = {score.n})")
        typer.echo(f"  {DATASETS[run.study].meaning}")


def _score_text(score: PublishedScore) -> str:
    """Return a score with its interval, or the reason for a missing one."""
    if score.value is None:
        return f"none: {score.reason}"
    if score.low is None or score.high is None:
        return f"{number_text(score.value)}, without an interval: {score.reason}"
    return f"{number_text(score.value)} [{number_text(score.low)}, {number_text(score.high)}]"


def _as_json(run: ScoredRun) -> dict[str, object]:
    scores = [vars(score) for score in run.scores]
    return {**vars(run), "scores": scores, "licence": DATASETS[run.study].licence}
