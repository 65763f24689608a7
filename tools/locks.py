"""Compile requirements/<extra>.txt for every extra, with hashes and without addresses."""

import subprocess
import sys
import tomllib
from pathlib import Path

UV = ".venv/bin/uv"
# Compiled first: every other lock is held to its versions, so the images run what the tests ran.
WIDEST = "dev"
# Resolved on its own, because torch constrains packages the rest need not wait for.
ALONE = {"models"}


def compile_lock(extra: str) -> None:
    """Write one lock; keep the versions it already pins unless uv is told to upgrade."""
    constraint = [] if extra in {WIDEST, *ALONE} else ["--constraint", f"requirements/{WIDEST}.txt"]
    command = [
        UV, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header",
        "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--python-version", "3.11",
        "--extra", extra, *constraint, "pyproject.toml", *sys.argv[1:],
        "--output-file", f"requirements/{extra}.txt",
    ]  # fmt: skip
    subprocess.run(command, check=True)


def main() -> None:
    """Compile the widest lock, then the others in its bounds."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    extras = sorted(project["optional-dependencies"], key=lambda name: name != WIDEST)
    for extra in extras:
        print(f"requirements/{extra}.txt", flush=True)
        compile_lock(extra)


if __name__ == "__main__":
    main()
