"""Ten SDKs, unchanged: a chat and a tool call of each are read, once, by the gateway."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.runtime.web import web_server
from tests.otlp_clients.scripted_model import ANSWER, scripted_model
from tests.otlp_clients.test_real_clients import ROOT, Collector, collector, store
from tests.support.bus import ProvisionedBus, ReceivedRecords

__all__ = ["collector", "store"]
FOLDER = Path(__file__).parent / "sdks"
ENVIRONMENTS = ROOT / ".venv-otlp"
CALLS = {ANSWER, "tool_call"}
AGENTS = {ANSWER}
"""The tool call of an agent is a step; its answer is the text after the tool's result."""
OUTCOMES = {
    "openai": CALLS, "anthropic": CALLS, "langchain": CALLS, "llama_index": CALLS,
    "pydantic_ai": AGENTS, "openinference": CALLS, "openllmetry": CALLS, "mlflow": CALLS,
    "litellm": CALLS, "vercel": AGENTS,
}  # fmt: skip


@pytest.fixture
async def model() -> AsyncIterator[str]:
    async with web_server(scripted_model, "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}/v1"


async def run(sdk: str, model: str, url: str) -> None:
    """Run the calls of an SDK in its environment."""
    if sdk == "vercel":
        command: list[str | Path] = ["node", ENVIRONMENTS / "vercel" / "vercel.mjs"]
    else:
        python = ENVIRONMENTS / sdk / "bin" / "python"
        command = [python, FOLDER / "calls.py", sdk]
    process = await asyncio.create_subprocess_exec(
        *command, model, url, env={**os.environ, "PYTHONPATH": ""},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-2000:]


@pytest.mark.parametrize("sdk", OUTCOMES)
async def test_a_chat_and_a_tool_call_are_read(
    sdk: str, model: str, collector: Collector, bus: ProvisionedBus
) -> None:
    await run(sdk, model, collector.url)
    await collector.join()
    received = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, received.handle))
    assert await bus.count(Exchange) == 2
    await received.wait_for(2)
    assert {item.text or item.reason for item in received.records} == OUTCOMES[sdk]
    assert {item.model for item in received.records} == {"biased"}
    assert all(item.asked[-1].content == "Rate Eva." for item in received.records)
