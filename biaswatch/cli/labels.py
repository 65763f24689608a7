"""The verbs for labels of people: plan, sample, export, import, status, show."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.options import Json, ask
from biaswatch.exporting.labels import (
    Task,
    TaskFormat,
    drawn_sample,
    latest_round,
    read_answers,
    samples_of,
    send_labels,
    stored_labels,
    tasks_of,
    tasks_text,
)
from biaswatch.local.client import POLL_EVERY_S, GatewayClient
from biaswatch.local.runs import corrections_of
from biaswatch.readers.labels import labels_in
from biaswatch.render.labels import MAX_DISAGREEMENTS, print_corrected, print_progress
from biaswatch.render.terminal import print_json
from biaswatch.shared.analysis.labels.queue import hidden_words
from biaswatch.shared.contracts import LabelDraw, LabelSample
from biaswatch.shared.contracts.judged_items import JUDGES
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, read_text
from biaswatch.shared.requests.exports import ExportedAnswer
from biaswatch.shared.requests.labels import (
    RunCorrections,
    SampleProgress,
    SampleRequest,
    StoredLabel,
)
from biaswatch.written_files import write_atomically

app = typer.Typer(
    name="labels",
    help="Labels by people: the errors of an instrument, and findings corrected for them.",
    no_args_is_help=True,
)
NO_SAMPLE = "No answers of this run are drawn. `biaswatch labels sample` draws some."
Source = Annotated[
    str, typer.Argument(metavar="RUN | MONITOR", help="A run; of a monitor, its latest round.")
]


@app.command("sample")
def sample(
    source: Source,
    feature: Annotated[str, typer.Option(help="The number: extractor.feature.")],
    wanted: Annotated[int, typer.Option("-n", min=1, help="How many answers, in all.")] = 300,
    group: Annotated[
        str | None, typer.Option(help="The dimension whose groups get as many labels each.")
    ] = None,
    draw: Annotated[
        LabelDraw, typer.Option(help="Evenly, or more where the instrument is unsure.")
    ] = LabelDraw.EVEN,
    scale: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="The ends of the labels' scale.")
    ] = None,
    choice: Annotated[
        list[float] | None, typer.Option(help="A value to choose from; may be repeated.")
    ] = None,
    instructions: Annotated[
        Path | None, typer.Option(help="A text file with instructions for people.")
    ] = None,
    hide: Annotated[
        list[str] | None, typer.Option(help="A word that names a group; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw answers to label, with known probabilities; a larger sample holds a smaller one."""
    low, high = _scale(scale)
    body = checked(
        SampleRequest,
        {
            "feature": feature, "group": group, "wanted": wanted, "draw": draw, "low": low,
            "high": high, "choices": choice or [], "hidden": hide or [],
            "guidance": read_text(instructions, "file of instructions") if instructions else "",
        },
        "sample",
    )  # fmt: skip

    async def send(client: GatewayClient) -> SampleProgress:
        return await drawn_sample(client, await latest_round(client, source), body)

    drawn = ask(send)
    if as_json:
        print_json(drawn)
        return
    typer.echo(f"Sample {drawn.sample.id}:")
    print_progress([drawn])
    typer.echo(
        f"Label them on the dashboard at /runs/{drawn.sample.run_id}/label/{drawn.sample.id},"
        " or `biaswatch labels export` them."
    )


@app.command("export")
def export(
    source: Source,
    output: Annotated[Path, typer.Option("-o", help="The file.")],
    form: Annotated[TaskFormat, typer.Option("--format")] = TaskFormat.CSV,
    blind: Annotated[
        bool, typer.Option("--hide-groups", help="Hide words that name groups.")
    ] = False,
) -> None:
    """Write the answers of the latest sample for people to label; without groups and readings."""

    async def read(client: GatewayClient) -> tuple[LabelSample, list[Task]]:
        latest = await _latest_sample(client, await latest_round(client, source))
        return latest, await tasks_of(client, latest)

    drawn, tasks = ask(read)
    if not tasks:
        raise UsageError("No text of this sample can be read with your token, or none is left.")
    words = drawn.hidden if blind else ()
    shown = [
        {
            name: text if name == "response_id" else hidden_words(text, words)
            for name, text in task.items()
        }
        for task in tasks
    ]
    write_atomically(output, tasks_text(form, shown, drawn))
    typer.echo(f"Wrote {len(tasks)} answers to {output}.", err=True)
    if left := len(drawn.drawn) - len(tasks):
        typer.echo(f"{left} more were drawn and have no text that may be read.", err=True)


@app.command("import")
def import_labels(
    source: Source,
    file: Annotated[Path, typer.Argument(help="CSV, JSON lines, or an export of either tool.")],
    person: Annotated[
        str | None, typer.Option(help="Who labelled, where the file does not say.")
    ] = None,
) -> None:
    """Take in labels from a file: ours, or as Label Studio or Argilla export them."""
    labels = labels_in(file)
    if person:
        labels = [{"person": person, **label} for label in labels]

    async def send(client: GatewayClient) -> dict[str, int]:
        latest = await _latest_sample(client, await latest_round(client, source))
        return await send_labels(client, latest, labels)

    counts = ask(send)
    typer.echo(
        f"{counts['new']} new labels, {counts['known']} known already, {counts['undrawn']} of"
        " answers that were not drawn."
    )


@app.command("show")
def show(
    source: Source,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait until all labels are used.")
    ] = 30.0,
    as_json: Json = False,
) -> None:
    """Show how far samples are labelled, findings corrected by labels, and disagreements."""

    async def read(client: GatewayClient) -> LabelDisplay:
        return await _shown(client, await latest_round(client, source), wait, texts=not as_json)

    shown = ask(read)
    if as_json:
        print_json(
            {
                "samples": shown.samples,
                "corrections": shown.corrections.corrections,
                "behind": shown.corrections.behind,
                "disagreements": shown.disagreements,
            }
        )
    elif not shown.samples:
        typer.echo(NO_SAMPLE)
    else:
        print_progress(shown.samples)
        print_corrected(shown.corrections, shown.disagreements, shown.answers)


@dataclass(frozen=True)
class LabelDisplay:
    """The labels of a run, and its corrected gaps."""

    samples: list[SampleProgress]
    corrections: RunCorrections
    disagreements: dict[str, list[str]]
    answers: list[ExportedAnswer]
    """Answers with the largest disagreement between people."""


async def _shown(client: GatewayClient, run_id: str, wait_s: float, *, texts: bool) -> LabelDisplay:
    samples = await samples_of(client, run_id)
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    corrections = await corrections_of(client, run_id)
    while corrections.behind and clock() < deadline:
        await asyncio.sleep(POLL_EVERY_S)
        corrections = await corrections_of(client, run_id)
    labels = await stored_labels(client, run_id)
    differing = disagreements(labels)
    judged = {label.response_id for label in labels if label.extractor in JUDGES}
    ids = list(differing)[:MAX_DISAGREEMENTS] if texts else []
    answers = await read_answers(client, run_id, [id_ for id_ in ids if id_ not in judged])
    return LabelDisplay(samples, corrections, differing, answers)


def disagreements(labels: list[StoredLabel]) -> dict[str, list[str]]:
    """Return the answers on which people differ about one number, the widest apart first."""
    by_number: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for label in labels:
        if label.value is not None:
            number = (label.response_id, label.extractor, label.feature)
            by_number[number].append((label.value, label.person))
    distances = {key: max(values)[0] - min(values)[0] for key, values in by_number.items()}
    differing = sorted(
        (key for key, distance in distances.items() if distance),
        key=lambda key: (-distances[key], key),
    )
    lines: dict[str, list[str]] = defaultdict(list)
    for key in differing:
        lines[key[0]] += [f"{person} {value:g}" for value, person in sorted(by_number[key])]
    return dict(lines)


async def _latest_sample(client: GatewayClient, run_id: str) -> LabelSample:
    samples = await samples_of(client, run_id)
    if not samples:
        raise UsageError(NO_SAMPLE)
    return samples[-1].sample


def _scale(text: str | None) -> tuple[float | None, float | None]:
    if text is None:
        return None, None
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f"--scale {text} is not written like 1:5.") from None
