"""Install extras into .venv from the lock, honouring what the machine configures for pip."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = "requirements/lock.txt"
# uv reads its own settings only; a machine that configures pip (an index, wheels on disk, a
# certificate) must work with uv as well, so each pip setting is handed on under uv's name.
UV_NAME = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
# Where pip looks, the weakest first, as `pip config list` names it.
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


def uv_environment(settings: dict[str, str], current: dict[str, str]) -> dict[str, str]:
    """Translate pip's settings for uv, never overriding what is set for uv already."""
    translated = {
        UV_NAME[key]: _list(key, value) for key, value in settings.items() if key in UV_NAME
    }
    # pip weighs all its indexes alike; uv would stop at the first that knows a name.
    translated["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {**translated, **current}


def _list(key: str, value: str) -> str:
    words = value.replace("\\n", " ").split()
    return ",".join(words) if key == "find-links" else " ".join(words)


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


def _name(line: str) -> str:
    return re.split("[= ]", line, maxsplit=1)[0]


def main(extras: str) -> int:
    """Install what the extras need (`laptop,extras`), then the project itself on top of it."""
    pip = [".venv/bin/python", "-m", "pip", "config", "list"]
    listing = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    environment = uv_environment(pip_settings(listing), dict(os.environ))  # noqa: TID251
    uv = [".venv/bin/uv", "pip"]
    needs = [*uv, "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", "3.11"]
    needs += [
        "--universal",
        *(f"--extra={each}" for each in extras.split(",")),
        "--constraints",
        LOCK,
        "pyproject.toml",
    ]
    install = [*uv, "install", "--quiet", "--compile-bytecode", "--python", ".venv/bin/python"]
    found = subprocess.run(needs, env=environment, capture_output=True, text=True, check=False)
    if found.returncode:
        sys.stderr.write(found.stderr)
        return found.returncode
    names = {_name(line) for line in found.stdout.splitlines()}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as entries:
        try:
            entries.write(locked(Path(LOCK).read_text(), names))
        except ValueError as error:
            sys.exit(str(error))
        entries.flush()
        for step in (
            [*install, "--require-hashes", "--requirements", entries.name],
            [*install, "--no-deps", "--no-build-isolation", "--editable", "."],
        ):
            if code := subprocess.run(step, env=environment, check=False).returncode:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
