"""A drill about the HTTP API: schemathesis sends it made-up requests for a while.

It is the administrator of a tenant of its own, so it may delete and purge all that it learns of,
and nothing of the tenant that has runs and traffic.
"""

import asyncio
import json
import re
import time
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import httpx2

from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.store import migrate
from drills.outcome import Drill, NotRunError, Outcome
from drills.scene import Scene, scene
from tests.support.waiting import PATIENCE_S

SCHEMATHESIS = Path(".venv-api/bin/schemathesis").absolute()
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)
ENDLESS = "/events$"
"""Streams, which schemathesis would read to their end."""
FOUND_CODE = 1
FAILURE = re.compile(r"^- (.+)$", re.MULTILINE)
CASES = re.compile(r"([\d,]+) generated")


TOKENS = {"fuzzer": "the fuzzer's own token", "default": "the token of the live system"}
"""By tenant."""
ROLES = {"fuzzer": "admin", "default": "ingest"}


def _tokens_file(folder: Path) -> Path:
    tokens = [
        {"name": tenant, "role": ROLES[tenant], "tenant": tenant, "verifier": verifier_of(token)}
        for tenant, token in TOKENS.items()
    ]
    path = folder / "tokens.json"  # JSON is YAML
    path.write_text(json.dumps({"tokens": tokens}))
    return path


async def fuzzed(folder: Path, minutes: int) -> Outcome:
    """Fuzz the gateway for some minutes while runs and traffic go on."""
    if not SCHEMATHESIS.exists():
        raise NotRunError("no schemathesis; `make .venv-api/.installed` installs it")
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    settings = {"BIASWATCH_GATEWAY_TOKENS_FILE": str(_tokens_file(folder))}
    async with scene(folder, url, settings=settings, token=TOKENS["default"]) as here:
        await here.begin_run()
        fuzzing = asyncio.create_task(_schemathesis(here, folder, minutes))
        while not fuzzing.done():
            await asyncio.wait([fuzzing], timeout=60)
            await here.begin_run()
        return await fuzzing + await here.outcome()


async def _schemathesis(here: Scene, folder: Path, minutes: int) -> Outcome:
    address = here.platform.gateway_url
    header = f"Bearer {TOKENS['fuzzer']}"
    async with httpx2.AsyncClient(timeout=PATIENCE_S, headers={"Authorization": header}) as client:
        schema = await client.get(f"{address}/openapi.json")  # schemathesis waits for 10 s only
    (folder / "openapi.json").write_bytes(schema.content)
    words = (
        "run", "openapi.json", "--url", address, "--header", f"Authorization: {header}",
        "--phases", "fuzzing", "--checks", CHECKS, "--max-time", f"{60 * minutes}",
        "--continue-on-failure", "--request-timeout", "60", "--no-color",
        "--exclude-path-regex", ENDLESS, "--suppress-health-check", "all",
        "--seed", f"{time.time_ns() % 2**32}",
    )  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        SCHEMATHESIS, *words, cwd=folder, stdout=PIPE, stderr=STDOUT
    )
    try:
        printed = (await process.communicate())[0].decode()
    finally:
        if process.returncode is None:
            process.kill()
    print(printed, flush=True)
    kinds = sorted(set(FAILURE.findall(printed)))
    faults = [f"schemathesis: {kind}" for kind in kinds]
    if process.returncode not in (0, FOUND_CODE) or (process.returncode and not faults):
        faults.append(f"schemathesis ended with {process.returncode}; see the log.")
    cases = sum(int(number.replace(",", "")) for number in CASES.findall(printed))
    return Outcome(cases, faults=tuple(faults), note=f"{cases:,} requests in {minutes} minutes")


DRILLS = (Drill("fuzzing", "schemathesis tries the HTTP API; TIMES: minutes", fuzzed, 60, 5400),)
