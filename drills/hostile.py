"""Drills about foreign programs that misbehave: drop-ins, models, and sources of benchmarks."""

import asyncio
import json
import subprocess
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.contracts import Suite, SuiteProbe
from drills.outcome import Drill, Outcome
from drills.up_platform import UpPlatform, paired_suite
from tests.integration.generator.hostile_run import targets_on
from tests.support.commands import CommandLine
from tests.support.hostile_replies import SHAPES, Shape, fields, packed, plain
from tests.support.hostile_server import hostile_server
from tests.support.toy_dropins import Toy

LARGE_BYTES = 100 * 1000**2
REFUSED_CODES = {1, 2, 3}
"""A refusal; 3 if another try may succeed."""
LOOK_S = 0.5
Results = list[dict[str, Any]]


class HostileDropIn(Toy):
    """A drop-in that answers whole requests as a function tells it to."""

    def __init__(self, name: str, answer: Callable[[Results], bytes | None]) -> None:
        super().__init__(name)
        self._answer = answer

    async def _extract(self, request: Any) -> None:
        texts = json.loads(request.data)["texts"]
        good = [{"id": text["id"], "values": {"letters": len(text["text"])}} for text in texts]
        odd = [text["id"] for text in texts if zlib.crc32(text["text"].encode()) % 4 == 0]
        data = self._answer([{**result, "odd": result["id"] in odd} for result in good])
        if data is not None:
            await request.respond(data)


def _reply(results: Results, version: str = "1.0.0") -> bytes:
    plainly = [{k: v for k, v in result.items() if k != "odd"} for result in results]
    return json.dumps({"version": version, "results": plainly}).encode()


def hangs(results: Results) -> bytes | None:
    """Never answer a request with an odd text."""
    return None if any(result["odd"] for result in results) else _reply(results)


def gives_nan(results: Results) -> bytes:
    """Give NaN for odd texts."""
    odd = {"values": {"letters": float("nan")}}
    return _reply([{**result, **(odd if result["odd"] else {})} for result in results])


def miscounts(results: Results) -> bytes:
    """Leave out a result, and give others twice."""
    return _reply([*results[1:], *results, *results])


def invents(results: Results) -> bytes:
    """Give odd texts results of texts that were never sent."""
    return _reply([{**result, "id": f"{n}"} if result["odd"] else result
                   for n, result in enumerate(results)])  # fmt: skip


def is_huge(results: Results) -> bytes:
    """Answer a request with an odd text by 100 MB."""
    return b"x" * LARGE_BYTES if any(result["odd"] for result in results) else _reply(results)


DROP_INS: tuple[Callable[[Results], bytes | None], ...] = (
    hangs, gives_nan, miscounts, invents, is_huge,
)  # fmt: skip


async def kept_running(name: str, answer: Callable[[Results], bytes | None], bus: str) -> None:
    """Serve a drop-in, and start it again whenever the bus has closed its connection."""
    while True:
        connection = await Connection.open(bus, name=name)
        connection.client._max_payload = 2 * LARGE_BYTES  # noqa: SLF001 - nothing checks itself
        try:
            await HostileDropIn(name, answer).serve(connection)
            while not connection.client.is_closed:
                await asyncio.sleep(LOOK_S)
        finally:
            await connection.close()


async def hostile_dropins(folder: Path, times: int) -> Outcome:
    """Measure runs with five hostile drop-ins and one extractor of the product."""
    names = [answer.__name__.replace("_", "-") for answer in DROP_INS]
    suite = paired_suite(24, ("words", *names))
    settings = {"BIASWATCH_EXTRACTOR_CALL_S": "2", "BIASWATCH_ACK_WAIT_S": "5"}
    with UpPlatform(folder, **settings) as up:
        tasks = [
            asyncio.create_task(kept_running(name, answer, up.bus))
            for name, answer in zip(names, DROP_INS, strict=True)
        ]
        counted = Outcome(note=f"drop-ins: {', '.join(names)}")
        for number in range(times):
            counted += await up.counted_run(suite, ["simulator:unbiased"], f"{number}")
        counted += Outcome(exits=not up.runs)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return counted + up.unexpected_exits()


def _packed_spaces() -> bytes:
    """Return 1.5 GB of spaces, packed."""
    packer, block = zlib.compressobj(9, wbits=31), b" " * 2**20
    return b"".join(packer.compress(block) for _ in range(1500)) + packer.flush()


def large_shapes() -> dict[str, Shape]:
    """Return replies of 100 MB and more, and the usual one."""
    spaces = _packed_spaces()
    return {
        "large-text": fields(text="x" * LARGE_BYTES),
        "large-spaces": plain(b" " * LARGE_BYTES),
        "large-list": plain(b"[" + b"[]," * (LARGE_BYTES // 3) + b"[]]"),
        "large-error": plain(b'{"error": "' + b"x" * LARGE_BYTES + b'"}', status=400),
        "large-packed": packed(lambda _: spaces, "gzip"),
        "large-header": plain(b"HTTP/1.1 200 OK\r\nx: " + b"h" * LARGE_BYTES, how="raw"),
        "usual": SHAPES["usual"],
    }


async def large_replies(folder: Path, _: int) -> Outcome:
    """Ask for replies of 100 MB, and packed ones of 1.5 GB, in every wire format."""
    large = large_shapes()
    SHAPES.update(large)
    probes = [
        SuiteProbe(key=name, prompt=f"Rate it. shape:{name}", groups={"side": "ab"[n % 2]})
        for n, name in enumerate(large)
    ]
    suite = Suite(name="large", extractors=("rating", "words"), probes=tuple(probes))
    settings = {
        "BIASWATCH_GENERATOR_TRIES": "2", "BIASWATCH_GENERATOR_MAX_STARTS": "2",
        "BIASWATCH_GENERATOR_TIMEOUT_S": "60", "BIASWATCH_GENERATOR_PATIENCE_S": "30",
    }  # fmt: skip
    counted = Outcome(note=f"replies of 100 MB: {', '.join(large)}")
    async with hostile_server() as (_server, port):
        with UpPlatform(folder, **settings) as up:
            for target in targets_on(port):
                counted += await up.counted_run(suite, [target], target[:9], measured=False)
            counted += Outcome(exits=not up.runs)
    return counted + up.unexpected_exits()


FETCH_WITHIN_S = 240.0
AT_ONCE = 4


async def hostile_source(folder: Path, _: int) -> Outcome:
    """Fetch a benchmark from a server that answers with each hostile reply in turn."""
    SHAPES["body-dripping"] = Shape(lambda _: b"sent_more,sent_less\n", how="dripping")
    biaswatch = CommandLine(folder / "state")
    slots = asyncio.Semaphore(AT_ONCE)
    async with hostile_server() as (_server, port):

        async def fetched(shape: str) -> Outcome:
            source = f"http://127.0.0.1:{port}/shape:{shape}"
            async with slots:
                return await asyncio.to_thread(
                    partial(_fetch, biaswatch, folder / shape, source, shape)
                )

        outcomes = await asyncio.gather(*map(fetched, SHAPES))
    return sum(outcomes, Outcome(note=f"{len(SHAPES)} hostile replies to `suites fetch`"))


def _fetch(biaswatch: CommandLine, to: Path, source: str, shape: str) -> Outcome:
    """Fetch once: it must be refused in a sentence, in time, and leave nothing."""
    words = ("suites", "fetch", "crows-pairs", "--to", str(to), "--source", source)
    process = biaswatch.start(*words)
    try:
        _, complaint = process.communicate(FETCH_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return Outcome(1, exits=1, note=f"{shape}: hung for {FETCH_WITHIN_S:g} s")
    faults: Sequence[str] = []
    if process.returncode not in REFUSED_CODES or "Traceback" in complaint:
        faults = [f"{shape} ended with {process.returncode}: {complaint.strip()[-300:]}"]
    left = [path.name for path in to.glob("*") if path.name != "checksums.json"]
    faults = [*faults, *([f"{shape} left {left}."] if left else [])]
    return Outcome(1, faults=tuple(faults))


DRILLS = (
    Drill("hostile-drop-ins", "drop-ins hang, lie, miscount, send NaN, 100 MB", hostile_dropins, 1),
    Drill("large-replies", "models reply with 100 MB, and 1.5 GB packed", large_replies, 1),
    Drill("suites-fetch", "a benchmark is fetched from a hostile server", hostile_source, 1, 1800),
)
