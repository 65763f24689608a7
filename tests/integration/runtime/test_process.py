"""A service as a process: it waits for a store that is still being prepared."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from biaswatch.shared.store import migrate
from tests.support.bus import ProvisionedBus
from tests.support.waiting import PATIENCE_S

NOT_PREPARED = "is not prepared for this version"


async def recorder(bus: ProvisionedBus, store: str, wait_s: float) -> asyncio.subprocess.Process:
    """Start a recorder; its log and its errors come by one stream."""
    own = {
        "BIASWATCH_NATS_URL": bus.server.url,
        "BIASWATCH_STORE_URL": store,
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_WAIT_FOR_STORE_S": str(wait_s),
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "biaswatch.services.recorder.app",
        env={**os.environ, **own},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


async def read_until(process: asyncio.subprocess.Process, words: str) -> list[str]:
    """Return the lines that it writes, to the first with these words, or to the end."""
    assert process.stdout
    lines: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        while line := (await process.stdout.readline()).decode():
            lines.append(line)
            if words in line:
                break
    return lines


async def test_a_service_waits_for_the_store_and_then_works(
    bus: ProvisionedBus, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    process = await recorder(bus, store, PATIENCE_S)
    try:
        waiting = await read_until(process, "waiting for the store")
        assert NOT_PREPARED in waiting[-1]
        await asyncio.to_thread(migrate, store)
        working = await read_until(process, '"working"')
        assert not any("waiting for the store" in line for line in working)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_service_that_may_not_wait_ends_with_a_sentence(
    bus: ProvisionedBus, tmp_path: Path
) -> None:
    process = await recorder(bus, f"sqlite:///{tmp_path / 'store.db'}", 0)
    text = "".join(await read_until(process, NOT_PREPARED))
    assert await process.wait() == 2
    assert "biaswatch admin provision" in text
    assert "Traceback" not in text
