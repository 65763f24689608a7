"""Walk the tutorial and a newcomer's ways to first results in fresh clones.

`python3 -m tests.e2e.first_hour` needs Python alone. For each way it prints the number of actions
and the seconds from the clone on, and for the tutorial whether every command printed the output of
the page.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.pasted_page import pasted

ROOT = Path(__file__).parents[2]
PATIENCE_S, INTERVAL_S = 300, 0.2
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
    """One action of a person: a command, or a file written."""

    command: str
    prints: str = ""
    """A pattern of its output when it is done."""
    stays: bool = False
    """It runs in a terminal of its own until the journey ends."""
    again: bool = False
    """It is repeated until its output matches."""


@dataclass(frozen=True)
class Journey:
    """A way to a result."""

    name: str
    actions: Sequence[JourneyAction]


@dataclass(frozen=True)
class JourneyOutcome:
    """The result of a journey."""

    journey: Journey
    duration_s: float
    stopped_at: str = ""
    """The action that failed; empty where none did."""
    output: str = ""


def journeys(source: Path) -> list[Journey]:
    """Return the ways from a clone of `source` on."""
    clone = JourneyAction(f"git clone -q {source} .")
    setup = JourneyAction("make setup")
    up = JourneyAction("biaswatch up", "dashboard", stays=True)
    write = f"cat > cheers.yaml <<'END'\n{SUITE}END"
    serve = "biaswatch extractors serve examples/exclaims.py"
    to = "OTEL_SERVICE_NAME=support-bot OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:8080"
    model = "OPENAI_BASE_URL=http://localhost:8090/v1 OPENAI_API_KEY=none MODEL=biased"
    question = (
        "curl -sf localhost:9000/ask -H 'Content-Type: application/json' -H 'User: u-1'"
        " -H 'Gender: women' -d '{\"text\": \"Where is my parcel?\"}'"
    )
    install = "python3 -m venv app && app/bin/pip install -q -r examples/fastapi/requirements.txt"
    application = f"cd examples/fastapi && {to} {model} ../../app/bin/uvicorn app:app --port 9000"
    run = "biaswatch run cheers.yaml --target simulator:unbiased"
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
                JourneyAction("biaswatch extractors list", "exclaims", again=True),
                JourneyAction(write),
                JourneyAction(run, "exclamations"),
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
                JourneyAction(application, "Uvicorn running", stays=True),
                JourneyAction(question, "answer"),
                JourneyAction(
                    "biaswatch monitor show support --windows 5", "1 waiting", again=True
                ),
            ],
        ),
    ]


def walked(
    journey: Journey,
    folder: Path,
    environment: Mapping[str, str],
    report: Callable[[str], None] = print,
) -> JourneyOutcome:
    """Do the actions of a journey in an empty folder; end the processes that stay with it."""
    start = time.monotonic()
    with ExitStack() as processes:
        for number, action in enumerate(journey.actions, 1):
            report(f"  {number}. {action.command.splitlines()[0]}")
            done, output = _done(action, folder, environment, processes)
            if not done:
                return JourneyOutcome(journey, time.monotonic() - start, action.command, output)
        return JourneyOutcome(journey, time.monotonic() - start)


def _done(
    action: JourneyAction, folder: Path, environment: Mapping[str, str], processes: ExitStack
) -> tuple[bool, str]:
    """Do one action; return whether it succeeded, and its output."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        out = processes.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
        file = Path(out.name)
        process = subprocess.Popen(
            ["bash", "-c", f"exec 2>&1; {action.command}"],
            cwd=folder, env=environment, stdout=out, stderr=out, process_group=0,
        )  # fmt: skip
        processes.callback(_end, process)
        if action.stays:
            while not re.search(action.prints, _text(file)):
                if process.poll() is not None or time.monotonic() > deadline:
                    return False, _text(file)
                time.sleep(INTERVAL_S)
            return True, _text(file)
        failed = process.wait(PATIENCE_S)
        if not failed and re.search(action.prints, _text(file)):
            return True, _text(file)
        if not action.again or time.monotonic() > deadline:
            return False, _text(file)
        time.sleep(INTERVAL_S)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def environment_of(clone: Path, state: Path) -> dict[str, str]:
    """Return this environment with the commands of a clone in its path."""
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "BIASWATCH_STATE_DIR": str(state), "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **own}


def walk_ways() -> int:
    """Walk every way in a clone of its own; return how many stopped early."""
    stopped = 0
    for journey in journeys(ROOT):
        print(f"{journey.name}:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            clone, state = Path(folder) / "biaswatch", Path(folder) / "state"
            clone.mkdir()
            outcome = walked(journey, clone, environment_of(clone, state))
        if outcome.stopped_at:
            stopped += 1
            print(f"  STOPPED at: {outcome.stopped_at}\n{outcome.output}")
        else:
            print(f"  done: {len(journey.actions)} actions, {outcome.duration_s:.0f} s", flush=True)
    return stopped


def walk_tutorial() -> int:
    """Paste the tutorial after `make demo`, as README says; return how many steps differ."""
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        clone, state = Path(folder) / "biaswatch", Path(folder) / "state"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        environment = environment_of(clone, state)
        subprocess.run(
            ["make", "demo"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL
        )
        print("tutorial:")
        for outcome in pasted(clone / "docs" / "tutorial.md", clone, environment):
            print(f"  {'matches' if outcome.matches else 'DIFFERS'}  {outcome.step.command}")
            if not outcome.matches:
                different += 1
                print(f"{outcome.stdout}{outcome.stderr}")
    return different


if __name__ == "__main__":
    try:
        sys.exit(bool(walk_ways() + walk_tutorial()))
    except KeyboardInterrupt:
        sys.exit("Interrupted; the processes that were started have been ended.")
