"""The verb `plan`: how many sets and repeats a run needs to find a gap, before it starts."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Json, Server, SuiteFile, Token
from biaswatch.readers.suites import load_suite
from biaswatch.render.terminal import print_rows
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.planning.observed import ObservedSpread
    from biaswatch.shared.analysis.findings.observations import Observations


def plan(
    suite: SuiteFile,
    gap: Annotated[float, typer.Option(help="The gap to be found, in the feature's units.")],
    rate: Annotated[
        float | None, typer.Option(help="Answers are yes or no: the second group's share of yes.")
    ] = None,
    range_: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", help="Least and largest answer; else the suite's, or none."),
    ] = None,
    sd: Annotated[
        float | None, typer.Option(help="Deviation of answers to one prompt; a quarter of --range.")
    ] = None,
    between_sd: Annotated[
        float | None,
        typer.Option(help="Deviation of prompts' means; half of --sd, .1 for yes or no."),
    ] = None,
    set_correlation: Annotated[
        float | None,
        typer.Option(help="Correlation of the means of twins, 0 to 1.", show_default="0.5"),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="The second group's mean; else both lie about the middle.")
    ] = None,
    missing: Annotated[
        float | None, typer.Option(help="Share of answers that will be missing.", show_default="0")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Take spread, range, repeats and missing from this run."),
    ] = None,
    feature: Annotated[
        str | None, typer.Option(help="Of the run of --like, the feature to look at.")
    ] = None,
    repeats: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Repeats to look at; may be repeated.", show_default="1, 3, 10"),
    ] = None,
    features: Annotated[
        int | None, typer.Option(min=1, help="Features diagnosed; those the suite names, or one.")
    ] = None,
    parts: Annotated[int, typer.Option(min=1, help="Targets times scaffolds of the run.")] = 1,
    dimension: Annotated[str | None, typer.Option(help="Plan for its groups alone.")] = None,
    claim: Annotated[
        Claim | None, typer.Option(help="What conclusions are about; the suite says so.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Of the whole family.")] = 0.05,
    tolerance: Annotated[float, typer.Option(help="The largest gap that does not matter.")] = 0.0,
    power: Annotated[float, typer.Option(help="The share of runs that are to find it.")] = 0.8,
    simulations: Annotated[int, typer.Option(min=50, help="Of each size of a study.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulations.")] = 1,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Say how many sets and repeats of a suite find a gap, and what it finds as it is."""
    # The mathematics is slow to load.
    from biaswatch.planning.findable_gaps import explained, seen_sentence
    from biaswatch.planning.runs import Assumed, PlanOptions, like_a_run, planned_run

    given = {"--gap": gap, "--rate": rate, "--level": level, "--tolerance": tolerance}
    for name, number in given.items():
        if number is not None and not isfinite(number):
            raise UsageError(f"{name} is a number, not {number}.")
    assumed = Assumed(gap, sd, between_sd, set_correlation, rate, level, range_, missing)
    seen = _seen(like, feature, dimension, server, token)
    if seen is not None:
        assumed = like_a_run(assumed, seen)
        repeats = repeats or sorted({1, seen.repeats, 10})
    options = PlanOptions(
        alpha, tolerance, power, tuple(repeats or (1, 3, 10)), features, parts, dimension, claim,
        simulations, seed,
    )  # fmt: skip
    loaded = load_suite(suite)
    with Console(stderr=True).status("Simulating runs") as shown:
        found = planned_run(
            loaded, assumed, options, lambda of: shown.update(f"Simulating runs: {of}")
        )
    said = explained(found) if seen is None else f"{explained(found)}\n{seen_sentence(like, seen)}"
    print_rows(found.rows, said, as_json=as_json, always=("power", "calls"))


def _seen(
    run: str | None,
    feature: str | None,
    dimension: str | None,
    server: str | None,
    token: str | None,
) -> "ObservedSpread | None":
    """Return how the answers of a run were spread; None where no run is named."""
    if run is None:
        if feature or server:
            raise UsageError("--feature and --server are for the run of --like: name one.")
        return None
    from biaswatch.diagnosis.sources import read_runs
    from biaswatch.planning.observed import observed_spread
    from biaswatch.readers.run_tables import RunColumns, run_observations

    [table] = read_runs([run], server, token)
    observed = run_observations(table, RunColumns(features=[feature] if feature else []))
    if len(observed.features) > 1:
        raise UsageError(
            f"The run measured {', '.join(observed.features)}: name one of them by --feature."
        )
    return observed_spread(observed, _dimension(observed, dimension))


def _dimension(observed: "Observations", named: str | None) -> str:
    there = list(observed.groups)
    if named is not None and named not in there:
        raise UsageError(f"The run has no dimension {named!r}. There are: {', '.join(there)}.")
    return named or there[0]
