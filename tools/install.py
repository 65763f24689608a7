"""Install one compiled lock into .venv, honouring what the machine configures for pip."""

import os
import subprocess
import sys
from pathlib import Path

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


def main(lock: str) -> int:
    """Install the lock, then the project itself on top of it."""
    pip = [".venv/bin/python", "-m", "pip", "config", "list"]
    listing = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    environment = uv_environment(pip_settings(listing), dict(os.environ))  # noqa: TID251
    install = [".venv/bin/uv", "pip", "install", "--quiet", "--compile-bytecode"]
    install += ["--python", ".venv/bin/python"]
    for step in (
        [*install, "--require-hashes", "--requirements", lock],
        [*install, "--no-deps", "--no-build-isolation", "--editable", "."],
    ):
        if code := subprocess.run(step, env=environment, check=False).returncode:
            return code
    Path(".venv/.lock").write_text(lock)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
