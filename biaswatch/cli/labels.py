"""The verbs for labels of people: plan, sample, export, import, status, show."""

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer

from biaswatch.cli.options import Json, Server, Token
from biaswatch.exporting.labels import (
    Task,
    TaskFormat,
    drawn_sample,
    label_plan,
    latest_round,
    read_answers,
    samples_of,
    send_labels,
    stored_labels,
    tasks_of,
    tasks_text,
)
from biaswatch.local.client import POLL_EVERY_S
from biaswatch.local.connections import connected
from biaswatch.local.runs import corrections_of
from biaswatch.readers.labels import labels_in
from biaswatch.render.labels import (
    MAX_DISAGREEMENTS,
    print_corrected,
    print_label_plan,
    print_progress,
)
from biaswatch.render.terminal import print_json
from biaswatch.shared.analysis.labels.queue import hidden_words
from biaswatch.shared.contracts import LabelDraw
from biaswatch.shared.contracts.pair_verdict import JUDGES
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import ExportedAnswer
from biaswatch.shared.requests.labels import SampleProgress, StoredLabel
from biaswatch.written_files import write_whole

app = typer.Typer(
    name="labels",
    help="Labels of people: how wrong an instrument is, and findings corrected by it.",
    no_args_is_help=True,
)
Source = Annotated[
    str, typer.Argument(metavar="RUN | MONITOR", help="A run; of a monitor, its latest round.")
]
Feature = Annotated[str, typer.Option(help="The number: extractor.feature.")]
Group = Annotated[
    str | None, typer.Option(help="The grouping whose groups get as many labels each.")
]


@app.command("plan")
def plan(
    source: Source, feature: Feature, group: Group = None,
    server: Server = None, token: Token = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Say what 50, 100, ... labels of each group would bring, before any is made."""

    async def work() -> Any:
        async with connected(server, token, with_models=False) as client:
            run_id = await latest_round(client, source)
            return await label_plan(client, run_id, feature, group)

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    print_label_plan(found)


@app.command("sample")
def sample(
    source: Source,
    feature: Feature,
    wanted: Annotated[int, typer.Option("-n", min=1, help="How many answers, in all.")] = 300,
    group: Group = None,
    draw: Annotated[
        LabelDraw, typer.Option(help="Evenly, or more where the instrument is unsure.")
    ] = LabelDraw.EVEN,
    scale: Annotated[str | None, typer.Option(metavar="LOW:HIGH", help="What a label can be.")] = (
        None
    ),
    choice: Annotated[
        list[float] | None, typer.Option(help="A value to choose from; may be repeated.")
    ] = None,
    instructions: Annotated[
        Path | None, typer.Option(help="A text file: what people are told.")
    ] = None,
    hide: Annotated[
        list[str] | None, typer.Option(help="A word that names a group; may be repeated.")
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Draw answers to label, with known probabilities; a larger sample holds a smaller one."""
    ends = _scale(scale)
    body = {
        "feature": feature, "group": group, "wanted": wanted, "draw": draw.value, **ends,
        "choices": choice or [], "hidden": hide or [],
        "guidance": instructions.read_text() if instructions else "",
    }  # fmt: skip

    async def work() -> SampleProgress:
        async with connected(server, token, with_models=False) as client:
            return await drawn_sample(client, await latest_round(client, source), body)

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    typer.echo(f"Sample {found.sample.id}:")
    print_progress([found])
    typer.echo(
        f"Label them on the dashboard at /runs/{found.sample.run_id}/label/{found.sample.id},"
        " or `biaswatch labels export` them."
    )


@app.command("status")
def status(
    source: Source, server: Server = None, token: Token = None, as_json: Json = False
) -> None:
    """Show how far the samples of a run are labelled."""

    async def work() -> list[SampleProgress]:
        async with connected(server, token, with_models=False) as client:
            return await samples_of(client, await latest_round(client, source))

    found = asyncio.run(work())
    if as_json:
        print_json(found)
    elif found:
        print_progress(found)
    else:
        typer.echo("No answers of this run are drawn. `biaswatch labels sample` draws some.")


@app.command("export")
def export(
    source: Source,
    output: Annotated[Path, typer.Option("-o", help="The file.")],
    form: Annotated[TaskFormat, typer.Option("--format")] = TaskFormat.CSV,
    blind: Annotated[
        bool, typer.Option("--hide-groups", help="Hide words that name groups.")
    ] = False,
    server: Server = None,
    token: Token = None,
) -> None:
    """Write the answers of the latest sample for people to label; without groups and readings."""

    async def work() -> tuple[SampleProgress, list[Task]]:
        async with connected(server, token, with_models=False) as client:
            run_id = await latest_round(client, source)
            latest = _latest(await samples_of(client, run_id))
            return latest, await tasks_of(client, latest.sample)

    found, tasks = asyncio.run(work())
    if not tasks:
        raise UsageError("No text of what was drawn may be read with your token, or is left.")
    words = found.sample.hidden if blind else ()
    hidden = [
        {n: t if n == "response_id" else hidden_words(t, words) for n, t in each.items()}
        for each in tasks
    ]
    write_whole(output, tasks_text(form, hidden, found.sample))
    typer.echo(f"Wrote {len(tasks)} answers to {output}.", err=True)
    if left := len(found.sample.drawn) - len(tasks):
        typer.echo(f"{left} more were drawn and have no text that may be read.", err=True)


@app.command("import")
def import_labels(
    source: Source,
    file: Annotated[Path, typer.Argument(help="CSV, JSON lines, or an export of either tool.")],
    person: Annotated[str | None, typer.Option(help="Who, where the file does not say.")] = None,
    server: Server = None,
    token: Token = None,
) -> None:
    """Take in labels from a file: ours, or as Label Studio or Argilla export them."""
    labels = labels_in(file)
    if person:
        labels = [{"person": person, **each} for each in labels]

    async def work() -> dict[str, int]:
        async with connected(server, token, with_models=False) as client:
            run_id = await latest_round(client, source)
            latest = _latest(await samples_of(client, run_id)).sample
            return await send_labels(client, latest, labels)

    took = asyncio.run(work())
    typer.echo(
        f"{took['new']} new labels, {took['known']} known already, {took['undrawn']} of answers"
        " that were not drawn."
    )


@app.command("show")
def show(
    source: Source,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait until all labels are computed with.")
    ] = 30.0,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show findings by readings and as labels correct them, the error by group, disagreements."""

    async def work() -> tuple[Any, dict[str, list[str]], list[ExportedAnswer]]:
        async with connected(server, token, with_models=False) as client:
            run_id = await latest_round(client, source)
            until = asyncio.get_running_loop().time() + wait
            found = await corrections_of(client, run_id)
            while found.behind and asyncio.get_running_loop().time() < until:
                await asyncio.sleep(POLL_EVERY_S)
                found = await corrections_of(client, run_id)
            labels = await stored_labels(client, run_id)
            differing = disagreements(labels)
            judged = {each.response_id for each in labels if each.extractor in JUDGES}
            shown = [] if as_json else list(differing)[:MAX_DISAGREEMENTS]
            ids = [id_ for id_ in shown if id_ not in judged]  # those are no answers
            return found, differing, await read_answers(client, run_id, ids)

    found, differing, answers = asyncio.run(work())
    if as_json:
        print_json({"corrections": found.corrections, "behind": found.behind,
                    "disagreements": differing})  # fmt: skip
        return
    print_corrected(found, differing, answers)


def disagreements(labels: list[StoredLabel]) -> dict[str, list[str]]:
    """Return the answers on which people differ about one number, the widest apart first."""
    said: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for each in labels:
        if each.value is not None:
            number = (each.response_id, each.extractor, each.feature)
            said[number].append((each.value, each.person))
    apart = {key: max(values)[0] - min(values)[0] for key, values in said.items()}
    found: dict[str, list[str]] = defaultdict(list)
    for key in sorted((key for key, by in apart.items() if by), key=lambda key: (-apart[key], key)):
        found[key[0]] += [f"{person} {value:g}" for value, person in sorted(said[key])]
    return dict(found)


def _latest(found: list[SampleProgress]) -> SampleProgress:
    if not found:
        raise UsageError("No answers of this run are drawn. `biaswatch labels sample` draws some.")
    return found[-1]


def _scale(written: str | None) -> dict[str, float]:
    if written is None:
        return {}
    low, _, high = written.partition(":")
    try:
        return {"low": float(low), "high": float(high)}
    except ValueError:
        raise UsageError(f"--scale {written} is not written like 1:5.") from None
