"""The HTTP API is what its description says: for a fuzzer, and for a client made from it."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.shared.contracts import ExtractorStatus
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.integration.gateway.test_hostile_requests import BATCH, BRIEF, MONITOR, RUN_BODY, SUITE
from tests.support.api import api_on
from tests.support.measured_runs import (
    EXTRACTORS,
    make_measured_run,
    make_suite,
    write_measured_run,
)
from tests.support.records import make_traffic_monitor

SPACE = {
    "name": "desk",
    "dimension": "gender",
    "groups": {"female": ["Emily Walsh"], "male": ["Greg Walsh"]},
    "topics": {"refund": {"area": "money", "prompts": ["How far do you trust {person}?"]}},
}
"""The scenarios of a search."""

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / ".venv-api" / "bin"
MEASURED = make_suite(sets=4)
RUN = make_measured_run(MEASURED, targets=1)
ENDLESS = "get_runs_by_run_id_events"
"""A stream that ends with its run, which a generated client would read to its end."""
EXAMPLES = 10
"""Of each operation, with one seed: the same every time."""
HELD = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a gateway with a run and a monitor, over real HTTP."""
    address = f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}"
    migrate(address)
    with Store.open(address) as store:
        write_measured_run(store, RUN, MEASURED)
        for name, features in EXTRACTORS.items():
            store.extractors.announce(ExtractorStatus(name, "1", features, datetime.now(UTC)))
        store.records.write([make_traffic_monitor()])
        yield from served(store)


def served(store: Store) -> Iterator[str]:
    loop, ports, over = asyncio.new_event_loop(), list[int](), asyncio.Event()
    ready = threading.Event()

    async def serve() -> None:
        async with web_server(api_on(store), "127.0.0.1", 0) as port:
            ports.append(port)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def done(*words: str | Path) -> str:
    result = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env={"PATH": str(TOOLS)}
    )
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


def test_a_fuzzer_finds_nothing_that_the_description_does_not_say(url: str) -> None:
    text = done(
        TOOLS / "schemathesis", "run", f"{url}/openapi.json", "--phases", "fuzzing", "--seed", "1",
        "--max-examples", f"{EXAMPLES}", "--checks", HELD, "--request-timeout", "60", "--no-color",
        "--exclude-path-regex", "/events$",
    )  # fmt: skip
    assert "No issues found" in text or " passed" in text


def test_a_generated_client_calls_every_operation(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "biaswatch_client"
    text = done(
        TOOLS / "openapi-python-client", "generate", "--url", f"{url}/openapi.json",
        "--output-path", folder, "--meta", "none",
    )  # fmt: skip
    # It knows no protobuf, which OTLP's exporters speak by themselves; nothing else is left out.
    warnings = text.split("WARNING parsing ")[1:]
    assert all(
        "Unsupported content type application/x-protobuf" in warning for warning in warnings
    ), text
    bodies = {
        "post_suites": SUITE, "post_runs": {**RUN_BODY, "suite_hash": MEASURED.hash},
        "post_monitors": {**MONITOR, "suite_hash": MEASURED.hash},
        "post_interpretations": {**BRIEF, "run_id": RUN.id},
        "post_responses": BATCH, "post_targets_resume": {"target": "simulator:biased"},
        "post_purges": {"unit": "u"},
        "post_runs_by_run_id_description": {"name": "before"},
        "post_runs_by_run_id_labels_samples": {"feature": "words"},
        "post_runs_by_run_id_labels": {"extractor": "words", "feature": "words", "labels": []},
        "post_searches": {"target": "simulator:biased", "space": SPACE},
        "post_searches_by_search_id_budget": {"calls": 10},
    }  # fmt: skip
    samples = json.dumps({"bodies": bodies, "paths": {"run_id": RUN.id}, "streams": [ENDLESS]})
    script = HERE / "call_each_operation.py"
    result = json.loads(done(TOOLS / "python", script, folder, url, samples))
    operations = json.loads(done(sys.executable, "-c", READ, url))
    assert {*result, ENDLESS} == set(operations)
    assert (folder / "api" / "default" / f"{ENDLESS}.py").exists()
    assert {name: response for name, response in result.items() if response[0] >= 500} == {}
    accepted = {name: kind for name, (status, kind) in result.items() if status < 300}
    assert accepted["get_runs_by_run_id_measurements"] == "str"
    assert accepted["get_runs_by_run_id"] == "RunProgress"
    assert len(accepted) > 15, result
    # An error is read as one; what is read as nothing would be lost on whoever calls.
    assert {kind for status, kind in result.values() if status >= 400} <= {"ErrorResponse"}


READ = """
import json, sys, urllib.request
document = json.load(urllib.request.urlopen(sys.argv[1] + "/openapi.json"))
print(json.dumps([o["operationId"] for p in document["paths"].values() for o in p.values()]))
"""
