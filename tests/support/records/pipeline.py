"""Makers of what a run is made of: its plan, probes, answers, measurements, its end."""

from datetime import UTC, datetime
from typing import Any

from biaswatch.shared.contracts import (
    Cancellation,
    ClosedBy,
    Completion,
    Ending,
    ExtractorPin,
    Features,
    Message,
    Probe,
    Response,
    Role,
    Run,
    Target,
    Usage,
)

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RUN_ID = "0" * 32


def make_target(**fields: Any) -> Target:
    """Make a target that is asked through recorded answers."""
    return Target(**{"name": "replay:answers", "provider": "replay", "model": "answers", **fields})


def make_run(**fields: Any) -> Run:
    """Make a small run."""
    given = {
        "at": AT,
        "suite": "countries",
        "suite_hash": "a" * 32,
        "targets": (make_target(),),
        "extractors": (ExtractorPin(name="words", version="1"),),
    }
    return Run(**{**given, **fields})


def make_probe(number: int = 0, **fields: Any) -> Probe:
    """Make the probe with this number; another number makes another id."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "key": f"probe-{number}",
        "target": make_target(),
        "messages": (Message(role=Role.USER, content=f"Question {number}: how is the coast?"),),
        "groups": {"concept": "France" if number % 2 else "Peru"},
        "set_id": f"set-{number // 2}",
        "unit_id": f"prompt-{number}",
        "baseline": f"The coast of {number} is long.",
    }
    return Probe(**{**given, **fields})


def make_response(number: int = 0, **fields: Any) -> Response:
    """Make the answer to the probe with this number."""
    given = {
        "at": AT,
        "probe": make_probe(number),
        "ending": Ending.ANSWERED,
        "text": f"Answer {number}: it is long and quiet.",
        "model": "answers-1",
        "finish_reason": "stop",
        "usage": Usage(prompt_tokens=12, completion_tokens=9, latency_s=0.25),
    }
    return Response(**{**given, **fields})


def make_features(number: int = 0, **fields: Any) -> Features:
    """Make one extractor's measurement of the response with this number."""
    response = make_response(number)
    given = {
        "at": AT,
        "run_id": response.probe.run_id,
        "probe_id": response.probe.id,
        "response_id": response.id,
        "unit_id": response.probe.unit_id,
        "extractor": "words",
        "extractor_version": "1",
        "values": {"words": 7.0, "per_sentence": None},
        "baseline": {"words": 6.0, "per_sentence": 6.0},
    }
    return Features(**{**given, **fields})


def make_completion(**fields: Any) -> Completion:
    """Make the end of a run's waiting for its responses."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "stage": "responses",
        "closed_by": ClosedBy.ARRIVAL,
        "expected": 2,
        "arrived": 2,
    }
    return Completion(**{**given, **fields})


def make_cancellation(**fields: Any) -> Cancellation:
    """Make the end of a run before its time."""
    return Cancellation(**{"at": AT, "run_id": RUN_ID, "moment_ms": 1_767_323_045_000, **fields})
