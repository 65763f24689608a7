"""The verb that clusters a run's answers by meaning, and writes each answer's place."""

import json
from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from biaswatch.cli.extractors import app
from biaswatch.render.tables import escape
from shared.contracts import Response
from shared.errors import ConfigurationError, UsageError
from shared.runtime.settings import load_settings
from shared.store import Store


def register() -> None:
    """Add the verb to those for extractors."""
    app.command("cluster")(cluster)


def cluster(
    run_id: Annotated[str, typer.Argument(help="The run, as `runs` lists it.")],
    by: Annotated[str | None, typer.Option(help="Cluster within each group of this kind.")] = None,
    number: Annotated[int, typer.Option(min=1, help="How many clusters.")] = 3,
    seed: Annotated[int, typer.Option(help="Of k-means.")] = 0,
    model: Annotated[str | None, typer.Option(help="A sentence-transformers model.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Each answer's place.")] = False,
) -> None:
    """Cluster a run's answers: own cluster, nearest cluster of baselines, distances to each."""
    from services.extractor.domain import Unscorable
    from services.extractor.settings import ExtractorSettings
    from shared.models.device import ModelOptions

    settings = load_settings(ExtractorSettings)
    models = ModelOptions(settings.extractor_device, settings.extractor_download)
    try:
        models.require()
        from services.extractor.domain.clusters import cluster_assignments
        from shared.models.embedding import MINILM, Embedder
        from shared.models.forward_passes import ModelUnavailable
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"Clusters need {error.name}, which is not installed. Install the `models` extra."
        ) from None
    with Store.open(settings.store) as store:
        responses = list(store.records.read(Response, run_id=run_id))
    if not responses:
        raise UsageError(f"The run {run_id} has no answers. `biaswatch runs` lists the runs.")
    embedder = Embedder(models, model or MINILM)
    try:
        places = cluster_assignments(responses, embedder.vectors, by=by, number=number, seed=seed)
    except (ModelUnavailable, Unscorable) as why:
        raise ConfigurationError(str(why)) from None
    if as_json:
        typer.echo(json.dumps([asdict(place) for place in places], indent=2))
        return
    counts = Counter((place.segment, place.cluster or "not embedded") for place in places)
    table = Table("within", "cluster", "answers", box=None, header_style="underline")
    for (segment, name), answers in sorted(counts.items()):
        table.add_row(escape(segment), escape(name), str(answers))
    Console().print(table)
