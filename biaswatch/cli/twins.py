"""The verbs of `suites` about judges of twins: pairs, axes, and the scores of their runs."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from biaswatch.bbq.suite import write_suite
from biaswatch.cli.options import ask
from biaswatch.exporting.coherence import own_answers
from biaswatch.exporting.judged_axes import halves, proposal_suite, proposed_axes
from biaswatch.exporting.judged_twins import (
    AGAINST,
    CRITERIA,
    CRITERION,
    GROUP,
    PAIR,
    JudgedReply,
    Preference,
    judged_pairs,
    preferences,
)
from biaswatch.exporting.twin_answers import rows_of_file, twin_answers
from biaswatch.render.terminal import printable
from biaswatch.shared.contracts import Features, Response, Suite
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.parsing.texts import one_line
from biaswatch.shared.presentation.tables import estimate_text

if TYPE_CHECKING:
    from biaswatch.local.client import GatewayClient

MAX_CRITERION_CHARACTERS = 200
CHOICE, CHOSEN = "choice", "chosen"
Answers = Annotated[
    Path,
    typer.Argument(
        help="JSON lines of `biaswatch export RUN`, or a table in CSV or Parquet with the columns"
        " `set`, `text` and the groups."
    ),
]
Group = Annotated[str, typer.Option(help="The dimension whose groups are compared.")]
Output = Annotated[Path, typer.Option("-o", help="The suite's folder; replaced.")]
OnlyTarget = Annotated[str | None, typer.Option(help="Only the answers of this target.")]


def make_pairs(
    answers: Answers,
    group: Group,
    criterion: Annotated[
        list[str],
        typer.Option(
            help=f"{', '.join(CRITERIA)}, or a file with your own: `more formal`; may be repeated."
        ),
    ],
    output: Output,
    target: OnlyTarget = None,
) -> None:
    """Make a suite that asks a judge which of two twins' answers is warmer, say, in both orders."""
    criteria = dict(map(_criterion, criterion))
    twins = twin_answers(rows_of_file(answers), group, target)
    suite = judged_pairs(twins, group, criteria)
    if twins.left_out:
        typer.echo(f"{twins.left_out} answers without a text or a twin are left out.", err=True)
    _write(suite, output, "JUDGE")


def _write(suite: Suite, output: Path, judge: str) -> None:
    write_suite(suite, output)
    questions = len(suite.probes)
    typer.echo(
        f"Wrote {output}: {questions} questions about {questions // 2} pairs of answers."
        f" Next: biaswatch run {output} --target {judge}; suites score RUN shows the ties.",
        err=True,
    )


def _criterion(written: str) -> tuple[str, str]:
    """Return the name and the words of a criterion, which may be in a file."""
    if written in CRITERIA:
        return written, CRITERIA[written]
    if not Path(written).is_file():
        known = ", ".join(CRITERIA)
        raise UsageError(f"{written!r} is neither a known criterion ({known}) nor a file.")
    text = one_line(read_text(Path(written), "criterion"))
    if not 0 < len(text) <= MAX_CRITERION_CHARACTERS:
        raise UsageError(
            f"The criterion in {written} must have 1 to {MAX_CRITERION_CHARACTERS} characters:"
            " words that complete 'Which one is ...?'."
        )
    return Path(written).stem, text


def make_axes(
    answers: Answers,
    group: Group,
    judge: Annotated[str, typer.Option(help="The model that proposes criteria.")],
    output: Output,
    most: Annotated[int, typer.Option(min=1, max=10, help="The number of criteria.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the two halves.")] = 0,
    target: OnlyTarget = None,
) -> None:
    """Make a suite of criteria that a model proposes: half of the sets propose, half confirm."""
    twins = twin_answers(rows_of_file(answers), group, target)
    first, second = halves(twins, np.random.default_rng(seed))
    questions = proposal_suite(first, most)
    replies = ask(lambda client: _replies(client, questions, judge), with_models=True)
    labels = {name for by_group in twins.sets.values() for name in by_group}
    axes = proposed_axes(replies, labels, most)
    for phrase, why in axes.refused.items():
        typer.echo(printable(f"Refused {phrase!r}: {why}."), err=True)
    if not axes.criteria:
        raise TransientError(
            f"{judge} proposed no usable criterion. Use another model, or name criteria:"
            " `biaswatch suites pairs --criterion`."
        )
    typer.echo(
        f"{len(first.sets)} sets propose {', '.join(axes.criteria)}; {len(second.sets)} other sets"
        " test them as one family.",
        err=True,
    )
    _write(judged_pairs(second, group, axes.criteria), output, judge)


def make_own_answers(
    answers: Answers, group: Group, output: Output, target: OnlyTarget = None
) -> None:
    """Make a suite that asks a model whether it would give its own answers, by group."""
    suite = own_answers(twin_answers(rows_of_file(answers), group, target), group)
    write_suite(suite, output)
    typer.echo(
        f"Wrote {output}: {len(suite.probes)} questions. Next: biaswatch run {output}"
        " --target MODEL, the model that wrote the answers.",
        err=True,
    )


async def _replies(client: "GatewayClient", suite: Suite, judge: str) -> list[str]:
    """Return the texts of a model's replies to a suite."""
    from biaswatch.exporting.answers import answered
    from biaswatch.readers.targets import with_file
    from biaswatch.shared.requests.runs import RunRequest

    request = RunRequest(suite_hash=suite.hash, targets=[with_file(judge)])
    _, rows = await answered(client, suite, request)
    return [row["text"] for row in rows if row.get("text")]


def judged_preferences(
    responses: Iterable[Response], features: Iterable[Features]
) -> list[Preference]:
    """Return the preferences of judges in a run of such a suite; empty for other suites."""
    chosen = {
        row.response_id: row.values.get(CHOSEN) for row in features if row.extractor == CHOICE
    }
    return preferences(
        JudgedReply(
            response.probe.target.name,
            response.probe.facts,
            str(response.probe.set_id),
            chosen.get(response.id),
        )
        for response in responses
        if {CRITERION, PAIR, GROUP, AGAINST} <= response.probe.facts.keys()
    )


def preference_sentence(row: Preference) -> str:
    """Return the counts of one criterion, with ties counted separately."""
    share = estimate_text(row.share.share)
    return (
        f"{row.target}, {row.criterion}: {row.group} in {row.group_preferred} of {row.pairs} pairs,"
        f" {row.other} in {row.other_preferred}; ties: {row.neither} neither, {row.by_position} by"
        f" position; {row.unread} not read. Share of {row.group} without ties: {share}."
    )
