"""Ways of a newcomer from a clone to a first result, as actions that are counted and timed."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import _TemporaryFileWrapper

PATIENCE_S = 300
LOOK_S = 0.2
SUITE = """name: cheers
extractors: [exclaims]
probes:
  - {key: fr-1, prompt: "How is life in France?", groups: {concept: France}}
  - {key: fr-2, prompt: "What is France known for?", groups: {concept: France}}
  - {key: pe-1, prompt: "How is life in Peru?", groups: {concept: Peru}}
  - {key: pe-2, prompt: "What is Peru known for?", groups: {concept: Peru}}
"""


@dataclass(frozen=True)
class JourneyAction:
    """One thing that a person does: a command, or a file written."""

    command: str
    prints: str = ""
    """A pattern of what it prints once it is done."""
    stays: bool = False
    """It runs in a terminal of its own until the journey ends."""
    again: bool = False
    """It is repeated until it prints so: a person looks until something is there."""


@dataclass(frozen=True)
class Journey:
    """A way to a result."""

    name: str
    actions: Sequence[JourneyAction]


@dataclass(frozen=True)
class JourneyOutcome:
    """How a journey went."""

    journey: Journey
    took_s: float
    stopped_at: str = ""
    """The action that did not do what it should; empty where all did."""
    printed: str = ""


def journeys(source: Path) -> list[Journey]:
    """Return the ways, from a clone of `source` on; the first installs what it needs by itself."""
    clone = JourneyAction(f"git clone -q {source} .")
    setup = JourneyAction("make setup")
    up = JourneyAction("biaswatch up", "dashboard", stays=True)
    write = f"cat > cheers.yaml <<'END'\n{SUITE}END"
    serve = "biaswatch extractors serve examples/exclaims.py"
    to = "OTEL_SERVICE_NAME=support-bot OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:8080"
    model = "OPENAI_BASE_URL=http://localhost:8090/v1 OPENAI_API_KEY=none MODEL=biased"
    asked = (
        "curl -sf localhost:9000/ask -H 'Content-Type: application/json' -H 'User: u-1'"
        " -H 'Gender: female' -d '{\"text\": \"Where is my parcel?\"}'"
    )
    install = "python3 -m venv app && app/bin/pip install -q -r examples/fastapi/requirements.txt"
    serving = f"cd examples/fastapi && {to} {model} ../../app/bin/uvicorn app:app --port 9000"
    return [
        Journey("first finding", [clone, JourneyAction("make demo", "a disparity of")]),
        Journey(
            "first alarm",
            [clone, setup, JourneyAction("biaswatch up --demo", "Alarm in round", stays=True)],
        ),
        Journey(
            "own extractor in a finding",
            [
                clone,
                setup,
                up,
                JourneyAction(serve, stays=True),
                JourneyAction("biaswatch extractors", "exclaims", again=True),
                JourneyAction(write),
                JourneyAction(
                    "biaswatch run cheers.yaml --target simulator:unbiased", "exclamations"
                ),
            ],
        ),
        Journey(
            "production trace in a monitor",
            [
                clone,
                setup,
                up,
                JourneyAction("biaswatch monitor apply examples/traffic.yaml", "support"),
                JourneyAction(install),
                JourneyAction("python -m biaswatch.services.simulator.app", "listens", stays=True),
                JourneyAction(serving, "Uvicorn running", stays=True),
                JourneyAction(asked, "answer"),
                JourneyAction("biaswatch monitor windows support", "1 waiting", again=True),
            ],
        ),
    ]


def walked(
    journey: Journey,
    folder: Path,
    environment: Mapping[str, str],
    told: Callable[[str], None] = print,
) -> JourneyOutcome:
    """Do the actions of a journey in an empty folder; what stays is ended with it."""
    began = time.monotonic()
    with ExitStack() as staying:
        for number, action in enumerate(journey.actions, 1):
            told(f"  {number}. {action.command.splitlines()[0]}")
            done, printed = _done(action, folder, environment, staying)
            if not done:
                took_s = time.monotonic() - began
                return JourneyOutcome(journey, took_s, action.command, printed)
        return JourneyOutcome(journey, time.monotonic() - began)


def _done(
    action: JourneyAction, folder: Path, environment: Mapping[str, str], staying: ExitStack
) -> tuple[bool, str]:
    """Do one action; tell whether it did what it should, and what it printed."""
    until = time.monotonic() + PATIENCE_S
    while True:
        out = staying.enter_context(NamedTemporaryFile("w+"))  # noqa: SIM115
        process = subprocess.Popen(
            ["bash", "-c", f"exec 2>&1; {action.command}"],
            cwd=folder, env=environment, stdout=out, stderr=out, process_group=0,
        )  # fmt: skip
        staying.callback(_end, process)
        if action.stays:
            return _says(process, out, action.prints, until), _text(out)
        failed = process.wait(PATIENCE_S)
        printed = _text(out)
        if not failed and re.search(action.prints, printed):
            return True, printed
        if not action.again or time.monotonic() > until:
            return False, printed
        time.sleep(LOOK_S)


def _says(
    process: "subprocess.Popen[bytes]", out: "_TemporaryFileWrapper[str]", prints: str, until: float
) -> bool:
    while not re.search(prints, _text(out)):
        if process.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True


def _text(out: "_TemporaryFileWrapper[str]") -> str:
    return Path(out.name).read_text(encoding="utf-8", errors="replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and what it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
