"""The verb `demo`: a planted bias that is found, and a real model on this machine."""

from collections.abc import Sequence
from typing import Annotated

import typer

from biaswatch.cli.options import Json, gateway
from biaswatch.cli.run_progress import finish, run_suite
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import InterpretedGap
from biaswatch.readers.suite_names import DEMO_SUITE, SHIPPED
from biaswatch.readers.suites import load_suite, pilot_of
from biaswatch.readers.targets import check_local, read_target
from biaswatch.render.run_results import DEMO_JUDGES, DEMO_WRITER
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.requests.runs import RunRequest

DEMO_CONTROLS_PER_KIND = 8
"""Controls of each dimension and grade: the demo examines its judges within seconds."""
LLM_SUITE, LLM_SETS = SHIPPED / "lending", 10
LLM_TARGET, LLM_SCAFFOLD = "local:smollm2?max_tokens=24", "direct-schema"
"""Size of `demo --llm`: at most five minutes on two cores."""


def demo(
    llm: Annotated[
        bool, typer.Option("--llm", help="Examine SmolLM2, a real model that runs on this machine.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find a planted bias, and no bias in a fair model: simulated models, nothing to set up."""
    if llm:
        _demo_llm(as_json)
        return
    suite = load_suite(DEMO_SUITE)
    body = RunRequest(
        suite_hash=suite.hash, targets=["simulator:biased", "simulator:unbiased"], repeats=5
    )

    async def interpreted(
        client: GatewayClient, run_id: str, diagnoses: Sequence[Diagnosis]
    ) -> Sequence[InterpretedGap]:
        from biaswatch.cli.interpret import interpret_run

        return await interpret_run(
            client,
            run_id,
            diagnoses,
            writer=DEMO_WRITER,
            judges=DEMO_JUDGES,
            controls_per_kind=DEMO_CONTROLS_PER_KIND,
        )

    finish(run_suite(suite, body, gateway().connect(), quiet=as_json, then=interpreted), as_json)


def _demo_llm(as_json: bool) -> None:
    """Ask SmolLM2 part of a suite; where it gives no rating, under a schema."""
    check_local([read_target(LLM_TARGET)])
    suite = pilot_of(load_suite(LLM_SUITE), LLM_SETS)
    body = RunRequest(suite_hash=suite.hash, targets=[LLM_TARGET], scaffolds=[LLM_SCAFFOLD])
    finish(run_suite(suite, body, gateway().connect(), quiet=as_json), as_json)
