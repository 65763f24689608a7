"""The verbs `suites list`, `published` and `score`, for published benchmarks."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from biaswatch.cli.options import Json
from biaswatch.local.run_ids import MOST_SHOWN, check_beginning, the_one
from biaswatch.published.datasets import DATASETS, LEFT_OUT, PublishedDataset
from biaswatch.published.files import checked_files, discard, fetch_files
from biaswatch.published.scoring import MEASURED, STUDY, ScoredRun, scored
from biaswatch.published.suites import about, published_suite
from biaswatch.render.tables import escape
from biaswatch.shared.contracts import Features, Response, Run
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number as number_text
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.stats.studies.published_choices import PublishedScore
from biaswatch.shared.store import Store

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
