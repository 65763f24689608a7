"""The verbs of `searches`: list, show, cancel; and the output of a search."""

from pathlib import Path
from typing import Annotated

import typer
import yaml

from biaswatch.cli.options import Everything, Json, ask, show_rows
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.searches import show_search, whole_search_id
from biaswatch.render.searches import print_search
from biaswatch.render.terminal import print_json
from biaswatch.shared.contracts import Suite
from biaswatch.shared.presentation.searches import progress_line
from biaswatch.shared.requests.search_views import SearchProgress, SearchStatus, SearchView
from biaswatch.written_files import check_writable, write_atomically

app = typer.Typer(
    name="searches", no_args_is_help=True, help="Searches for bias: list, show, cancel."
)
SearchId = Annotated[
    str, typer.Argument(metavar="SEARCH", help="The id, its beginning, or `latest`.")
]


def _checked(output: Path | None) -> Path | None:
    if output is not None:
        check_writable(output)
    return output


Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write a suite of fresh twins from the regions found, as YAML.",
        callback=_checked,
    ),
]


async def suite_of(client: GatewayClient, view: SearchView, output: Path | None) -> Suite | None:
    """Return the suite of the findings of a search, if there is a file for it."""
    if output is None or not view.results.findings:
        return None
    return await client.read(Suite, path("searches", view.progress.search_id, "suite"))


def show_result(
    view: SearchView,
    suite: Suite | None,
    output: Path | None,
    *,
    as_json: bool,
    everything: bool = False,
) -> None:
    """Print a search, and write the suite of its findings."""
    print_json(view) if as_json else print_search(view, everything=everything)
    if output is not None:
        _write_suite(suite, output)


def _write_suite(suite: Suite | None, output: Path) -> None:
    if suite is None:
        typer.echo(f"Nothing was found, so {output} is not written.", err=True)
        return
    fields = suite.model_dump(mode="json", exclude_defaults=True)
    write_atomically(output, yaml.safe_dump(fields, sort_keys=False, allow_unicode=True))
    typer.echo(f"Wrote {output}.", err=True)


@app.command("list")
def list_searches(as_json: Json = False) -> None:
    """List the searches, the latest first."""
    listed = ask(lambda client: client.read(list[SearchProgress], "/v1/searches"))
    none = "There are no searches yet. `biaswatch search TARGET --space everyday` starts one."
    show_rows(listed, progress_line, none, as_json=as_json)


@app.command("show")
def show(
    search_id: SearchId,
    everything: Everything = False,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Show the findings of a search, what was looked at, and what was spent."""

    async def read(client: GatewayClient) -> tuple[SearchView, Suite | None]:
        view = await show_search(client, await whole_search_id(client, search_id))
        return view, await suite_of(client, view, output)

    view, suite = ask(read)
    show_result(view, suite, output, as_json=as_json, everything=everything)


@app.command("cancel")
def cancel(search_id: SearchId) -> None:
    """Cancel a search; its evidence is kept, and the same `search` resumes it."""

    async def stop(client: GatewayClient) -> SearchProgress:
        whole = await whole_search_id(client, search_id)
        return await client.send(SearchProgress, path("searches", whole, "cancel"), None)

    stopped = ask(stop)
    if stopped.status is SearchStatus.STOPPED:
        typer.echo(f"The search {stopped.search_id} is cancelled; calls under way still end.")
    else:
        typer.echo(f"The search {stopped.search_id} had already ended.")
