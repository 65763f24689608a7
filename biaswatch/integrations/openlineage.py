"""Export a run as events of OpenLineage: suite as input, answers and findings as outputs."""

import json
from collections import Counter
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from biaswatch.integrations.formats import ExportRequest
from biaswatch.local.runs import RunResults, run_results, whole_run_id, with_background
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.requests.run_views import RunState
from biaswatch.written_files import check_ending, write_atomically

NAMESPACE = "biaswatch"
SPEC = "https://openlineage.io/spec"
SCHEMA = f"{SPEC}/2-0-2/OpenLineage.json#/definitions/RunEvent"
FACET = f"{SPEC}/2-0-2/OpenLineage.json#/definitions/RunFacet"
VERSION_FACET = f"{SPEC}/facets/1-0-1/DatasetVersionDatasetFacet.json"
ENDINGS = {RunState.COMPLETE: "COMPLETE", RunState.INCOMPLETE: "FAIL", RunState.CANCELLED: "ABORT"}
"""Types of the last event of a run."""


async def export(request: ExportRequest) -> str:
    """Write the events of a run, one a line."""
    output = Path(request.destination)
    check_ending(output, (".jsonl", ".json", ".ndjson"))
    async with request.connect() as client:
        run_id = await whole_run_id(client, request.source)
        results = await with_background(client, await run_results(client, run_id))
    events = run_events(results)
    write_atomically(output, "".join(json.dumps(event) + "\n" for event in events))
    return f"Wrote {len(events)} events to {output}."


def run_events(results: RunResults) -> list[dict[str, Any]]:
    """Return the event of a run's beginning, and that of its end once it has ended.

    Raises
    ------
    UsageError
        The run's provenance is unknown.
    """
    provenance, state = results.provenance, results.run.state
    if provenance is None:
        raise UsageError("The provenance of the run is unknown.")
    start = _event(results, "START", provenance.begun)
    if state not in ENDINGS:
        return [start]
    verdicts = Counter(
        row.diagnosis.summary(row.gap).value for row in comparisons(results.diagnoses)
    )
    end = _event(results, ENDINGS[state], provenance.concluded or results.run.at)
    end["run"]["facets"] = {
        "biaswatch_findings": {
            **_facet(FACET),
            "state": state.value,
            "answers": results.run.responses,
            "comparisons": verdicts.total(),
            "verdicts": dict(sorted(verdicts.items())),
            "models": [model.model_dump() for model in provenance.models],
            "instruments": [row.model_dump() for row in provenance.instruments],
        }
    }
    end["outputs"] = [
        {"namespace": NAMESPACE, "name": f"runs/{results.run.run_id}/{name}"}
        for name in ("answers", "findings")
    ]
    return [start, end]


def _event(results: RunResults, kind: str, at: datetime) -> dict[str, Any]:
    run = results.run
    suite_hash = results.provenance.suite_hash if results.provenance else None
    suite: dict[str, Any] = {"namespace": NAMESPACE, "name": f"suites/{run.suite}"}
    if suite_hash:
        suite["facets"] = {"version": {**_facet(VERSION_FACET), "datasetVersion": suite_hash}}
    return {
        "eventType": kind,
        "eventTime": at.isoformat(),
        "producer": _producer(),
        "schemaURL": SCHEMA,
        "run": {"runId": str(UUID(hex=run.run_id))},
        "job": {"namespace": NAMESPACE, "name": run.suite},
        "inputs": [suite],
    }


def _facet(schema: str) -> dict[str, Any]:
    return {"_producer": _producer(), "_schemaURL": schema}


def _producer() -> str:
    return f"urn:biaswatch:{version('biaswatch')}"
