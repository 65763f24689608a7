"""One run of the whole platform on hostile replies; runs as a module of its own too."""

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from unittest import mock

from biaswatch.local.client import GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.services.generator.domain.outcome import MAX_RESPONSE_BYTES
from biaswatch.services.generator.handlers.target_pauses import MAX_REFUSALS
from biaswatch.shared.contracts import Response, Suite
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.contracts.suite import SuiteProbe
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import configure_logs
from tests.support.hostile_replies import SHAPES, WIRES
from tests.support.hostile_server import hostile_server

TRIES, BEGINS, TIMEOUT_S = 2, 3, 3


@dataclass(frozen=True)
class HostileRun:
    """What came of it."""

    shapes: int
    replies: int
    """Shapes in every wire format."""
    calls: int
    answered: int
    state: str
    faults: tuple[str, ...]
    """What is wrong, a sentence each."""


async def hostile_run() -> HostileRun:
    """Ask for every shape in every wire format, through every service, and check what is stored."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "BIASWATCH_STATE_DIR": folder,
            "BIASWATCH_GENERATOR_TIMEOUT_S": str(TIMEOUT_S),
            "BIASWATCH_GENERATOR_PATIENCE_S": str(TIMEOUT_S),
            "BIASWATCH_GENERATOR_TRIES": str(TRIES),
            "BIASWATCH_GENERATOR_MAX_STARTS": str(BEGINS),
            "BIASWATCH_GENERATOR_PAUSE_S": "0.2",
            "BIASWATCH_GENERATOR_PRIVATE_HOSTS": '["127.0.0.1"]',
        }
        with mock.patch.dict("os.environ", environment):
            configure_logs("ERROR")
            settings = load_settings(Settings)
            async with hostile_server() as (hostile, port), embedded_platform(settings) as here:
                run_id, state = await _run(here.url, port)
            with Store.open(settings.store) as store:
                content = list(store.records.read(Response, run_id=run_id))
                spending = store.calls.spending([run_id])
    faults = [*_faults(content, hostile.asked), *([] if run_id in spending else ["No spending."])]
    if state != "complete":
        faults.append(f"The run is {state}.")
    return HostileRun(
        shapes=len(SHAPES),
        replies=len(SHAPES) * len(WIRES),
        calls=sum(hostile.asked.values()),
        answered=sum(item.text is not None for item in content),
        state=state,
        faults=tuple(faults),
    )


def suite_of_shapes() -> Suite:
    """Return a suite with a probe for each shape."""
    probes = [
        SuiteProbe(key=name, prompt=f"Rate it from 1 to 4. shape:{name}", groups={"kind": kind})
        for number, name in enumerate(SHAPES)
        for kind in [("a", "b")[number % 2]]
    ]
    return Suite(name="hostile", extractors=("rating", "words"), probes=tuple(probes))


def targets_on(port: int) -> list[str]:
    """Return a target for each wire format."""
    base = f"http://127.0.0.1:{port}"
    application = Application(url=f"{base}/ask", request={"q": "{prompt}"}, answer="/reply/text")
    return [
        f"openai:m@{base}/v1",
        f"openai-responses:m@{base}/v1",
        f"anthropic:m@{base}",
        f"http:app?{application.as_parameters()}",
    ]


async def _run(url: str, port: int) -> tuple[str, str]:
    client = GatewayClient(url)
    try:
        hash_ = await client.upload_suite(suite_of_shapes())
        started = await client.start(RunRequest(suite_hash=hash_, targets=targets_on(port)))
        state = "never followed"
        async for progress in client.follow(started.run.id):
            state = progress.state.value
        return started.run.id, state
    finally:
        await client.close()


def _faults(responses: list[Response], asked: dict[tuple[str, str], int]) -> list[str]:
    wires = {"openai": "chat", "openai-responses": "responses", "anthropic": "messages"}
    outcomes: dict[tuple[str, str], Response] = {}
    for item in responses:
        outcomes[wires.get(item.probe.target.provider, "application"), item.probe.key] = item
    faults = []
    for wire in WIRES:
        for name, shape in SHAPES.items():
            at = f"{name} in {wire}"
            outcome = outcomes.get((wire, name))
            if outcome is None:
                faults.append(f"{at} has no outcome.")
            elif len(outcome.encode()) > MAX_RESPONSE_BYTES:
                faults.append(f"{at} has a response of {len(outcome.encode())} bytes.")
            elif outcome.text is None and not (outcome.reason and outcome.detail):
                faults.append(f"{at} has neither text nor a reason.")
            # A refused call costs nothing: it is counted by delivery, others over all deliveries.
            most = BEGINS * (MAX_REFUSALS if shape.status in {401, 403} else TRIES)
            if asked[wire, name] > most:
                faults.append(f"{at} was asked {asked[wire, name]} times; at most {most}.")
    return faults


def main() -> int:
    """Run, and print the number of shapes and faults."""
    result = asyncio.run(hostile_run())
    for fault in result.faults:
        print(fault)
    print(
        f"{result.shapes} shapes in {len(WIRES)} wire formats: {result.replies} replies,"
        f" {result.calls} calls, {result.answered} with a text, {len(result.faults)} failures;"
        f" the run is {result.state}."
    )
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())
