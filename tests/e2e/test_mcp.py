"""The MCP server as an agent uses it: a process, spoken to on its standard input and output."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

BIASWATCH = Path(sys.executable).parent / "biaswatch"


@asynccontextmanager
async def agent(state: Path, *options: str) -> AsyncIterator[ClientSession]:
    """Start the server and connect to it."""
    environment = {"PATH": os.environ["PATH"], "BIASWATCH_STATE_DIR": str(state)}
    server = StdioServerParameters(
        command=str(BIASWATCH), args=["mcp", *options], env=environment, cwd=str(state)
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def called(session: ClientSession, tool: str, **arguments: Any) -> Any:
    """Return the result of a tool, or the sentence of its error."""
    reply = await session.call_tool(tool, arguments)
    if reply.is_error:
        return " ".join(part.text for part in reply.content if part.type == "text")
    return reply.structured_content


async def test_an_agent_runs_a_suite_within_its_budget_and_reads_the_findings(
    tmp_path: Path,
) -> None:
    options = ("--target", "simulator:biased", "--token-budget", "60000")
    async with agent(tmp_path, *options) as session:
        wrong = await called(
            session, "start_run", suite="hiring-demo", target="openai:gpt", token_budget=9
        )
        assert "This session may ask simulator:biased, not 'openai:gpt'." in wrong
        run = {"suite": "hiring-demo", "target": "simulator:biased"}
        started = await called(session, "start_run", **run, repeats=5, token_budget=50_000)
        assert started["tokens_left"] == 10_000
        too_much = await called(session, "start_run", **run, token_budget=10_001)
        assert "may spend 10,000 more tokens, not 10,001" in too_much

        async def complete() -> bool:
            state = (await called(session, "explain_run", run=started["run"]))["state"]
            return bool(state == "complete")

        await eventually(complete)
        explained = await called(session, "explain_run", run=started["run"])
        assert "black lower than white, rating: a disparity" in explained["sentences"][0]
        assert {gap["dimension"] for gap in explained["gaps"]} == {"race", "gender"}


async def test_without_a_target_the_server_only_reads(tmp_path: Path) -> None:
    async with agent(tmp_path) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert "start_run" not in tools
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        assert "There is no run yet" in await called(session, "explain_run", run="latest")
        assert "There is no suite" in await called(
            session, "plan_run", suite="/etc/passwd", gap=0.5
        )
        assert "cv-hiring" in (await called(session, "list_suites"))
