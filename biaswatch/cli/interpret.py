"""The verb `interpret`: statistics become a report, checked by code and graded by judges."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console

from biaswatch.cli.options import (
    Adjust,
    Controls,
    CountFailed,
    Given,
    Group,
    Groups,
    Json,
    Outcome,
    Server,
    Strata,
    Token,
    Where,
    cases_given,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import connected
from biaswatch.local.runs import InterpretedGap
from biaswatch.readers.targets import sent_target
from biaswatch.render.interpretations import evaluation_lines
from biaswatch.render.terminal import print_json, print_lines
from biaswatch.shared.contracts import Diagnosis, Evaluation, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text

if TYPE_CHECKING:
    from biaswatch.readers.cases import Cases
    from biaswatch.shared.contracts import Subject

DEFAULT = "openai-responses:gpt-5-mini?reasoning.effort=medium&max_output_tokens=20000"
LONGEST_CONTEXT = 100_000

Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="MODEL", help="Who grades the report; may be repeated."),
]
Writer = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="MODEL",
        help="Who writes the report.",
        show_default="gpt-5-mini of OpenAI",  # its whole name would be cut
    ),
]
Repeats = Annotated[
    int, typer.Option(min=1, metavar="N", help="How often each judge grades each dimension.")
]
Profile = Annotated[str, typer.Option(help="general, criminal_justice, or one of your own.")]
Context = Annotated[
    Path | None, typer.Option(help="A folder of Markdown files for the writer to lean on.")
]


def interpret(
    given: Given = None,
    group: Group = None,
    groups: Groups = None,
    outcome: Outcome = None,
    where: Where = None,
    strata: Strata = None,
    adjust: Adjust = None,
    target: Writer = DEFAULT,
    judge: Judges = None,
    repeats: Repeats = 1,
    profile: Profile = "general",
    context: Context = None,
    report: Annotated[
        Path | None, typer.Option(help="A report that is written already, to be graded.")
    ] = None,
    controls: Controls = True,
    control_repeats: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="How often judges grade each text whose grade is known."
        ),
    ] = 1,
    count_failed_judges: CountFailed = False,
    max_calls: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Do not begin if it takes more calls to models."),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Ask everything afresh.")] = False,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Have a table interpreted in writing, and the report checked and graded."""
    cases = cases_given(
        "interpret", given or [], group=group, groups=groups, outcome=outcome, where=where,
        strata=strata, adjust=adjust, alpha=0.05,
    )  # fmt: skip
    asked = order_of(
        subject_of(cases), writer=target, judges=judge or [DEFAULT], repeats=repeats,
        profile=profile, context=read_context(context), nonce=uuid4().hex if new else "",
        controls=controls, count_failed_judges=count_failed_judges, server=server,
    )  # fmt: skip
    asked |= {"control_repeats": control_repeats, "most_calls": max_calls}
    if report is not None:
        asked |= {"report": read_text(report, "report"), "writer": None}

    async def work() -> Evaluation:
        async with connected(server, token) as client:
            return await client.interpret(asked)

    show(asyncio.run(work()), as_json=as_json)


def subject_of(cases: "Cases") -> "Subject":
    """Return the statistics of cases as a report is to speak of them."""
    from dataclasses import asdict

    from biaswatch.services.evaluator.domain.subjects import table_subject
    from biaswatch.shared.contracts import Measure
    from biaswatch.shared.stats.tables.two_by_two import MIN_CASES, as_json, two_by_two

    try:
        found = two_by_two(*cases.counts)
    except ValueError as error:
        raise UsageError(str(error)) from None
    adjusted = None
    if cases.adjusted:
        adjusted = Measure(
            name="odds_ratio_adjusted",
            label=f"Adjusted Odds Ratio (holding {', '.join(cases.adjusted_for)} equal)",
            value=cases.adjusted.value,
            low=cases.adjusted.low,
            high=cases.adjusted.high,
            no_difference=1.0,
            reason=cases.adjusted.reason,
        )
    return table_subject(
        as_json(found),
        cases.counts,
        outcome=cases.outcome,
        value=cases.value,
        groups=cases.groups,
        alpha=found.alpha,
        least=MIN_CASES,
        strata=asdict(cases.strata) if cases.strata else None,
        adjusted=adjusted,
        notes=cases.notes,
    )


def order_of(
    subject: "Subject",
    *,
    writer: str,
    judges: Sequence[str],
    repeats: int = 1,
    profile: str = "general",
    context: str = "",
    nonce: str = "",
    run_id: str | None = None,
    controls: bool = True,
    count_failed_judges: bool = False,
    server: str | None = None,
) -> dict[str, Any]:
    """Return what the gateway is asked for."""
    return {
        "subject": subject.model_dump(mode="json"),
        "writer": sent_target(writer, server),
        "judges": [sent_target(judge, server) for judge in judges],
        "repeats": repeats,
        "profile": profile,
        "context": context,
        "nonce": nonce,
        "run_id": run_id,
        "controls": controls,
        "count_failed_judges": count_failed_judges,
    }


async def interpret_run(
    client: GatewayClient,
    run_id: str,
    diagnoses: Sequence[Diagnosis],
    *,
    writer: str,
    judges: Sequence[str],
    profile: str = "general",
    controls: bool = True,
    count_failed_judges: bool = False,
) -> Sequence[InterpretedGap]:
    """Have every comparison that shows a disparity interpreted; where none does, the first."""
    from biaswatch.services.evaluator.domain.subjects import gap_subject

    pairs = [(each, gap) for each in diagnoses for gap in each.gaps]
    shown = [pair for pair in pairs if pair[1].verdict is Verdict.DISPARITY] or pairs[:1]
    orders = [
        order_of(
            gap_subject(diagnosis, gap), writer=writer, judges=judges, profile=profile,
            run_id=run_id, controls=controls, count_failed_judges=count_failed_judges,
        )
        for diagnosis, gap in shown
    ]  # fmt: skip
    found = await asyncio.gather(*(client.interpret(order) for order in orders))
    titles = [f"{d.target}, {d.feature}: {gap.a} against {gap.b}" for d, gap in shown]
    return [InterpretedGap(*each) for each in zip(titles, found, strict=True)]


def show(found: Evaluation, *, as_json: bool) -> None:
    """Print an evaluation; a report that did not come about is a failure (exit code 3)."""
    if as_json:
        print_json(found)
    else:
        print_lines(Console(emoji=False), "\n".join(evaluation_lines(found)))
    if found.reason:
        raise typer.Exit(3)


def read_context(folder: Path | None) -> str:
    """Return the Markdown of a folder in one piece, in the order of names.

    Raises
    ------
    UsageError
        There is no such folder, it holds no Markdown, or too much of it.
    """
    if folder is None:
        return ""
    files = sorted(folder.glob("*.md"))
    if not files:
        raise UsageError(f"{folder} is no folder with Markdown files (*.md).")
    text = "\n\n".join(read_text(file, "context") for file in files)
    if len(text) > LONGEST_CONTEXT:
        raise UsageError(
            f"The Markdown in {folder} has {len(text)} characters; at most {LONGEST_CONTEXT} fit."
        )
    return text
