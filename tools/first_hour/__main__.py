"""Walk the tutorial and the ways to first results in fresh clones; needs Python alone.

`python3 -m tools.first_hour` prints, for each way, how many actions and seconds it took from the
clone on, and for the tutorial whether every command printed what the page says.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.first_hour.journeys import journeys, walked
from tools.first_hour.pasted_page import pasted

ROOT = Path(__file__).parents[2]


def environment_of(clone: Path, state: Path) -> dict[str, str]:
    """Return what a person has who put the clone's commands into the path."""
    there = dict(os.environ)  # noqa: TID251 - handed on to the commands
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{there['PATH']}"
    return {**there, "PATH": path, "BIASWATCH_STATE_DIR": str(state), "PYTHONUNBUFFERED": "1"}


def walk_ways() -> int:
    """Walk every way in a clone of its own; return how many ended early."""
    stopped = 0
    for journey in journeys(ROOT):
        print(f"{journey.name}:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            clone, state = Path(folder) / "biaswatch", Path(folder) / "state"
            clone.mkdir()
            outcome = walked(journey, clone, environment_of(clone, state))
        if outcome.stopped_at:
            stopped += 1
            print(f"  STOPPED at: {outcome.stopped_at}\n{outcome.printed}")
        else:
            print(
                f"  there after {len(journey.actions)} actions, {outcome.took_s:.0f} s", flush=True
            )
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
            print(f"  {'as said' if outcome.as_said else 'DIFFERS'}  {outcome.step.command}")
            if not outcome.as_said:
                different += 1
                print(f"{outcome.printed}{outcome.complaints}")
    return different


if __name__ == "__main__":
    try:
        sys.exit(bool(walk_ways() + walk_tutorial()))
    except KeyboardInterrupt:
        sys.exit("Stopped before the end; what was started has been ended.")
