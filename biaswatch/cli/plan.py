"""The verb `plan`: the size that a suite, a monitor or a labelled sample needs to find a gap."""

from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from rich.console import Console

from biaswatch.cli.options import Json, VerbRequest, ask, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.local.client import GatewayClient
from biaswatch.readers.suite_names import shipped_suites, suite_path
from biaswatch.readers.suites import is_monitor, load_monitor, load_suite
from biaswatch.render.terminal import print_json, print_rows
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

if TYPE_CHECKING:
    from biaswatch.planning.observed import ObservedSpread
    from biaswatch.shared.analysis.findings.observations import Observations
    from biaswatch.shared.requests.labels import LabelPlan


def _bounds(value: Any) -> Any:
    return value.split(":") if isinstance(value, str) else value


class PlanVerb(VerbRequest):
    """The fields of `plan`: for a suite, for a monitor, or for labels of a run."""

    gap: float | None = None
    """The gap to find, in the feature's units; in log odds for monitors of selections."""
    feature: str | None = None
    """For a monitor, a labelled run or --like: the only feature, `extractor.feature`."""
    group: str | None = None
    """Plan for the groups of this dimension only."""
    rate: float | None = None
    """For yes-or-no answers to a suite: the second group's share of yes."""
    range: Annotated[Bounds | None, BeforeValidator(_bounds)] = None
    """For a suite: LOW:HIGH, smallest and largest answer; default the suite's range."""
    sd: float | None = None
    """Deviation of answers to one prompt, or of sets' gaps; default a quarter of the range."""
    level: float | None = None
    """The second group's mean or selected share; default the middle, or a half."""
    missing: float | None = None
    """Expected share of missing answers."""
    like: str | None = None
    """A run that provides spread, range, repeats and missing answers."""
    repeats: tuple[PositiveInt, ...] = ()
    """For a suite: numbers of repeats to compare, default 1, 3 and 10; may be repeated."""
    between_sd: float | None = None
    """For a suite: deviation of prompts' means; default half of `sd`, .1 for yes-or-no answers."""
    set_correlation: float | None = None
    """For a suite: correlation of the means of twins, 0 to 1."""
    name_sd: NonNegativeFloat | None = None
    """For a suite with random names: deviation of their own effects, default a fifth of
    `between_sd`."""
    features: PositiveInt | None = None
    """For a suite: number of diagnosed features; default those it names, or one."""
    parts: PositiveInt = 1
    """For a suite: number of targets times scaffolds of the run."""
    claim: Claim | None = None
    """For a suite: scope of the conclusions; default the suite's."""
    alpha: float = 0.05
    """For a suite: the level of the whole family."""
    tolerance: float = 0.0
    """For a suite: the largest gap that does not matter."""
    power: float = 0.8
    """For a suite: the required share of runs that find the gap."""
    simulations: int = Field(default=200, ge=50)
    """For a suite: number of simulations per size."""
    seed: NonNegativeInt = 1
    """For a suite: random seed of the simulations."""
    binary: bool = False
    """For a monitor: answers are 0 or 1 (low or high), and the level determines the deviation."""
    spread: float = 0.0
    """For a monitor of selections: deviation of sets' log odds, usually 1 or 2."""
    new_users: PositiveInt | None = None
    """For a monitor: new users of both groups per window of traffic."""
    first_share: float | None = None
    """For a monitor: the first group's share of these users; default a half."""
    strata: PositiveInt | None = None
    """For a monitor: number of strata of these users; default one."""
    answer_tokens: PositiveInt | None = None
    """For a monitor: tokens per answer; default 200."""
    price_read: float | None = None
    """For a monitor: price per million tokens read."""
    price_written: float | None = None
    """For a monitor: price per million tokens written."""

    def check_only(self, kind: str, allowed: Iterable[str]) -> None:
        """Raise UsageError for fields of other kinds of plans."""
        if wrong := sorted(self.model_fields_set - set(allowed)):
            raise UsageError(f"`{wrong[0]}` does not apply to the plan of {kind}.")

    @property
    def needed_gap(self) -> float:
        """The gap, which plans of suites and monitors require."""
        if self.gap is None:
            raise UsageError("--gap is missing: the gap to find.")
        return self.gap


SUITE_FIELDS = (
    *("gap", "feature", "group", "rate", "range", "sd", "level", "missing", "like", "repeats"),
    *(
        "between_sd",
        "set_correlation",
        "name_sd",
        "features",
        "parts",
        "claim",
        "alpha",
        "tolerance",
    ),
    *("power", "simulations", "seed"),
)
MONITOR_FIELDS = (
    *("gap", "feature", "sd", "level", "binary", "missing", "spread", "new_users", "first_share"),
    *("strata", "answer_tokens", "price_read", "price_written"),
)
TABLE_FILES = {".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".ndjson"}
LABEL_FIELDS = ("feature", "group")
LABELS = "labels of a run or a monitor. To plan a suite or a monitor, give its file"


@with_options_of(
    PlanVerb, "gap", "feature", "group", "rate", "range", "sd", "level", "missing", "like",
    "repeats",
)  # fmt: skip
def plan(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SUITE | MONITOR | RUN",
            help="A suite or a monitor's file; or a run, or a monitor by name, to plan labels.",
        ),
    ],
    request: PlanVerb,
    as_json: Json = False,
) -> None:
    """Show the size a suite, a monitor or a labelled sample needs to find a gap."""
    path = shipped_suites().get(source, Path(source))
    if not path.exists():
        if path.suffix or len(path.parts) > 1:
            suite_path(path)  # raises an error with similar names
        _plan_labels(source, request, as_json=as_json)
    elif path.suffix.lower() in TABLE_FILES:
        raise UsageError(
            f"{path} is a table, and a plan needs a suite: give a suite of such groups with --sd,"
            " the deviation within your table, or with --like RUN, a stored run."
        )
    elif is_monitor(path):
        _plan_monitor(path, request, as_json=as_json)
    else:
        _plan_suite(path, request, as_json=as_json)


def _plan_suite(path: Path, request: PlanVerb, *, as_json: bool) -> None:
    # The mathematics is slow to load.
    from biaswatch.planning.run_plan_words import explained, seen_sentence
    from biaswatch.planning.runs import PlanOptions, RunAssumptions, like_a_run, planned_run

    request.check_only("a suite: leave it out", SUITE_FIELDS)
    assumed = RunAssumptions(
        gap=request.needed_gap,
        sd=request.sd,
        between_sd=request.between_sd,
        set_correlation=request.set_correlation,
        rate=request.rate,
        level=request.level,
        bounds=request.range,
        missing=request.missing,
        name_sd=request.name_sd,
    )
    for name in ("gap", "rate", "level", "tolerance"):
        number = getattr(request, name)
        if number is not None and not isfinite(number):
            raise UsageError(f"--{name} must be a finite number, not {number}.")
    repeats, seen = request.repeats, _seen(request)
    if seen is not None:
        assumed = like_a_run(assumed, seen)
        repeats = repeats or tuple(sorted({1, seen.repeats, 10}))
    options = PlanOptions(
        alpha=request.alpha,
        tolerance=request.tolerance,
        power=request.power,
        repeats=repeats or (1, 3, 10),
        features=request.features,
        parts=request.parts,
        dimension=request.group,
        claim=request.claim,
        simulations=request.simulations,
        seed=request.seed,
    )
    suite = load_suite(path)
    with Console(stderr=True).status("Simulating runs") as status:
        result = planned_run(
            suite, assumed, options, lambda size: status.update(f"Simulating runs: {size}")
        )
    text = explained(result)
    if seen is not None:
        text = f"{text}\n{seen_sentence(request.like, seen)}"
    print_rows(result.rows, text, as_json=as_json, always=("power", "calls"))


def _plan_monitor(path: Path, request: PlanVerb, *, as_json: bool) -> None:
    from biaswatch.planning.monitor_assumptions import MonitorAssumptions
    from biaswatch.planning.monitors import explained, planned
    from biaswatch.shared.analysis.monitors.plans import AskedSets, plan_of, upkeep_of
    from biaswatch.shared.contracts import comparison_titles

    request.check_only("a monitor: leave it out", MONITOR_FIELDS)
    monitor, suite = load_monitor(path)
    monitor_plan = plan_of(monitor, AskedSets.of_suite(suite) if suite else None)
    assumed = MonitorAssumptions(
        effect=request.needed_gap,
        sd=request.sd,
        level=request.level,
        feature=request.feature,
        answer_tokens=request.answer_tokens,
        prices=(request.price_read, request.price_written),
        new_users=request.new_users,
        binary=request.binary,
        missing=request.missing or 0.0,
        spread=request.spread,
        first_share=request.first_share,
        strata=request.strata,
    )
    rows = planned(monitor_plan, upkeep_of(monitor), suite, assumed)
    if not as_json:
        titles = comparison_titles(monitor_plan)
        rows = [{**row, "comparison": titles[str(row["comparison"])]} for row in rows]
    text = explained(rows, traffic=suite is None)
    print_rows(rows, text, as_json=as_json, always=("units",), left_out=("effect", "why"))


def _plan_labels(source: str, request: PlanVerb, *, as_json: bool) -> None:
    from biaswatch.exporting.labels import label_plan, latest_round
    from biaswatch.render.labels import print_label_plan

    request.check_only(LABELS, LABEL_FIELDS)
    feature = request.feature
    if feature is None:
        raise UsageError("--feature is missing: the number that people label.")

    async def read(client: GatewayClient) -> "LabelPlan":
        return await label_plan(client, await latest_round(client, source), feature, request.group)

    result = ask(read)
    print_json(result) if as_json else print_label_plan(result)


def _seen(request: PlanVerb) -> "ObservedSpread | None":
    """Return the spread of answers in the run of --like; None without --like."""
    if request.like is None:
        if request.feature or gateway().server:
            raise UsageError("--feature and --server require a run: name one with --like.")
        return None
    from biaswatch.diagnosis.sources import read_runs
    from biaswatch.planning.observed import observed_spread
    from biaswatch.readers.run_observations import RunColumns, run_observations

    [table] = read_runs([request.like], gateway())
    features = [request.feature] if request.feature else []
    rows = run_observations(table, RunColumns(features=features))
    if len(rows.features) > 1:
        raise UsageError(f"The run measured {', '.join(rows.features)}: select one with --feature.")
    return observed_spread(rows, _dimension(rows, request.group))


def _dimension(rows: "Observations", name: str | None) -> str:
    dimensions = list(rows.groups)
    if name is not None and name not in dimensions:
        raise UsageError(f"The run has no dimension {name!r}; it has {', '.join(dimensions)}.")
    return name or dimensions[0]
