"""Write a CycloneDX document with the packages of each image, from the lock."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.install import LOCK, locked

ROOT = Path(__file__).parents[1]
INTO = ROOT / "build" / "sbom"
EXTRA_NAMES = {"notifier": ["channels"]}
"""More extras than its own and `telemetry`, as in deploy/image/install."""


def packages_of(service: str) -> set[str]:
    """Return the names of the packages in a service's image."""
    command = [".venv/bin/uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--universal", "--python-version", "3.11", "--constraints", LOCK]
    for extra in (service, "telemetry", *EXTRA_NAMES.get(service, ())):
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
    """Write and list the documents of all services."""
    INTO.mkdir(parents=True, exist_ok=True)
    for folder in sorted((ROOT / "services").glob("*/app.py")):
        path = write(folder.parent.name, Path(tool))
        print(path.relative_to(ROOT), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
