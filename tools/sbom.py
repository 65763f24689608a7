"""Write what is in each service's image, as a CycloneDX document, from the lock."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.install import locked
else:  # as a script, this finds its neighbour by its bare name
    from install import locked

ROOT = Path(__file__).parents[1]
INTO = ROOT / "build" / "sbom"
LOCK = "requirements/lock.txt"
MORE = {"diagnoser": ["channels"]}
"""Extras of an image beside its own and `telemetry`; deploy/image/install has the same."""


def packages_of(service: str) -> set[str]:
    """Return the names of the distributions that a service's image has installed."""
    command = [".venv/bin/uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--universal", "--python-version", "3.11", "--constraints", LOCK]
    for extra in (service, "telemetry", *MORE.get(service, ())):
        command += ["--extra", extra]
    done = subprocess.run(
        [*command, "pyproject.toml"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line.split("==")[0].split(" ")[0] for line in done.stdout.splitlines() if "==" in line}


def write(service: str, tool: Path) -> Path:
    """Write the document of one service."""
    path = INTO / f"biaswatch-{service}.cdx.json"
    entries = locked((ROOT / LOCK).read_text(), packages_of(service))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(entries)
        file.flush()
        words = [str(tool), "requirements", file.name, "--pyproject", "pyproject.toml"]
        words += ["--output-reproducible", "--output-format", "JSON", "--output-file", str(path)]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return path


def main(tool: str) -> int:
    """Write the documents of all services; say where."""
    INTO.mkdir(parents=True, exist_ok=True)
    for folder in sorted((ROOT / "services").glob("*/app.py")):
        path = write(folder.parent.name, Path(tool))
        print(path.relative_to(ROOT), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
