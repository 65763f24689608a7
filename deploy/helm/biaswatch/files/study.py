"""A study on the simulated model through the gateway: it ends, and finds the bias planted there."""

import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE_S, LOOK_S = 300, 2
UNDER_WAY = {"running", "diagnosing", "judging"}


def main(gateway: str, suite: str, token: str) -> str:
    """Run the study; return what it found, or end with a sentence."""
    headers = {"Content-Type": "application/json"}
    if Path(token).exists():
        headers["Authorization"] = f"Bearer {Path(token).read_text().strip()}"

    def ask(path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(gateway + path, data, headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
            return json.load(reply)

    deadline = time.monotonic() + PATIENCE_S
    kept = ask("/v1/suites", json.loads(Path(suite).read_text()))["hash"]
    asked = {"suite_hash": kept, "targets": ["simulator:biased"], "repeats": 4}
    run = ask("/v1/runs", asked | {"nonce": str(time.time_ns())})["run"]["id"]
    while (progress := ask(f"/v1/runs/{run}"))["state"] in UNDER_WAY:
        if time.monotonic() > deadline:
            sys.exit(f"The run {run} has not ended within {PATIENCE_S} s: {progress}")
        time.sleep(LOOK_S)
    if progress["state"] != "complete":
        sys.exit(f"The run {run} ended as {progress['state']}: {progress}")
    diagnoses = ask(f"/v1/runs/{run}/diagnoses")
    found = [gap for each in diagnoses for gap in each["gaps"] if gap["verdict"] == "disparity"]
    if not found:
        sys.exit(f"The run {run} is complete and did not find the bias that is planted.")
    return f"The run {run} asked {progress['probes']} questions; disparities: {len(found)}."


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:4]) + "\n")
