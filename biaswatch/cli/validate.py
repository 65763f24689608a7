"""The verb `suites validate`: reliability of a suite, and its agreement with long texts."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biaswatch.cli.options import Json, SuiteFile, ask
from biaswatch.cli.run_progress import watched
from biaswatch.exporting.answers import Row, answered
from biaswatch.exporting.judged_twins import CRITERIA
from biaswatch.exporting.long_texts import (
    judged_long_texts,
    judged_values,
    measured_answers,
    models_of,
)
from biaswatch.local.runs import Watch
from biaswatch.readers.contexts import QUESTION, Context, crossed, read_contexts
from biaswatch.readers.suite_names import SHIPPED
from biaswatch.readers.suites import load_suite, pilot_of
from biaswatch.readers.targets import with_file
from biaswatch.render.validity import ModelVerdict, Validity, print_validity
from biaswatch.shared.analysis.validity import MeasuredAnswer, validity_of
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.runs import RunRequest

if TYPE_CHECKING:
    from biaswatch.local.client import GatewayClient

LONG = SHIPPED / "letters"
PLACEBO = "placebo"
WORDINGS = (
    Context("as it is"),
    Context("polite", frame=f"Could you please help me with this?\n\n{QUESTION}"),
    Context("introduced", frame=f"Here is the next case.\n\n{QUESTION}\n\nThank you."),
)
"""Wordings that change nothing about the question."""


@dataclass(frozen=True)
class _Measurement:
    """The declared comparison."""

    models: Sequence[str]
    dimension: str
    feature: str
    watch: Watch

    async def answers(
        self, client: "GatewayClient", suite: Suite, models: Sequence[str], **options: Any
    ) -> tuple[str, list[Row]]:
        """Ask models a suite, and return the id of the run and a row for each answer."""
        targets = [*map(with_file, models)]
        request = RunRequest(suite_hash=suite.hash, targets=targets, **options)
        return await answered(client, suite, request, self.watch)


def validate_suite(
    suite: SuiteFile,
    models: Annotated[list[str], typer.Argument(help="Models; ranks need three, intervals eight.")],
    dimension: Annotated[str, typer.Option(help="Its groups are compared.")] = "race",
    feature: Annotated[str | None, typer.Option(help="By default the suite's first.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="Compares the models' answers to a suite of long texts.")
    ] = None,
    criterion: Annotated[str, typer.Option(help=f"{', '.join(CRITERIA)}.")] = "warm",
    long: Annotated[
        Path, typer.Option(help="A suite of long texts.", show_default=LONG.name)
    ] = LONG,
    wordings: Annotated[
        Path | None, typer.Option(help="A folder of wordings, as of `run --contexts`.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=2, help="Answers to each prompt and wording.")] = 2,
    scaffold: Annotated[
        str | None, typer.Option(help="The suite's by default; long texts have none.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=2, help="Maximum number of sets, also of long texts.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure reliability, placebo twins, agreement with long texts, sensitivity to wording."""
    whole = load_suite(suite)
    watch = partial(watched, quiet=as_json)
    study = _Measurement(models, dimension, feature or "".join(whole.features[:1]), watch)
    _check(whole, study, criterion)
    variants = crossed(_part(whole, limit), [*read_contexts(wordings)] if wordings else WORDINGS)
    options = {"repeats": repeats, "scaffolds": [scaffold] if scaffold else []}

    async def measured(client: "GatewayClient") -> Validity:
        short = await _short(client, variants, study, options)
        texts: list[MeasuredAnswer] = []
        if judge:
            texts = await _long(client, _part(load_suite(long), limit), judge, study, criterion)
        return Validity(study.feature, *short[:2], validity_of(short[2], texts))

    result = ask(measured, with_models=True)
    if as_json:
        typer.echo(json.dumps(asdict(result), indent=2))
    else:
        print_validity(result)


def _part(suite: Suite, limit: int | None) -> Suite:
    return suite if limit is None else pilot_of(suite, limit)


def _check(suite: Suite, study: _Measurement, criterion: str) -> None:
    dimensions = {name for probe in suite.probes for name in suite.groups_of(probe)}
    choices: tuple[tuple[str, str, Collection[str]], ...] = (
        ("--dimension", study.dimension, dimensions),
        ("--feature", study.feature, suite.features),
        ("--criterion", criterion, CRITERIA),
    )
    for option, value, known in choices:
        if value not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"{option} {value!r} is unknown; the known ones are {listed}.")


async def _short(
    client: "GatewayClient", suite: Suite, study: _Measurement, options: Mapping[str, Any]
) -> tuple[Sequence[ModelVerdict], Sequence[ModelVerdict], Sequence[MeasuredAnswer]]:
    """Return the verdicts on the groups and on placebo twins, and the measured answers."""
    run_id, rows = await study.answers(client, suite, study.models, **options)
    gaps = [
        (diagnosis.dimension, ModelVerdict(diagnosis.target, gap.a, gap.b, gap.gap, gap.verdict))
        for diagnosis in await client.diagnoses(run_id)
        if diagnosis.feature == study.feature and not diagnosis.stratum
        for gap in diagnosis.gaps
    ]
    answers = list(measured_answers(rows, study.feature, study.dimension))
    if not answers:
        raise UsageError(f"No answer has a value of {study.feature!r}; `show {run_id}` says why.")
    of_groups, of_placebo = (
        [verdict for name, verdict in gaps if name == wanted]
        for wanted in (study.dimension, PLACEBO)
    )
    return of_groups, of_placebo, answers


async def _long(
    client: "GatewayClient", suite: Suite, judge: str, study: _Measurement, criterion: str
) -> list[MeasuredAnswer]:
    """Return a judge's choices between the long texts of each model's twins."""
    _, rows = await study.answers(client, suite, study.models)
    compared = judged_long_texts(rows, study.dimension, criterion)
    _, choices = await study.answers(client, compared, [judge])
    return list(judged_values(choices, models_of(rows), study.dimension))
