"""The example application, unchanged: what it answers is production traffic with unit and group."""

import asyncio
import os
import sys
from pathlib import Path

import httpx2

from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.runtime.web import free_port
from tests.otlp_clients.test_real_clients import ROOT, Collector, collector, model, store
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.waiting import PATIENCE_S, eventually

__all__ = ["collector", "model", "store"]
USERS = {"u-1": "female", "u-2": "male", "u-3": None}
PYTHON = ROOT / ".venv-otlp" / "current" / "bin" / "python"


async def asked(port: int, user: str, gender: str | None) -> str | None:
    """Ask the application as its user does; None while it does not listen yet."""
    known = {"User": user} | ({"Gender": gender} if gender else {})
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        try:
            reply = await http.post(
                f"http://127.0.0.1:{port}/ask", json={"text": f"I am {user}."}, headers=known
            )
        except httpx2.ConnectError:
            return None
    assert reply.status_code == 200, reply.text
    return str(reply.json()["answer"])


async def test_answers_of_the_example_application_are_exchanges_with_unit_and_group(
    model: str, collector: Collector, bus: ProvisionedBus, tmp_path: Path
) -> None:
    port, folder = free_port("127.0.0.1"), ROOT / "examples" / "fastapi"
    variables = {
        "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "none", "MODEL": "biased",
        "OTEL_SERVICE_NAME": "support", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20sender",
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        PYTHON, "-m", "uvicorn", "app:app", "--port", str(port),
        cwd=folder, env={**os.environ, **variables}, stdout=sys.stderr,
    )  # fmt: skip
    try:
        answers: dict[str, str] = {}
        for user, gender in USERS.items():

            async def answered(user: str = user, gender: str | None = gender) -> bool:
                assert process.returncode is None
                result = await asked(port, user, gender)
                answers.update({user: result} if result else {})
                return result is not None

            await eventually(answered)
    finally:
        process.terminate()  # it sends what is left
        await process.wait()
    taken = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, taken.handle))
    await taken.wait_for(len(USERS))
    results = {record.unit_id: record for record in taken.records}
    assert {user: record.text for user, record in results.items()} == answers
    assert {user: record.groups.get("gender") for user, record in results.items()} == USERS
    assert results["u-1"].asked[-1].content == "I am u-1."
