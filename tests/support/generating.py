"""The generator as a process of its own, for tests whose questions are to travel the whole road."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def generator(nats_url: str, store_url: str, **environment: str) -> AsyncIterator[None]:
    """Run the generator on this bus and store while the context lasts."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "biaswatch.services.generator.app",
        cwd=ROOT,
        env={
            **os.environ,
            "NATS_URL": nats_url,
            "BIASWATCH_STORE_URL": store_url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_STOP_WITH_PARENT": "true",
            "BIASWATCH_GENERATOR_PRIVATE_HOSTS": '["127.0.0.1"]',
            **environment,
        },
    )
    try:
        yield
    finally:
        process.terminate()
        await process.wait()
